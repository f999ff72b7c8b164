internal import SyncFormat
internal import SystemCalls

/// The names in a folder, and what the system says at once of what they stand for.
enum FolderNames {
    struct Entry {
        let name: [UInt8]
        let kind: Kind
    }

    enum Kind {
        case file
        case folder
        /// A link, a pipe, a socket, a device.
        case special
        /// File systems do not always say; whoever opens it sees.
        case unknown
    }

    /// All names but the two dots, in no order.
    /// - Parameter folder: An open descriptor, which is closed here.
    /// - Throws: `tooManyFiles`, and what the system says.
    static func read(
        closing folder: Int32, of place: String, limit: Int = RoadLimits.names
    ) throws(RoadError) -> [Entry] {
        guard let stream = unsafe fdopendir(folder) else {
            let error = SystemError.last
            close(folder)
            throw RoadError(error, place)
        }
        defer { unsafe closedir(stream) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                if errno == EINTR { continue }
                // A folder that was removed while it was read has no names.
                guard errno == 0 || errno == ENOENT else { throw RoadError(.last, place) }
                return entries
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe [UInt8](bytes.prefix { $0 != 0 })
            }
            if name == [dot] || name == [dot, dot] { continue }
            guard entries.count < limit else { throw .tooManyFiles(place, limit: limit) }
            entries.append(Entry(name: name, kind: unsafe kind(entry.pointee.d_type)))
        }
    }

    private static let dot = UInt8(ascii: ".")

    private static func kind(_ type: UInt8) -> Kind {
        switch Int(type) {
        case Int(DT_REG): .file
        case Int(DT_DIR): .folder
        case Int(DT_UNKNOWN): .unknown
        default: .special
        }
    }
}
