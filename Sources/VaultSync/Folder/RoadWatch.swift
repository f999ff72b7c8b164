package import SyncFormat
package import SystemCalls

/// How a road is noticed to have changed while nobody asks.
package enum RoadWatching: ~Copyable {
    /// The kernel says so; without a change nobody wakes up.
    case events(RoadWatch)
    /// It must be listed at times.
    case listings(Reason)

    /// Why the kernel cannot say it.
    package enum Reason: Sendable, Hashable {
        /// The folder is on a server, or on a file system that others change unseen.
        case fileSystem
        /// The system has no watches left, or none at all.
        case system(SystemError)
        /// The road has no folder to watch, and none can be made.
        case noFolder
        /// The road has more streams than are watched.
        case tooManyStreams
    }

    /// Seconds between two listings where the kernel says nothing.
    package static let interval = 15 * 60
}

extension FolderRoad {
    /// Begins to watch `s`, its streams and `rosters`. To miss nothing, list everything afterwards.
    /// - Parameter joins: Whether `join` is watched too, while an invitation is open.
    package func watch(joins: Bool = false) -> RoadWatching {
        #if os(Linux) && !canImport(Darwin)
        guard MountTable.tellsAllChanges(in: folder) else { return .listings(.fileSystem) }
        do throws(RoadWatch.Failure) {
            return .events(try RoadWatch(self, joins: joins))
        } catch {
            return .listings(error.reason)
        }
        #else
        return .listings(.fileSystem)
        #endif
    }
}

/// What changed on a road.
package enum RoadChanges: Sendable, Hashable {
    /// Nothing that matters: names that are passed over.
    case nothing
    /// These folders, to be listed.
    case folders(Set<RoadFolder>)
    /// More than could be told: list everything.
    case everything
    /// The road or a folder of it was removed, replaced or unmounted: open and watch it anew.
    case gone
}

