package import SyncFormat
internal import SystemCalls

/// What a file looked like from outside: when that changes, the file is tried again.
package struct FileMark: Sendable, Hashable {
    let isRegular: Bool
    let size: Int64
    let inode: UInt64
    /// Nanoseconds since 1970, of contents and of anything.
    let changed: Int64
    let touched: Int64

    init(_ status: stat) {
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = Int64(status.st_size)
        inode = UInt64(status.st_ino)
        #if canImport(Darwin)
        changed = FileMark.nanoseconds(status.st_mtimespec)
        touched = FileMark.nanoseconds(status.st_ctimespec)
        #else
        changed = FileMark.nanoseconds(status.st_mtim)
        touched = FileMark.nanoseconds(status.st_ctim)
        #endif
    }

    /// Nil when there is nothing of this name.
    init?(of name: String, in folder: Int32) {
        var status = stat()
        guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        self.init(status)
    }

    /// Whether a change would show. A file that was changed a moment ago may change again and look the same: FAT counts
    /// in two seconds.
    /// - Parameter now: Milliseconds since 1970.
    func isSettled(at now: Int64) -> Bool { abs(now - max(changed, touched) / 1_000_000) > 3_000 }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        let (seconds, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? 0 : seconds &+ Int64(time.tv_nsec)
    }
}

/// What a reader saw of a road at the last listing. It lies in memory alone: after an unlock everything is listed anew.
package struct RoadMemory: Sendable {
    /// Names of each stream, in order.
    package internal(set) var entries: [StreamID: [EntryFileName]] = [:]
    package internal(set) var rosters: [RosterFileName] = []
    package internal(set) var joins: [JoinFileName] = []
    var strangers: [RoadFolder: [RoadStranger: Int]] = [:]
    /// Files that are not whole, as they looked.
    var setAside: [RoadFile: FileMark] = [:]

    package init() {}

    /// Whether nothing was listed yet.
    package var isEmpty: Bool { entries.isEmpty && rosters.isEmpty }

    /// How many names of each kind are passed over.
    package var passedOver: [RoadStranger: Int] {
        strangers.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    /// How many files of ours are not whole, or not to be read.
    package var waiting: Int { setAside.count }

    /// Numbers of a stream that more than one file has: a fork.
    package func forks(of stream: StreamID) -> [UInt64] {
        let names = entries[stream] ?? []
        var found: [UInt64] = []
        for (one, next) in zip(names, names.dropFirst()) where one.number == next.number && found.last != one.number {
            found.append(one.number)
        }
        return found
    }

    /// Whether a file waits until it changes.
    func isSetAside(_ file: RoadFile) -> Bool { setAside[file] != nil }

    /// Entries and rosters that made no sense may make some now: there are other members.
    mutating func lookAgain() {
        setAside = setAside.filter { file, _ in
            switch file {
            case .entry, .roster: false
            default: true
            }
        }
    }

    /// A file whose bytes make no sense to a reader waits until it changes.
    /// - Parameter mark: As it was when it was read.
    package mutating func setAside(_ file: RoadFile, _ mark: FileMark) { setAside[file] = mark }
}

/// What a listing found that the last one did not.
package struct RoadNews: Sendable {
    /// New names, in order. Two with one number are a fork, and both are here.
    package internal(set) var entries: [StreamID: [EntryFileName]] = [:]
    /// Names that are gone. Own ones are written again; others' writers have compacted.
    package internal(set) var vanished: [StreamID: [EntryFileName]] = [:]
    package internal(set) var rosters: [RosterFileName] = []
    package internal(set) var joins: [JoinFileName] = []
    /// Files that were not whole and have changed.
    package internal(set) var retries: [RoadFile] = []
    /// Streams that could not be listed; the rest was, and these are as they were.
    package internal(set) var problems: [StreamID: RoadError] = [:]

    package init() {}

    /// Whether there is nothing to read.
    package var isEmpty: Bool { entries.isEmpty && rosters.isEmpty && joins.isEmpty && retries.isEmpty }
}
