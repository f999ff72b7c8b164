internal import Cryptography
package import SyncFormat
internal import SystemCalls

/// A file that a writer may write: of its own stream, or a message that no stream has.
package enum OwnFile: Sendable, Hashable {
    case entry(EntryFileName)
    case piece(PieceFileName)
    case roster(RosterFileName)
    case join(JoinFileName)

    func file(of stream: StreamID) -> RoadFile {
        switch self {
        case .entry(let name): .entry(stream, name)
        case .piece(let name): .piece(stream, name)
        case .roster(let name): .roster(name)
        case .join(let name): .join(name)
        }
    }
}

/// Writes files of one stream to a road. A file is there whole or not at all, and durable when a call returns; nobody
/// else's files are changed or removed.
///
/// Killed anywhere it leaves at most a `.part-` file, which ``removeOldParts(now:)`` takes away; the same call again
/// does what is left to do.
package struct RoadWriter: Sendable {
    private let road: FolderRoad
    private let stream: StreamID
    private let ways: [NewNameWay]

    /// - Parameter ways: How files get their names, in this order; tests choose.
    package init(_ road: FolderRoad, of stream: StreamID, ways: [NewNameWay] = NewNameWay.allCases) {
        self.road = road
        self.stream = stream
        self.ways = ways
    }

    /// Writes files that are not there yet, in this order, and flushes their folders at the end.
    /// - Returns: For each what was found or done. Bytes that differ are not touched.
    /// - Throws: `wrongBytes`, `gone`, `diskFull` and what else the system says. Files before that may be there.
    package func write(_ files: [(file: OwnFile, bytes: [UInt8])]) throws(RoadError) -> [RoadWritten] {
        for (own, bytes) in files { try RoadWriter.check(own.file(of: stream), bytes) }
        try road.checkIsThere()
        var result: [RoadWritten] = []
        var folders = WrittenFolders()
        for (own, bytes) in files {
            result.append(try folders.target(own.file(of: stream), in: road, stream, ways).put(bytes))
        }
        try folders.flush()
        return result
    }

    /// As ``write(_:)``, for one.
    package func write(_ file: OwnFile, _ bytes: [UInt8]) throws(RoadError) -> RoadWritten {
        try write([(file, bytes)]).first ?? .written
    }

    /// Writes a file of this stream in place of what somebody else made of it.
    /// - Throws: `occupied` where a folder has the name, and as ``write(_:)``.
    package func repair(_ own: OwnFile, _ bytes: [UInt8]) throws(RoadError) {
        let file = own.file(of: stream)
        try RoadWriter.check(file, bytes)
        try road.checkIsThere()
        var folders = WrittenFolders()
        try folders.target(file, in: road, stream, ways).replace(with: bytes)
        try folders.flush()
    }

    /// Removes files durably; one that is gone already counts as removed.
    /// - Returns: Those that could not be: a folder has their name.
    package func remove(_ files: [OwnFile]) throws(RoadError) -> [OwnFile] {
        try road.checkIsThere()
        var left: [OwnFile] = []
        var folders = WrittenFolders()
        for own in files {
            let file = own.file(of: stream)
            guard let folder = try folders.existing(file.folder, in: road) else { continue }
            guard unsafe unlinkat(folder, file.name, 0) != 0 else { continue }
            let error = SystemError.last
            if error.number == ENOENT { continue }
            guard try RoadWriter.isFolder(folder, file) else { throw RoadError(error, file.path) }
            left.append(own)
        }
        try folders.flush()
        return left
    }

    /// Removes the `.part-` files that a killed writer of this stream left more than a day ago. They are known by their
    /// folder, in which nobody else writes.
    /// - Parameter now: Milliseconds since 1970. A clock that is wrong takes at worst a file that is being written,
    ///   whose writer then fails and repeats.
    /// - Returns: How many.
    package func removeOldParts(now: Int64 = WallClock.milliseconds) throws(RoadError) -> Int {
        var count = 0
        for place in [RoadFolder.entries(stream), .piecesOf(stream)] {
            guard let folder = try road.openedFolder(place), let names = try road.openedNumber(place) else { continue }
            for entry in try FolderNames.read(closing: names, of: place.path) where RoadPart.isName(entry.name) {
                let name = String(decoding: entry.name, as: UTF8.self)
                guard let mark = FileMark(of: name, in: folder.number), mark.isRegular,
                    now - mark.changed / 1_000_000 > RoadWriter.longestWrite
                else { continue }
                if unsafe unlinkat(folder.number, name, 0) == 0 { count += 1 }
            }
        }
        return count
    }

    /// Milliseconds after which a file is not being written any more.
    private static let longestWrite: Int64 = 24 * 3600 * 1000

    /// A name that is not the bytes' own would never be read by anyone.
    fileprivate static func check(_ file: RoadFile, _ bytes: [UInt8]) throws(RoadError) {
        guard file.canHave(size: bytes.count), FolderRoad.isWhole(bytes, file) else { throw .wrongBytes(file.path) }
    }

    private static func isFolder(_ folder: Int32, _ file: RoadFile) throws(RoadError) -> Bool {
        var status = stat()
        guard unsafe fstatat(folder, file.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR
    }
}

extension FolderRoad {
    /// Writes a message of a device that joins and has no stream yet, durably.
    /// - Returns: As ``RoadWriter/write(_:_:)``.
    package func write(_ name: JoinFileName, _ bytes: [UInt8]) throws(RoadError) -> RoadWritten {
        let file = RoadFile.join(name)
        try RoadWriter.check(file, bytes)
        try checkIsThere()
        let folder = try madeFolder(.joins)
        let target = FolderFile(folder.number, file.name, place: file.path, ways: NewNameWay.allCases)
        let result = try target.put(bytes)
        try folder.flushNames(RoadFolder.joins.path)
        return result
    }
}

/// The folders that a call writes in, each opened once and flushed once.
private struct WrittenFolders: ~Copyable {
    private final class Open {
        let descriptor: OwnedDescriptor
        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }
    private var open: [RoadFolder: Open] = [:]

    /// Where a file is written to. What belongs to no stream is written in the stream's folder first: there its part is
    /// known as ours.
    mutating func target(
        _ file: RoadFile, in road: FolderRoad, _ stream: StreamID, _ ways: [NewNameWay]
    ) throws(RoadError) -> FolderFile {
        let parts =
            switch file {
            case .entry, .piece: file.folder
            case .roster, .join: RoadFolder.entries(stream)
            }
        return FolderFile(
            try made(file.folder, road), file.name, parts: try made(parts, road), place: file.path, ways: ways)
    }

    /// Nil when the folder is not there.
    mutating func existing(_ folder: RoadFolder, in road: FolderRoad) throws(RoadError) -> Int32? {
        if let there = open[folder] { return there.descriptor.number }
        guard let opened = try road.openedFolder(folder) else { return nil }
        return keep(opened, folder)
    }

    private mutating func made(_ folder: RoadFolder, _ road: FolderRoad) throws(RoadError) -> Int32 {
        if let there = open[folder] { return there.descriptor.number }
        return keep(try road.madeFolder(folder), folder)
    }

    private mutating func keep(_ descriptor: consuming OwnedDescriptor, _ folder: RoadFolder) -> Int32 {
        let kept = Open(descriptor)
        open[folder] = kept
        return kept.descriptor.number
    }

    func flush() throws(RoadError) {
        for (folder, kept) in open { try kept.descriptor.flushNames(folder.path) }
    }
}
