/// Ends the process at once, as `exit(3)` does but without the libraries' own ends: these give up what a thread that
/// nobody joins may be using, and it would end by a signal.
package func endProcess(with code: Int32) -> Never {
    fflush(nil)
    _exit(code)
}

/// A thread that nobody joins, for work that blocks, such as asking a device, a person or a network: the threads of the
/// concurrency runtime are few and must not wait. It goes when its work is done.
package enum DetachedThread {
    /// Starts a thread that runs `job`.
    /// - Returns: False when the system has no thread left; then `job` does not run.
    package static func start(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard let name = startThread(job) else { return false }
        #if canImport(Darwin)
        if let thread = unsafe pthread_t(bitPattern: name) { unsafe pthread_detach(thread) }
        #else
        pthread_detach(name)
        #endif
        return true
    }
}

/// A thread that runs one function and can be waited for. It blocks all signals: they are for the main thread.
package final class JoinableThread: Sendable {
    private let name: UInt

    /// Starts a thread that runs `job`; nil when the system has no thread left.
    package init?(_ job: @escaping @Sendable () -> Void) {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        guard let name = startThread(job) else { return nil }
        self.name = name
    }

    /// Waits until the thread has ended. Called once.
    package func join() {
        #if canImport(Darwin)
        if let thread = unsafe pthread_t(bitPattern: name) { unsafe pthread_join(thread, nil) }
        #else
        pthread_join(name, nil)
        #endif
    }
}

private final class Job {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Starts a thread with the signal mask of this one.
/// - Returns: pthread's own name of it, a number on Linux and an address on Darwin; nil when the system has no thread
///   left.
private func startThread(_ run: @escaping @Sendable () -> Void) -> UInt? {
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread: pthread_t = 0
    #endif
    let job = unsafe Unmanaged.passRetained(Job(run))
    let status = unsafe pthread_create(
        &thread, nil,
        { argument in
            #if !canImport(Darwin)
            guard let argument = unsafe argument else { return nil }
            #endif
            // The thread owns the job from here on.
            unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }, job.toOpaque())
    guard status == 0 else {
        unsafe job.release()
        return nil
    }
    #if canImport(Darwin)
    return UInt(bitPattern: thread)
    #else
    return thread
    #endif
}

/// The thread that asks.
package enum CurrentThread {
    /// The thread as a word: threads are addresses of large, aligned blocks.
    @inlinable
    package static var word: UInt {
        #if canImport(Darwin)
        unsafe UInt(bitPattern: pthread_self())
        #else
        pthread_self()
        #endif
    }
}
