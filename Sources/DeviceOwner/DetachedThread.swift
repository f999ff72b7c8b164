internal import SystemCalls

/// A thread that nobody joins, for work that blocks, as asking a device or a person does: it goes when its work is done.
package enum DetachedThread {
    private final class Start {
        let job: @Sendable () -> Void
        init(_ job: @escaping @Sendable () -> Void) { self.job = job }
    }

    /// - Returns: False when no thread can be had.
    package static func start(_ job: @escaping @Sendable () -> Void) -> Bool {
        #if canImport(Glibc)
        var thread: pthread_t = 0
        #else
        var thread: pthread_t?
        #endif
        let start = unsafe Unmanaged.passRetained(Start(job))
        let error = unsafe pthread_create(
            &thread, nil,
            { argument in
                #if canImport(Glibc)
                guard let argument = unsafe argument else { return nil }
                #endif
                unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().job()
                return nil
            }, start.toOpaque())
        guard error == 0 else {
            unsafe start.release()
            return false
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #endif
        return true
    }
}
