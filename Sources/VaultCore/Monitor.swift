#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A mutex with a condition: what `Synchronization.Mutex` lacks for waiting.
@safe final class Monitor: @unchecked Sendable {  // the pthread objects are made to be shared
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    @inline(__always) func lock() { unsafe pthread_mutex_lock(mutex) }
    @inline(__always) func unlock() { unsafe pthread_mutex_unlock(mutex) }

    @inline(__always) func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Gives the lock up until woken; the caller holds it and looks at its condition again.
    func wait() { unsafe pthread_cond_wait(condition, mutex) }
    func wakeAll() { unsafe pthread_cond_broadcast(condition) }
}
