internal import SystemCalls

/// A thread that runs one function and can be waited for. It blocks all signals: they are the main thread's.
package final class ServerThread: @unchecked Sendable {  // set once, before anybody else sees it
    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// pthread's own name of it: a number on Linux, an address on Darwin.
    private let name: UInt

    /// Starts; nil when the system has no thread left.
    package init?(_ body: @escaping @Sendable () -> Void) {
        let context = unsafe Unmanaged.passRetained(Box(body))
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        #if canImport(Glibc)
        var thread: pthread_t = 0
        #else
        var thread: pthread_t?
        #endif
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                #if canImport(Glibc)
                guard let context = unsafe context else { return nil }
                #endif
                // The thread owns the box from here on.
                let box = unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
                box.body()
                return nil
            }, context.toOpaque())
        guard status == 0 else {
            unsafe context.release()
            return nil
        }
        #if canImport(Glibc)
        name = thread
        #else
        name = unsafe UInt(bitPattern: thread)
        #endif
    }

    /// Waits for its end. Called once.
    package func join() {
        #if canImport(Glibc)
        pthread_join(name, nil)
        #else
        if let thread = unsafe pthread_t(bitPattern: name) { unsafe pthread_join(thread, nil) }
        #endif
    }
}
