internal import CLMDB
internal import Synchronization
internal import SystemCalls

/// How large the map of a database is: as much as it uses and room to grow, where the system gives that much.
///
/// The map is address space, and neither memory nor disk. A phone gives a few gigabytes of it to a process, and
/// `ulimit -v` gives what it is told.
enum DatabaseMap {
    private static let granularity: UInt64 = 1 << 20
    /// What is left to the rest of the process.
    private static let spared = 64 << 20

    /// What is asked for, in turn: twice what is used or the whole room, then half of that room, and so on.
    /// - Parameter used: Also where it says too much, the sizes are within the limit.
    static func sizes(used: UInt64, room: Int, limit: UInt64) -> [Int] {
        let used = min(used, limit)
        // Tests have rooms of a few pages.
        let granularity = min(granularity, UInt64(room))
        var sizes: [Int] = []
        var rooms = [max(used, UInt64(room)), UInt64(room)]
        while let last = rooms.last, last > granularity { rooms.append(last / 2) }
        for room in rooms {
            let size = min((used + room + granularity - 1) / granularity * granularity, limit)
            if size > used, sizes.last != Int(size) { sizes.append(Int(size)) }
        }
        // A database that is as large as it can be is only read, or becomes smaller.
        return sizes.isEmpty ? [Int(limit)] : sizes
    }

    /// Whether the system gives so much beside what it has given: LMDB takes away the old map before it asks for the
    /// new one, and has none if that is refused.
    static func isPossible(_ size: Int, _ file: borrowing DurableFile) -> Bool {
        let map = unsafe mmap(nil, size + spared, PROT_READ, MAP_SHARED, file.descriptor, 0)
        guard unsafe map != MAP_FAILED, let map = unsafe map else { return false }
        unsafe munmap(map, size + spared)
        return true
    }

    /// Tries the sizes in turn to open a database with, but for those that the system does not give.
    /// - Returns: What the first of them gave that did. The smallest is tried in any case.
    static func first<R>(
        for name: DatabaseName, used: UInt64, _ file: borrowing DurableFile,
        _ body: (Int) throws(VaultError) -> R?
    ) throws(VaultError) -> R? {
        let all = sizes(used: used, room: name.room, limit: UInt64(name.limit))
        for size in all where size == all.last || isPossible(size, file) {
            if let result = try body(size) { return result }
        }
        return nil
    }
}

extension DatabaseExclusion {
    /// - Throws: `outOfMemory` when there is no map any more.
    func checkMap() throws(VaultError) {
        if isMapLost.load(ordering: .relaxed) { throw .noAddressSpace }
    }

    private var info: MDB_envinfo {
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(handle, &info)
        return unsafe info
    }

    /// Bytes of the map, for the thread that writes or has the monitor.
    var mapSize: UInt64 { unsafe UInt64(truncatingIfNeeded: info.me_mapsize) }

    /// Bytes of the database's pages and of the map, for the thread that writes or has the monitor.
    ///
    /// The number of pages stands in a file that may have been changed since it was checked.
    /// - Throws: `damaged` where no database has so many.
    func extent() throws(VaultError) -> (used: UInt64, map: UInt64) {
        let info = unsafe info
        let last = unsafe UInt64(truncatingIfNeeded: info.me_last_pgno)
        guard last < UInt64(name.limit) / pageSize else { throw DatabasePages.notWhole }
        return unsafe ((last + 1) * pageSize, UInt64(truncatingIfNeeded: info.me_mapsize))
    }

    /// Whether the newest state has pages that are not mapped, as another process wrote them.
    /// - Throws: `damaged`.
    func isBeyondMap() throws(VaultError) -> Bool {
        let (used, map) = try extent()
        return used > map
    }

    /// The largest size above that of now that the system gives; nil when it gives none.
    /// - Throws: `damaged`.
    private func largerSize() throws(VaultError) -> Int? {
        let (used, map) = try extent()
        return DatabaseMap.sizes(
            used: used, room: room.load(ordering: .relaxed), limit: UInt64(name.limit)
        ).first { UInt64($0) > map && DatabaseMap.isPossible($0, file) }
    }

