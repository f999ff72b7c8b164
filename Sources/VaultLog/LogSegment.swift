internal import VaultFormat
internal import VaultStorage
internal import SystemCalls

/// The files of the log's entries.
package enum LogSegment {
    /// The segment that is written.
    package static let name = "log"
    /// The one before it.
    package static let previousName = "log.old"
    /// One that is just being begun.
    package static let newName = "log.new"
    /// What a segment may have on disk; more is not ours.
    static let largestFile = 2 << 20

    /// The front of an open segment; nil when it is not one of ours.
    static func front(of file: borrowing DurableFile) throws(VaultError) -> LogFront? {
        front(of: try file.read(LogFormat.slotSize, at: 0))
    }

    static func front(of bytes: [UInt8]) -> LogFront? {
        try? LogFront(parsing: Array(bytes.prefix(LogFormat.slotSize)), checksum: FileChecksum.of)
    }

    /// A segment's bytes; nil when it is not there.
    static func bytes(_ name: String, in home: HomeDirectory) throws(VaultError) -> [UInt8]? {
        guard let file = try home.openFile(name, O_RDONLY) else { return nil }
        return try file.read(Int(min(file.status().size, UInt64(largestFile))), at: 0)
    }

    /// Writes a new segment with its first entry and puts it in the place of the present one, which becomes the
    /// previous.
    ///
    /// A kill leaves the present one, or none and the whole new one beside it (taken up by ``resume(in:)``), or the
    /// new.
    static func replace(in home: HomeDirectory, front: LogFront, slot: [UInt8]) throws(VaultError) {
        try prepare(in: home, front: front, slot: slot)
        try putInPlace(in: home)
    }

    /// Writes a new segment with its first entry beside the present one, durably.
    static func prepare(in home: HomeDirectory, front: LogFront, slot: [UInt8]) throws(VaultError) {
        guard let file = try home.openFile(newName, O_RDWR | O_CREAT | O_TRUNC) else {
            throw .damaged("\(newName) cannot be created")
        }
        try file.write(front.encoded(checksum: FileChecksum.of) + slot, at: 0)
        try file.synchronize()
        try home.synchronize()
    }

    /// Puts what was prepared in the place of the present segment, which becomes the previous.
    static func putInPlace(in home: HomeDirectory) throws(VaultError) {
        if home.exists(name) {
            // A planted folder must not prevent the log from continuing.
            if case .folder = try home.kind(of: previousName) { try home.clear(previousName) }
            try home.rename(name, to: previousName)
        }
        try home.rename(newName, to: name)
        try home.synchronize()
    }

    /// Ends a replacement that was cut short: between its two renames, or before them, when the state is already that
    /// of the segment that was prepared.
    static func resume(in home: HomeDirectory, for state: LogState) throws(VaultError) {
        guard home.exists(newName) else { return }
        guard home.exists(name) else { return try putInPlace(in: home) }
        func isOurs(_ name: String) throws(VaultError) -> Bool {
            guard let file = try openOrNil(name, in: home), let front = try front(of: file) else { return false }
            return front.vault == state.vault && front.chain == state.chain && front.first == state.first
        }
        if try isOurs(newName), try !isOurs(name) { try putInPlace(in: home) }
    }

    /// What is no file of its own counts as absent.
    private static func openOrNil(_ name: String, in home: HomeDirectory) throws(VaultError) -> DurableFile? {
        do throws(VaultError) {
            return try home.openFile(name, O_RDONLY)
        } catch let error where error.code == .damaged || error.code == .hardLinked { return nil }
    }
}
