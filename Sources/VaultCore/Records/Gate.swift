internal import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultStorage
internal import SystemCalls

/// Lets operations in while the vault is unlocked, and makes locking wait for those that are inside.
final class Gate: StreamGate {
    private let monitor: Monitor<State>
    /// Readers of the keys that are published now: reading takes them without the monitor.
    private let readers = ReaderSlots()

    init() { monitor = Monitor(State(readers)) }

    var current: UnlockedVault? { monitor.withLock { $0.unlocked } }

    /// What a change can be made to: what is unlocked, or what was kept for a change alone.
    var changeable: UnlockedVault? { monitor.withLock { $0.unlocked ?? $0.kept } }

    /// Keeps keys for a change and for nothing else: nothing is let in. A lock takes them away, and so does an unlock.
    func keep(_ vault: UnlockedVault) {
        _ = monitor.withLock { $0.keep(vault) }
    }

    /// Publishes new keys; readers of the old ones are dropped.
    func open(_ vault: UnlockedVault) {
        _ = monitor.withLock { $0.publish(vault) }  // the old keys are wiped outside the lock
    }

    /// Publishes new keys in place of `old`, unless the vault was locked or unlocked anew meanwhile. What was kept for
    /// a change is only dropped.
    func replace(_ old: UnlockedVault, with new: UnlockedVault) {
        _ = monitor.withLock { state in
            if state.kept === old { return ([], state.keep(nil)) }
            return state.unlocked === old ? state.publish(new) : ([], nil)
        }
    }

    /// Takes the keys away and returns when no operation that was let in before uses them. Not waited for: operations
    /// of this very thread (a closure that locks the vault it reads) and of threads that are locking too; their keys go
    /// when they end. Nor those let in by a later unlock.
    /// - Returns: Whether there were keys to take.
    @discardableResult
    func close() -> Bool {
        let me = ReaderSlots.thisThread
        let (old, last) = monitor.withLock { $0.shut(me) }
        // Wiped outside of the monitor, like what was published.
        _ = monitor.withLock { $0.keep(nil) }
        monitor.wakeAll()
        monitor.withLock(when: { !$0.mustWait(for: last) }) { state in
            for holder in state.finishClosing(me, last) { holder.dropKeys() }
        }
        return old.1 != nil
    }

    /// Ends a long operation early once the vault is being locked.
    func checkOpen() throws(VaultError) {
        guard monitor.withLock({ $0.unlocked != nil }) else { throw .locked }
    }

    /// Runs one step of a stream while the vault is unlocked; between its steps the vault can be locked, which ends the
    /// stream. A later unlock does not admit it again: the locking thread may be about to remove its keys.
    func step<R: ~Copyable>(of stream: any KeyHolder, _ body: () throws(VaultError) -> R) throws(VaultError) -> R {
        guard monitor.withLock({ $0.enter(stream) }) else { throw .locked }
        defer { leave() }
        return try body()
    }

    /// Makes locking take a stream's keys too. Called inside the operation that made it.
    func register(_ stream: any KeyHolder) { monitor.withLock { $0.register(stream) } }

    func unregister(_ stream: any KeyHolder) { monitor.withLock { $0.unregister(stream) } }

    func enter() throws(VaultError) -> UnlockedVault {
        guard let vault = monitor.withLock({ $0.enter() }) else { throw .locked }
        return vault
    }

    /// The end of every operation but a plain read: with it goes what the operation has left on its thread. Before the
    /// locking thread continues, like the keys.
    func leave() {
        WorkingMemory.wipe()
        monitor.withLock { state in
            state.leave()
            if state.isClosing { monitor.wakeAll() }
        }
    }

    /// As ``enter()``, but gives a reader to the caller alone.
    func enterWithReader() throws(VaultError) -> RecordReader {
        switch monitor.withLock({ $0.enterWithReader() }) {
        case nil: throw .locked
        case .idle(let reader): return reader
        case .needed(let vault, let generation):
            do throws(VaultError) {
                return try RecordReader(vault.keys.records, vault.database, generation: generation)
            } catch {
                leave()
                throw error
            }
        }
    }

    func leave(returning reader: RecordReader) {
        WorkingMemory.wipe()
        monitor.withLock { state in
            state.leave(returning: reader)
            if state.isClosing { monitor.wakeAll() }
        }
    }

    /// A reader that stands ready, without the monitor: then ``end(_:)`` must follow. Nil when there is none, as while
    /// the vault is locked; ``enterWithReader()`` tells.
    @inline(__always)
    func takeReader() -> TakenReader? { readers.take() }

