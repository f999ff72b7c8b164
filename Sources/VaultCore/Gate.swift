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
    private var streams: [ObjectIdentifier: any KeyHolder] = [:]
    /// Threads inside, once for each operation.
    private var inside: [pthread_t] = []
    private static let keptReaders = 4

    var current: UnlockedVault? { monitor.withLock { unlocked } }

    /// Publishes new keys; readers of the old ones are dropped.
    func open(_ vault: UnlockedVault) {
        var old: [RecordReader] = []
        var oldVault: UnlockedVault?
        monitor.withLock {
            swap(&old, &idleReaders)
            oldVault = unlocked
            unlocked = vault
        }
        _ = (old, oldVault)  // wiped here, outside the lock
    }

    /// Takes the keys away and returns when no operation of another thread uses them. An operation of this very thread
    /// (a closure that locks the vault it reads) is not waited for; its keys go when it ends.
    func close() {
        var old: [RecordReader] = []
        var vault: UnlockedVault?
        let me = pthread_self()
        monitor.withLock {
            swap(&old, &idleReaders)
            swap(&vault, &unlocked)
            while inside.contains(where: { pthread_equal($0, me) == 0 }) { monitor.wait() }
            for stream in streams.values { stream.dropKeys() }
            streams = [:]
        }
        _ = (old, vault)
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
        monitor.withLock { streams[ObjectIdentifier(stream)] = stream }
    }

    func unregister(_ stream: any KeyHolder) {
        monitor.withLock { streams[ObjectIdentifier(stream)] = nil }
    }

    func enter() throws(VaultError) -> UnlockedVault {
        try monitor.withLock { () throws(VaultError) in
            guard let unlocked else { throw .locked }
            inside.append(pthread_self())
            return unlocked
        }
    }

    func leave() {
        monitor.withLock {
            removeMe()
            if unlocked == nil { monitor.wakeAll() }
        }
    }

    /// As ``enter()``, with a reader of its own for the caller.
    func enterWithReader() throws(VaultError) -> (UnlockedVault, RecordReader) {
        monitor.lock()
        guard let vault = unlocked else {
            monitor.unlock()
            throw .locked
        }
        inside.append(pthread_self())
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
            } else if unlocked == nil {
                monitor.wakeAll()
            }
        }
    }

    private func removeMe() {
        let me = pthread_self()
        if let index = inside.lastIndex(where: { pthread_equal($0, me) != 0 }) { inside.remove(at: index) }
    }
}
