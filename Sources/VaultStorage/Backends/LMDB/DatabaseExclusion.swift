internal import CLMDB
internal import Synchronization
internal import SystemCalls

/// Keeps the transactions of one environment apart: from a change of the map always, and from each other and from other
/// processes where LMDB does not (``DatabaseLocks/own``).
///
/// With our own locks LMDB has no table of readers and takes it that nobody reads a state older than the newest: a
/// writer writes new pages over those that only older states have, and over the older of the two first pages. So:
///
/// 1. A process has the file's `flock` while a transaction is under way in it. No other process changes anything
///   meanwhile.
/// 2. In a process one transaction writes at a time.
/// 3. It begins when no transaction reads a state older than the newest one, and none begins to read another than that.
/// 4. LMDB shows a state that is being committed before it is whole and on the disk. A transaction that is given it
///   waits
///    until the commit has returned.
///
/// Nobody waits for ever: whoever would gets `busy`.
@safe final class DatabaseExclusion: @unchecked Sendable {  // LMDB's calls that are not thread-safe are in the monitor
    struct State {
        var slots: [ReaderSlot] = []
        var isWriting = false
        /// Those who wait to write, in the order in which they came.
        var waiting: [UInt] = []
        /// With our own locks: transactions that are under way, and the number of the newest state.
        var active = 0
        var newest: UInt64 = 0
    }

    let locks: DatabaseLocks
    let name: DatabaseName
    let handle: OpaquePointer
    let pageSize: UInt64
    let monitor = Monitor(State())
    /// Set while the map changes: nobody begins to read. It stays set when there is no map any more.
    let isClosed = Atomic<Bool>(false)
    let isMapLost = Atomic<Bool>(false)
    /// What a writer finds free in the map at least; more once that was too little.
    let room: Atomic<Int>
    /// A transaction did not fit into the map: the next one begins with more room, or not at all.
    let isFull = Atomic<Bool>(false)
    /// It is the one that was just tried (``beginTry()``).
    let didNotFit = Atomic<Bool>(false)
    /// Another than LMDB's own, with a lock of its own.
    let file: DurableFile

    /// Milliseconds for which other readers and writers are waited for.
    static let patience = 30_000

    /// - Parameter file: With our own locks it is locked, until ``letGo()``.
    init(_ handle: OpaquePointer, _ file: consuming DurableFile, _ name: DatabaseName, _ locks: DatabaseLocks) {
        unsafe self.handle = handle
        self.file = file
        self.name = name
        self.locks = locks
        room = Atomic(name.room)
        var statistics = MDB_stat()
        unsafe mdb_env_stat(handle, &statistics)
        pageSize = UInt64(max(1, statistics.ms_psize))
    }

    /// The environment is open: whoever has it begins transactions.
    func letGo() { if locks == .own { file.unlock() } }

    func register() -> ReaderSlot {
        let slot = ReaderSlot()
        monitor.withLock { $0.slots.append(slot) }
        return slot
    }

    func unregister(_ slot: ReaderSlot) {
        monitor.withLock { state in state.slots.removeAll { $0 === slot } }
    }

    // MARK: Reading

    /// Takes a snapshot with a parked transaction.
    @inline(__always)
    func renew(_ transaction: OpaquePointer, _ slot: ReaderSlot) throws(VaultError) {
        if locks == .ofLMDB {
            slot.begin()
            if unsafe !isClosed.load(ordering: .sequentiallyConsistent) && mdb_txn_renew(transaction) == 0 { return }
            slot.end()
        }
        var transaction: OpaquePointer? = unsafe transaction
        try unsafe begin(&transaction, slot)
    }

    @inline(__always)
    func park(_ transaction: OpaquePointer, _ slot: ReaderSlot) {
        if locks == .ofLMDB {
            unsafe mdb_txn_reset(transaction)
            return slot.end()
        }
        monitor.withLock { state in
            unsafe mdb_txn_reset(transaction)
            slot.end()
            release(&state)
        }
    }

    /// As ``renew(_:_:)``; makes the transaction where there is none.
    func begin(_ transaction: inout OpaquePointer?, _ slot: ReaderSlot) throws(VaultError) {
        var pauses = Pauses()
        while let obstacle = try unsafe tryToBegin(&transaction, slot) {
            guard pauses.nap(within: DatabaseExclusion.patience) else { throw obstacle.error }
        }
    }

    private func tryToBegin(_ transaction: inout OpaquePointer?, _ slot: ReaderSlot) throws(VaultError) -> Obstacle? {
        guard locks == .ofLMDB else { return try unsafe tryToBeginOwn(&transaction, slot) }
        slot.begin()
        if isClosed.load(ordering: .sequentiallyConsistent) {
            let isNested = monitor.withLock { state in reads(CurrentThread.word, besides: slot, state) }
            guard isNested else {
                slot.end()
                try checkMap()
                return .growth
            }
        }
        let code = unsafe start(&transaction)
        if code == 0 { return nil }
        slot.end()
        guard code == MDB_MAP_RESIZED else { throw .database(code, "reading") }
        return try growForOthers()
    }