    /// Gives back what ``takeReader()`` gave.
    @inline(__always)
    func end(_ taken: TakenReader) {
        if !taken.giveBack() { endRecalled(taken) }
    }

    @inline(never)
    private func endRecalled(_ taken: TakenReader) {
        monitor.withLock { state in
            _ = readers.takeBack(taken)  // when locking returns, the keys must already be gone
            if state.isClosing { monitor.wakeAll() }
        }
    }
}

extension Gate {
    /// What the monitor guards.
    private struct State {
        private(set) var unlocked: UnlockedVault?
        /// For a change alone: nobody enters with it.
        private(set) var kept: UnlockedVault?
        /// The idle ones are of the keys that are published now.
        private let readers: ReaderSlots
        /// Streams that stay open between operations; locking still removes their keys.
        private var streams: [ObjectIdentifier: (holder: any KeyHolder, generation: UInt64)] = [:]
        /// The last unlocking that a lock has ended.
        private var ended: UInt64 = 0
        /// Threads inside, once for each operation, and the unlocking that let them in.
        private var inside: [(thread: UInt, generation: UInt64)] = []
        /// Counts the times that keys were published.
        private var generation: UInt64 = 0
        /// Threads that wait in ``Gate/close()``: they do not wait for each other.
        private var closing: [UInt] = []

        init(_ readers: ReaderSlots) { self.readers = readers }

        var isClosing: Bool { !closing.isEmpty }

        /// - Returns: What was kept before; the caller drops it.
        mutating func keep(_ vault: UnlockedVault?) -> UnlockedVault? {
            defer { kept = vault }
            return kept
        }

        /// - Returns: What was published before; the caller drops it.
        mutating func publish(_ vault: UnlockedVault) -> ([RecordReader], UnlockedVault?) {
            defer {
                (unlocked, kept) = (vault, nil)
                generation += 1
            }
            return (readers.recall(), unlocked)
        }

        /// Admits no new operations.
        /// - Returns: What was published, and the last unlocking that is over now.
        mutating func shut(_ me: UInt) -> (old: ([RecordReader], UnlockedVault?), last: UInt64) {
            defer {
                unlocked = nil
                ended = generation
                closing.append(me)
            }
            return ((readers.recall(), unlocked), generation)
        }

        func mustWait(for last: UInt64) -> Bool {
            readers.isRecalledUsed(upTo: last, besidesBy: closing)
                || inside.contains { $0.generation <= last && !closing.contains($0.thread) }
        }

        /// - Returns: The streams whose keys go.
        mutating func finishClosing(_ me: UInt, _ last: UInt64) -> [any KeyHolder] {
            if let index = closing.lastIndex(of: me) { closing.remove(at: index) }
            let ended = streams.filter { $0.value.generation <= last }
            for key in ended.keys { streams[key] = nil }
            return ended.values.map(\.holder)
        }

        mutating func enter() -> UnlockedVault? {
            guard let unlocked else { return nil }
            inside.append((ReaderSlots.thisThread, generation))
            return unlocked
        }

        /// The unlock that the stream began in must still be in effect, including new keys for it.
        mutating func enter(_ stream: any KeyHolder) -> Bool {
            guard let known = streams[ObjectIdentifier(stream)], known.generation > ended else { return false }
            return enter() != nil
        }

        /// Of the unlocking that let this thread in last: its keys are those of the stream.
        mutating func register(_ stream: any KeyHolder) {
            let me = ReaderSlots.thisThread
            let opened = inside.last { $0.thread == me }?.generation ?? generation
            streams[ObjectIdentifier(stream)] = (stream, opened)
        }

        mutating func unregister(_ stream: any KeyHolder) { streams[ObjectIdentifier(stream)] = nil }

        mutating func leave() {
            let me = ReaderSlots.thisThread
            if let index = inside.lastIndex(where: { $0.thread == me }) { inside.remove(at: index) }
        }

        /// A reader for an entering thread, or what is needed to create one.
        enum Reader {
            case idle(RecordReader)
            case needed(UnlockedVault, generation: UInt64)
        }

        mutating func enterWithReader() -> Reader? {
            guard unlocked != nil else { return nil }
            inside.append((ReaderSlots.thisThread, generation))
            if let reader = readers.withdraw() { return .idle(reader) }
            return unlocked.map { .needed($0, generation: generation) }
        }

        mutating func leave(returning reader: RecordReader) {
            leave()
            let isCurrent = unlocked != nil && reader.generation == generation
            if isCurrent { _ = readers.fill(reader) }
        }
    }
}
