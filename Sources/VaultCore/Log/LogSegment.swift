internal import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The files of the log's entries.
enum LogSegment {
    /// The segment that is written.
    static let name = "log"
    /// The one before it.
    static let previousName = "log.old"
    /// One that is just being begun.
    static let newName = "log.new"
    /// What a segment may have on disk; more is not ours.
    static let largestFile = 2 << 20

    /// The front of an open segment; nil when it is not one of ours.
    static func front(of file: borrowing DurableFile) throws(VaultError) -> LogFront? {
        front(of: try file.read(LogFormat.slotSize, at: 0))
    }

    static func front(of bytes: [UInt8]) -> LogFront? {
        try? LogFront(parsing: Array(bytes.prefix(LogFormat.slotSize)), checksum: HeaderFile.checksum)
    }

    /// A segment's bytes; nil when it is not there.
    static func bytes(_ name: String, in home: HomeDirectory) throws(VaultError) -> [UInt8]? {
        guard let file = try home.openFile(name, O_RDONLY) else { return nil }
        return try file.read(Int(min(file.status().size, UInt64(largestFile))), at: 0)
    }

    /// Writes a new segment with its first entry and puts it in the place of the present one, which becomes the previous.
    ///
    /// A kill leaves the present one, or none and the whole new one beside it (taken up by ``takeUp(in:)``), or the new.
    static func replace(in home: HomeDirectory, front: LogFront, slot: [UInt8]) throws(VaultError) {
        guard let file = try home.openFile(newName, O_RDWR | O_CREAT | O_TRUNC) else {
            throw .damaged("\(newName) cannot be created")
        }
        try file.write(front.encoded(checksum: HeaderFile.checksum) + slot, at: 0)
        try file.synchronize()
        if home.exists(name) { try home.rename(name, to: previousName) }
        try home.rename(newName, to: name)
        try home.synchronize()
    }

    /// Ends a replacement that was cut short between its two renames.
    static func takeUp(in home: HomeDirectory) throws(VaultError) {
        guard !home.exists(name), home.exists(newName) else { return }
        try home.rename(newName, to: name)
        try home.synchronize()
    }
}