#if os(Linux) && !canImport(Darwin)
/// Watches a road by inotify.
package final class RoadWatch: Sendable {
    struct Failure: Error {
        let reason: RoadWatching.Reason
    }

    private struct State {
        var folders: [Int32: RoadFolder?] = [:]
        var isGone = false
    }

    private let road: FolderRoad
    private let events: OwnedDescriptor
    private let state: Monitor<State>

    /// Files come by a rename, by being closed after writing, or by a link.
    private static let arrivals = UInt32(IN_MOVED_TO | IN_CLOSE_WRITE | IN_CREATE)
    private static let ends = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

    /// How often changes are read at a time.
    private static let turns = 64

    /// Readable when something changed: for a `poll` of the agent's. ``changes()`` empties it.
    package var descriptor: Int32 { events.number }

    fileprivate init(_ road: FolderRoad, joins: Bool) throws(Failure) {
        self.road = road
        let number = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard number >= 0 else { throw Failure(reason: .system(.last)) }
        events = OwnedDescriptor(owning: number)
        state = Monitor(State())
        try add(nil, RoadWatch.ends)
        for folder in [.streams, .rosters] + (joins ? [RoadFolder.joins] : []) {
            try add(folder, RoadWatch.arrivals | RoadWatch.ends)
        }
        // After `s` itself, so that a stream that comes meanwhile is noticed there.
        try addStreams()
    }

    /// What changed since the last time. Never waits.
    package func changes() -> RoadChanges {
        var folders: Set<RoadFolder> = []
        var isMore = false
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        for turn in 0...RoadWatch.turns {
            // Somebody makes changes faster than they are read: the rest stays for the next time.
            if turn == RoadWatch.turns { isMore = true }
            let count: Int
            do throws(SystemError) {
                count = try read(&buffer)
            } catch {
                if error.number == EAGAIN { break }
                isMore = true
                break
            }
            if count <= 0 { break }
            for event in InotifyEvent.all(in: buffer[..<count]) {
                switch note(event) {
                case .nothing: break
                case .folders(let found): folders.formUnion(found)
                case .everything: isMore = true
                case .gone: state.withLock { $0.isGone = true }
                }
            }
        }
        if state.withLock({ $0.isGone }) { return .gone }
        return isMore ? .everything : folders.isEmpty ? .nothing : .folders(folders)
    }

    private func read(_ buffer: inout [UInt8]) throws(SystemError) -> Int {
        var span = buffer.mutableSpan
        var bytes = unsafe span.mutableBytes  // any bits are a UInt8
        return try events.read(into: &bytes)
    }

    private func note(_ event: InotifyEvent) -> RoadChanges {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
            // Streams that came meanwhile are not watched yet.
            return (try? addStreams()) == nil ? .gone : .everything
        }
        guard let folder = state.withLock({ $0.folders[event.watch] }) else { return .nothing }
        if event.mask & (RoadWatch.ends | UInt32(IN_UNMOUNT | IN_IGNORED)) != 0 { return ended(folder, event) }
        switch folder {
        case .streams:
            guard let stream = StreamID(digits: event.name) else { return .nothing }
            // Without a watch the stream would be forgotten: whoever opens the road anew decides what to do then.
            guard (try? add(.entries(stream), RoadWatch.arrivals | RoadWatch.ends)) != nil else { return .gone }
            return .folders([.streams, .entries(stream)])
        case .entries(let stream):
            return EntryFileName(name: event.name) == nil ? .nothing : .folders([.entries(stream)])
        case .rosters: return RosterFileName(name: event.name) == nil ? .nothing : .folders([.rosters])
        case .joins: return JoinFileName(name: event.name) == nil ? .nothing : .folders([.joins])
        case .pieces, .piecesOf, nil: return .nothing
        }
    }

    /// A stream may go; anything else is the end.
    private func ended(_ folder: RoadFolder?, _ event: InotifyEvent) -> RoadChanges {
        guard case .entries(let stream) = folder else { return .gone }
        state.withLock { _ = $0.folders.removeValue(forKey: event.watch) }
        if event.mask & UInt32(IN_MOVE_SELF) != 0 { inotify_rm_watch(events.number, event.watch) }
        return .folders([.streams, .entries(stream)])
    }

    private func addStreams() throws(Failure) {
        let streams: [StreamID]
        do throws(RoadError) { streams = try road.streams() } catch {
            if case .tooManyFiles = error { throw Failure(reason: .tooManyStreams) }
            throw Failure(reason: .noFolder)
        }
        for stream in streams { try add(.entries(stream), RoadWatch.arrivals | RoadWatch.ends) }
    }

    /// Watches what is open, by its number: the path could lead elsewhere by now.
    private func add(_ folder: RoadFolder?, _ mask: UInt32) throws(Failure) {
        guard let opened = try? road.openedFolder(folder) else {
            // A stream that was removed in the same moment, or a link or a file with a stream's name.
            if case .entries = folder { return }
            throw Failure(reason: .noFolder)
        }
        let flags = mask | UInt32(IN_ONLYDIR)
        let watch = unsafe inotify_add_watch(events.number, "/proc/self/fd/\(opened.number)", flags)
        guard watch >= 0 else { throw Failure(reason: .system(.last)) }
        state.withLock { $0.folders[watch] = .some(folder) }
    }
}

/// One event as the kernel writes it: watch 4, mask 4, cookie 4, length of the name 4, name with zeros.
struct InotifyEvent {
    let watch: Int32
    let mask: UInt32
    let name: [UInt8]

    static func all(in bytes: ArraySlice<UInt8>) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var rest = bytes
        while rest.count >= 16 {
            let words = (0..<4).map { word in
                unsafe rest.dropFirst(4 * word).prefix(4).withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt32.self) }
            }
            let name = rest.dropFirst(16).prefix(Int(words[3])).prefix { $0 != 0 }
            events.append(InotifyEvent(watch: Int32(bitPattern: words[0]), mask: words[1], name: Array(name)))
            rest = rest.dropFirst(16 + Int(words[3]))
        }
        return events
    }
}
#else
/// Nothing is watched on this system.
package enum RoadWatch {}
#endif