    private func tryToBeginOwn(
        _ transaction: inout OpaquePointer?, _ slot: ReaderSlot
    ) throws(VaultError) -> Obstacle? {
        try monitor.withLock { state throws(VaultError) -> Obstacle? in
            try checkMap()
            if isClosed.load(ordering: .sequentiallyConsistent), !reads(CurrentThread.word, besides: slot, state) {
                return .growth
            }
            guard try hold(&state) else { return .process }
            let code = unsafe start(&transaction)
            let number = unsafe UInt64(truncatingIfNeeded: mdb_txn_id(transaction))
            if code == 0, number == state.newest {
                slot.begin(number)
                return nil
            }
            if code == 0 { unsafe mdb_txn_reset(transaction) }
            release(&state)
            if code == 0 || code == MDB_MAP_RESIZED && state.isWriting { return .commit }
            throw .database(code, "reading")
        }
    }

    private func start(_ transaction: inout OpaquePointer?) -> Int32 {
        if let transaction = unsafe transaction { return unsafe mdb_txn_renew(transaction) }
        return unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    }

    /// Whether a thread has a snapshot already: it would wait for itself.
    func reads(_ thread: UInt, besides slot: ReaderSlot?, _ state: State) -> Bool {
        state.slots.contains { $0 !== slot && $0.isInUse(by: thread) }
    }

    // MARK: Writing

    /// Returns when this thread may begin the one transaction that writes.
    /// - Throws: `busy`; `outOfMemory` when the map must grow and cannot.
    func beginWriting(patience: Int) throws(VaultError) {
        var pauses = Pauses()
        defer { monitor.withLock { state in state.waiting.removeAll { $0 == CurrentThread.word } } }
        while let obstacle = try tryToBeginWriting() {
            guard pauses.nap(within: patience) else { throw obstacle.error }
        }
        do throws(VaultError) { try makeRoom(patience: patience) } catch {
            endWriting()
            throw error
        }
    }

    private func tryToBeginWriting() throws(VaultError) -> Obstacle? {
        try monitor.withLock { state throws(VaultError) -> Obstacle? in
            try checkMap()
            let thread = CurrentThread.word
            if !state.waiting.contains(thread) { state.waiting.append(thread) }
            if state.isWriting || state.waiting.first != thread { return .writer }
            if locks == .own {
                guard try hold(&state) else { return .process }
                if state.slots.contains(where: { $0.isOlder(than: state.newest) }) {
                    release(&state)
                    if reads(thread, besides: nil, state) { throw .writesWhileReading }
                    return .readers
                }
            }
            state.isWriting = true
            return nil
        }
    }

    /// The transaction is committed, or given up.
    func endWriting() {
        monitor.withLock { state in
            state.isWriting = false
            guard locks == .own else { return }
            if !isMapLost.load(ordering: .relaxed) { state.newest = newestState() }
            release(&state)
        }
    }

    /// Has what LMDB wrote leave the disk's own cache, where LMDB does not see to it.
    func flush() throws(VaultError) {
        #if canImport(Darwin)
        try file.synchronize()
        #endif
    }

    /// Runs what reads the newest state in a transaction that LMDB makes.
    func withoutWriters(_ body: () -> Int32) throws(VaultError) -> Int32 {
        try beginWriting(patience: DatabaseExclusion.patience)
        defer { endWriting() }
        return body()
    }

    // MARK: Processes

    /// One transaction more is under way in this process, which has the file for itself while there is any.
    /// - Returns: False while another process has it.
    private func hold(_ state: inout State) throws(VaultError) -> Bool {
        if state.active == 0 {
            guard try file.tryLock(exclusive: true) else { return false }
            do throws(VaultError) {
                // Another process may have committed, and made the file longer than the map.
                state.newest = newestState()
                if try isBeyondMap() { try growAlone() }
            } catch {
                file.unlock()
                throw error
            }
        }
        state.active += 1
        return true
    }

    private func release(_ state: inout State) {
        state.active -= 1
        if state.active == 0 { file.unlock() }
    }

    /// The number that the newest state has.
    private func newestState() -> UInt64 {
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(handle, &info)
        return unsafe UInt64(truncatingIfNeeded: info.me_last_txnid)
    }
}

extension DatabaseExclusion {
    /// What a transaction waits for.
    enum Obstacle {
        case process, writer, readers, commit, growth

        var error: VaultError {
            switch self {
            case .process: .heldElsewhere
            case .writer: VaultError(.busy, "the vault has been written to for a long time")
            case .readers: VaultError(.busy, "the vault has been read for a long time, and cannot be changed meanwhile")
            case .commit: VaultError(.busy, "a change of the vault has been under way for a long time")
            case .growth: VaultError(.busy, "the vault has been making room for a long time")
            }
        }
    }
}

extension VaultError {
    static let heldElsewhere = VaultError(
        .busy, "another process is using the vault, and only one can at a time: try again when it has finished")
    static let writesWhileReading = VaultError(
        .busy, "the vault cannot be changed from within a read of all records: change it when that has returned")
}
