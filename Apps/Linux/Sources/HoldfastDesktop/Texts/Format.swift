import CAdw

/// Numbers, sizes and times as this user writes them.
enum Format {
    static func size(_ bytes: UInt64) -> String {
        let text = g_format_size(guint64(bytes))!
        defer { g_free(text) }
        return String(cString: text)
    }

    /// - Parameter milliseconds: Since 1970.
    static func time(milliseconds: Int64) -> String {
        guard let time = g_date_time_new_from_unix_local(gint64(milliseconds / 1000)) else { return "" }
        defer { g_date_time_unref(time) }
        guard let text = g_date_time_format(time, "%x %R") else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
