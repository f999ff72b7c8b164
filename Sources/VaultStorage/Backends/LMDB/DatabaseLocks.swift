internal import Synchronization
internal import SystemCalls

/// Who keeps the readers, the writers and the processes of a database apart.
package enum DatabaseLocks: Sendable {
    /// LMDB, by a table of readers and a mutex that processes share (the `-lock` file). Any number of processes read
    /// beside one that writes.
    case ofLMDB
    /// Holdfast (``DatabaseExclusion``): one process at a time uses the database, for as long as a read or a write
    /// takes.
    ///
    /// On Apple's systems LMDB's own are System V semaphores, which a sandbox refuses.
    case own

    #if os(Linux) && !canImport(Darwin)
    private static let choosesOwn = Atomic<Bool>(false)

    /// The locks of databases that are opened now.
    package static var inUse: DatabaseLocks { choosesOwn.load(ordering: .relaxed) ? .own : .ofLMDB }

    /// Has this process open databases as on Apple's systems. For tests: all processes of a home must use the same
    /// locks.
    package static func chooseOwn() { choosesOwn.store(true, ordering: .relaxed) }
    #else
    /// The locks of databases that are opened now.
    package static var inUse: DatabaseLocks { .own }

    /// There is no choice here.
    package static func chooseOwn() {}
    #endif
}

/// Where a reading transaction says that it reads, and which state.
final class ReaderSlot: Sendable {
    private static let idle = UInt64.max
    /// Who reads, where that is known without it.
    private let thread = Atomic<UInt>(0)
    /// The number of the state that is read, or ``idle``.
    private let state = Atomic<UInt64>(ReaderSlot.idle)
    /// Keeps neighbours, which other threads change, out of this one's line of the cache.
    private let padding = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))

    /// Said before it is looked whether reading is allowed: whoever forbids it looks here afterwards.
    @inline(__always)
    func begin(_ number: UInt64 = 0) {
        thread.store(CurrentThread.word, ordering: .relaxed)
        state.store(number, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    func end() { state.store(ReaderSlot.idle, ordering: .releasing) }

    var isIdle: Bool { state.load(ordering: .sequentiallyConsistent) == ReaderSlot.idle }

    func isOlder(than number: UInt64) -> Bool { state.load(ordering: .sequentiallyConsistent) < number }

    func isInUse(by word: UInt) -> Bool { !isIdle && thread.load(ordering: .relaxed) == word }
}

/// Naps that become longer, up to an end.
struct Pauses {
    private var waited = 0
    private var pause: UInt32 = 20

    /// - Returns: False, without a nap, when all that was to be waited is over.
    mutating func nap(within milliseconds: Int) -> Bool {
        guard waited < milliseconds * 1000 else { return false }
        usleep(pause)
        waited += Int(pause)
        pause = min(pause * 2, 4000)
        return true
    }
}
