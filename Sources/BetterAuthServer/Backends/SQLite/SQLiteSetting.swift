internal import BetterAuthMessages

/// What the table of settings has under a name.
enum SQLiteSetting: String {
    /// The mark of the keys that the accounts belong to.
    case keys = "keys"
    /// When it was last proven that the file can be written.
    case probe = "probe"

    var name: SQLiteStatement.Value { .bytes(Array(rawValue.utf8)) }

    func read(_ connection: SQLiteConnection) throws(StoreError) -> [UInt8]? {
        try connection.prepare("SELECT value FROM settings WHERE name = CAST(? AS TEXT)").first(name) { $0.bytes(0) }
    }

    func write(_ value: [UInt8], _ connection: SQLiteConnection) throws(StoreError) {
        try connection.prepare(
            "INSERT INTO settings VALUES (CAST(? AS TEXT), ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        ).run(name, .bytes(value))
    }

    /// The mark of the keys.
    static func mark(_ connection: SQLiteConnection) throws(StoreError) -> KeyMark? {
        guard let bytes = try SQLiteSetting.keys.read(connection) else { return nil }
        guard let mark = KeyMark(bytes) else { throw .damaged }
        return mark
    }
}
