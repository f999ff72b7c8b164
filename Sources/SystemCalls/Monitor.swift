/// A value behind a mutex, with a condition to wait for: what `Synchronization.Mutex` lacks for waiting.
///
/// Inlinable: a vault's reads and writes pass through one.
@safe package final class Monitor<State>: @unchecked Sendable {  // the pthread objects are made to be shared
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // Behind a pointer like the others: the mutex rules out what Swift would check again at every access.
    @usableFromInline let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    @inlinable
    package init(_ initial: State) {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
        unsafe state.initialize(to: initial)
    }

    @inlinable
    deinit {
        unsafe state.deinitialize(count: 1)
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe state.deallocate()
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` while no other thread is in this or ``withLock(when:_:)``. Not to be nested.
    @inlinable
    @inline(__always)
    package func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&state.pointee)
    }

    /// As ``withLock(_:)``, as soon as `isReady` is true; meanwhile other threads are let in. It looks again after each
    /// ``wakeAll()`` and, on one thread, after each ``wakeOne()``.
    @inlinable
    package func withLock<R>(when isReady: (State) -> Bool, _ body: (inout State) -> R) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while unsafe !isReady(state.pointee) { unsafe pthread_cond_wait(condition, mutex) }
        return unsafe body(&state.pointee)
    }

    /// Makes all threads that wait look again.
    @inlinable
    package func wakeAll() { unsafe pthread_cond_broadcast(condition) }

    /// Makes one thread that waits look again.
    @inlinable
    package func wakeOne() { unsafe pthread_cond_signal(condition) }
}
