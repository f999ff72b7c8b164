internal import SystemCalls

/// Work that blocks, in a thread of its own: those of the concurrency runtime are few, and must not wait for a network.
final class OneThread: Sendable {
    private let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    /// Starts it; false when the system gives no thread, and then it is not done.
    func start() -> Bool {
        // The thread takes this reference over.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
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
                unsafe Unmanaged<OneThread>.fromOpaque(context).takeRetainedValue().work()
                return nil
            }, context)
        guard status == 0 else {
            unsafe Unmanaged<OneThread>.fromOpaque(context).release()
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
