internal import SystemCalls

/// What a folder is and has.
enum Folder {
    /// The names in a folder; none where it cannot be read.
    static func names(_ path: String) -> [String] { content(path).names }

    /// The names in a folder, and how many others are not UTF-8, but for hidden ones; none where it cannot be read.
    static func content(_ path: String) -> (names: [String], others: Int) {
        guard let folder = unsafe opendir(path) else { return ([], 0) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        var others = 0
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(validatingCString: $0) }
            }
            switch name {
            case ".", "..": break
            case let name?: names.append(name)
            case nil: if unsafe entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { others += 1 }
            }
        }
        return (names, others)
    }

    /// Whether a folder of this user's is in a file system that is only in memory, by the list of what is mounted.
    static func isInMemory(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0, unsafe access(path, W_OK | X_OK) == 0,
            let mounts = text("/proc/self/mountinfo")
        else { return false }
        let number = UInt64(status.st_dev)
        let device = "\(number >> 8 & 0xFFF | number >> 32 & ~0xFFF):\(number & 0xFF | number >> 12 & 0xFFFF_FF00)"
        return mounts.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            guard fields.count > 6, fields[2] == device, let end = fields.firstIndex(of: "-") else { return false }
            return end + 1 < fields.count && ["tmpfs", "ramfs"].contains(fields[end + 1])
        }
    }

    private static func text(_ path: String) -> String? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let got = unsafe fread(&piece, 1, piece.count, file)
            if got == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<got]
        }
    }
}