    /// Grows the map before a transaction, so that what it writes fits. No transaction can grow it from within.
    /// - Throws: `busy`, `outOfMemory`: after a transaction that did not fit. Without need nobody is kept. `damaged`.
    func makeRoom(patience: Int) throws(VaultError) {
        let (used, map) = try extent()
        let room = room.load(ordering: .relaxed)
        let isNeeded = isFull.exchange(false, ordering: .relaxed)
        guard map < UInt64(name.limit), isNeeded || map < used + UInt64(room) / 2 else { return }
        guard let size = try largerSize() else {
            if isNeeded { throw .noAddressSpace }
            return
        }
        // While there is room nobody waits for a long read.
        let isScarce = isNeeded || map < used + UInt64(room) / 8
        let hasGrown = try grow(to: size, patience: isScarce ? patience : 2)
        if isNeeded && !hasGrown { throw Obstacle.readers.error }
    }

    /// A transaction is about to be tried: the outcome of earlier ones says nothing about it.
    func beginTry() { didNotFit.store(false, ordering: .relaxed) }

    /// Whether the transaction that was just tried did not fit and may be run again: the next one begins with more
    /// room. Answered once for each try, so that one that fails for another reason is not run again for ever.
    func makesMoreRoom() -> Bool {
        guard didNotFit.exchange(false, ordering: .relaxed) else { return false }
        let isPossible = monitor.withLock { _ in
            guard !isMapLost.load(ordering: .relaxed) else { return false }
            let map = mapSize
            guard map < UInt64(name.limit) else { return false }
            let wanted = max(map, UInt64(room.load(ordering: .relaxed)) * 2)
            room.store(Int(min(wanted, UInt64(name.limit))), ordering: .relaxed)
            return (try? largerSize()) != nil
        }
        if !isPossible { isFull.store(false, ordering: .relaxed) }
        return isPossible
    }

    /// An error for a transaction that does not fit into the map.
    func noteFull() -> VaultError {
        isFull.store(true, ordering: .relaxed)
        didNotFit.store(true, ordering: .relaxed)
        // The map is there for as long as the transaction.
        let isAtLimit = mapSize >= UInt64(name.limit)
        return isAtLimit ? .database(MDB_MAP_FULL, "writing") : .noAddressSpace
    }

    /// Another process has made the file longer than the map.
    /// - Returns: What to wait for before it is looked again.
    func growForOthers() throws(VaultError) -> Obstacle {
        // No writer of this process begins meanwhile. One that has begun has the map that it needs.
        let isMine = monitor.withLock { state in
            if state.isWriting { return false }
            state.isWriting = true
            return true
        }
        guard isMine else { return .writer }
        defer { endWriting() }
        guard try isBeyondMap() else { return .growth }
        guard let size = try largerSize() else { throw .noAddressSpace }
        guard try grow(to: size, patience: DatabaseExclusion.patience) else { throw Obstacle.readers.error }
        return .growth
    }

    /// The same where no transaction is under way, in the monitor.
    func growAlone() throws(VaultError) {
        guard let size = try largerSize() else { throw .noAddressSpace }
        try setMapSize(size)
    }

    /// Changes the map when nobody reads from it.
    /// - Returns: False when somebody reads for longer.
    private func grow(to size: Int, patience: Int) throws(VaultError) -> Bool {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        defer { if !isMapLost.load(ordering: .relaxed) { isClosed.store(false, ordering: .sequentiallyConsistent) } }
        var pauses = Pauses()
        while true {
            let state = try monitor.withLock { state throws(VaultError) -> (isDone: Bool, isOwn: Bool) in
                guard state.slots.allSatisfy(\.isIdle) else {
                    return (false, reads(CurrentThread.word, besides: nil, state))
                }
                try setMapSize(size)
                return (true, false)
            }
            if state.isDone { return true }
            guard !state.isOwn, pauses.nap(within: patience) else { return false }
        }
    }

    private func setMapSize(_ size: Int) throws(VaultError) {
        guard unsafe mdb_env_set_mapsize(handle, size) == 0 else {
            isMapLost.store(true, ordering: .relaxed)
            isClosed.store(true, ordering: .sequentiallyConsistent)
            throw .noAddressSpace
        }
    }
}

extension VaultError {
    static let noAddressSpace = VaultError(
        .outOfMemory, "the system does not give the vault's database more address space; nothing was changed")
    static let roomWasMade = VaultError(
        .outOfMemory, "the changes took more room than the database had made for them; there is more now, try again")
}
