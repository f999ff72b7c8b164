internal import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Something that holds a key between operations and gives it up when the vault is locked.
protocol KeyHolder: AnyObject, Sendable {
    func dropKeys()
}

/// Lets operations in while the vault is unlocked, and makes locking wait for those that are inside.
final class Gate: @unchecked Sendable {  // all state is guarded by the monitor
    private let monitor = Monitor()
    private var unlocked: UnlockedVault?
    private var idleReaders: [RecordReader] = []
    /// Streams that go on between operations; their keys are taken away by locking all the same.
    private var streams: [ObjectIdentifier: (holder: any KeyHolder, generation: UInt64)] = [:]
    /// Threads inside, once for each operation, and the unlocking that let them in.
    private var inside: [(thread: pthread_t, generation: UInt64)] = []
    /// Counts the times that keys were published.
    private var generation: UInt64 = 0
    /// Threads that wait in ``close()``: they do not wait for each other.
    private var closing: [pthread_t] = []
    private static let keptReaders = 4

    var current: UnlockedVault? { monitor.withLock { unlocked } }

    /// Publishes new keys; readers of the old ones are dropped.
    func open(_ vault: UnlockedVault) {
        _ = monitor.withLock { publish(vault) }  // the old keys are wiped outside the lock
    }

    /// Publishes new keys in place of `old`, unless the vault was locked or unlocked anew meanwhile.
    func replace(_ old: UnlockedVault, with new: UnlockedVault) {
        _ = monitor.withLock { unlocked === old ? publish(new) : ([], nil) }
    }

    private func publish(_ vault: UnlockedVault) -> ([RecordReader], UnlockedVault?) {
        defer {
            idleReaders = []
            unlocked = vault
            generation += 1
        }
        return (idleReaders, unlocked)
    }

    /// Takes the keys away and returns when no operation that was let in before uses them. Not waited for: operations of
    /// this very thread (a closure that locks the vault it reads) and of threads that are locking too; their keys go
    /// when they end. Nor those let in by a later unlock.
    func close() {
        let me = pthread_self()
        monitor.lock()
        let old = (idleReaders, unlocked)
        idleReaders = []
        unlocked = nil
        let last = generation
        closing.append(me)
        monitor.wakeAll()
        while inside.contains(where: { $0.generation <= last && !isClosing($0.thread) }) { monitor.wait() }
        if let index = closing.lastIndex(where: { pthread_equal($0, me) != 0 }) { closing.remove(at: index) }
        for (key, stream) in streams where stream.generation <= last {
            stream.holder.dropKeys()
            streams[key] = nil
        }
        monitor.unlock()
        _ = old
    }

    private func isClosing(_ thread: pthread_t) -> Bool {
        closing.contains { pthread_equal($0, thread) != 0 }
    }

    /// Ends a long operation early once the vault is being locked.
    func checkOpen() throws(VaultError) {
        guard monitor.withLock({ unlocked != nil }) else { throw .locked }
    }

    /// Runs one step of a stream while the vault is unlocked; between its steps the vault can be locked.
    func step<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
        _ = try enter()
        defer { leave() }
        return try body()
    }

    /// Makes locking take a stream's keys too. Called inside an operation.
    func register(_ stream: any KeyHolder) {
        monitor.withLock { streams[ObjectIdentifier(stream)] = (stream, generation) }
    }

    func unregister(_ stream: any KeyHolder) {
        monitor.withLock { streams[ObjectIdentifier(stream)] = nil }
    }

    func enter() throws(VaultError) -> UnlockedVault {
        try monitor.withLock { () throws(VaultError) in
            guard let unlocked else { throw .locked }
            inside.append((pthread_self(), generation))
            return unlocked
        }
    }

    func leave() {
        monitor.withLock { removeMe() }
    }

    /// As ``enter()``, with a reader of its own for the caller.
    func enterWithReader() throws(VaultError) -> (UnlockedVault, RecordReader) {
        monitor.lock()
        guard let vault = unlocked else {
            monitor.unlock()
            throw .locked
        }
        inside.append((pthread_self(), generation))
        let reader = idleReaders.popLast()
        monitor.unlock()
        if let reader { return (vault, reader) }
        do throws(VaultError) {
            return (vault, try RecordReader(vault.keys, vault.database))
        } catch {
            leave()
            throw error
        }
    }

    func leave(_ vault: UnlockedVault, returning reader: RecordReader) {
        monitor.withLock {
            removeMe()
            if unlocked === vault {
                if idleReaders.count < Gate.keptReaders { idleReaders.append(reader) }
            }
        }
    }

    private func removeMe() {
        let me = pthread_self()
        if let index = inside.lastIndex(where: { pthread_equal($0.thread, me) != 0 }) { inside.remove(at: index) }
        if !closing.isEmpty { monitor.wakeAll() }
    }
}
