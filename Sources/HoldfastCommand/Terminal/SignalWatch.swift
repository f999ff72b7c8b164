internal import SystemCalls

/// Turns signals into bytes on a pipe while it lives, so that code that polls the pipe handles them at a safe point and
/// misses none. What was ignored stays ignored. One at a time.
package struct SignalWatch: ~Copyable {
    /// Readable when a signal came.
    package let descriptor: Int32
    private let writeEnd: Int32
    private let previous: [(Int32, sigaction)]
    private let previousMask: sigset_t

    package init(_ signals: [Int32]) throws(CommandError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failure(.system, "pipe: \(SystemError.last)") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        writeEnd = ends[1]
        unsafe signalPipe.pointee = ends[1]
        var previous: [(Int32, sigaction)] = []
        for signal in signals {
            var old = sigaction()
            guard unsafe sigaction(signal, nil, &old) == 0, !old.isIgnored else { continue }
            var action = sigaction.writingToPipe
            unsafe sigaction(signal, &action, nil)
            previous.append((signal, old))
        }
        self.previous = previous
        // A parent may have left them blocked; then a prompt could not be interrupted.
        var unblocked = sigset_t()
        var mask = sigset_t()
        unsafe sigemptyset(&unblocked)
        for signal in signals { unsafe sigaddset(&unblocked, signal) }
        unsafe pthread_sigmask(SIG_UNBLOCK, &unblocked, &mask)
        previousMask = mask
    }

    /// Whether a signal has no effect on this process, as a parent may have arranged.
    static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        return unsafe sigaction(signal, nil, &action) == 0 && action.isIgnored
    }

    /// The next signal that came; nil when none did.
    package func next() -> Int32? {
        var number: UInt8 = 0
        return unsafe read(descriptor, &number, 1) == 1 ? Int32(number) : nil
    }

    /// Stops the process as its default for SIGTSTP would, and returns when it is continued.
    func stop() {
        var standard = sigaction.standard
        var ours = sigaction()
        unsafe sigaction(SIGTSTP, &standard, &ours)
        raise(SIGTSTP)
        unsafe sigaction(SIGTSTP, &ours, nil)
    }

    deinit {
        var mask = previousMask
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        for (signal, action) in previous {
            var action = action
            unsafe sigaction(signal, &action, nil)
        }
        unsafe signalPipe.pointee = -1
        close(writeEnd)
        close(descriptor)
    }
}

/// Where the handler writes. Memory of its own, because a handler may touch nothing that Swift initialises lazily or
/// watches for overlapping access; it is made before the first handler is installed.
nonisolated(unsafe) private let signalPipe: UnsafeMutablePointer<Int32> = {
    let place = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    unsafe place.initialize(to: -1)
    return unsafe place
}()

extension sigaction {
    static var standard: sigaction {
        var action = sigaction()
        action.setHandler(SIG_DFL)
        return action
    }

    /// No SA_RESTART: a read that waits must come back. Nothing but write(2) in the handler, and errno put back.
    fileprivate static var writingToPipe: sigaction {
        var action = sigaction()
        action.setHandler { signal in
            let number = errno
            var byte = UInt8(truncatingIfNeeded: signal)
            _ = unsafe write(signalPipe.pointee, &byte, 1)
            errno = number
        }
        return action
    }

    mutating func setHandler(_ handler: (@convention(c) (Int32) -> Void)?) {
        #if canImport(Glibc) && !canImport(Darwin)
        unsafe __sigaction_handler.sa_handler = handler
        #else
        unsafe __sigaction_u.__sa_handler = handler
        #endif
    }

    fileprivate var isIgnored: Bool { isHandled(by: SIG_IGN) }

    var isStandard: Bool { isHandled(by: SIG_DFL) }

    func isHandled(by other: (@convention(c) (Int32) -> Void)?) -> Bool {
        #if canImport(Glibc) && !canImport(Darwin)
        let handler = unsafe __sigaction_handler.sa_handler
        #else
        let handler = unsafe __sigaction_u.__sa_handler
        #endif
        return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(other, to: Int.self)
    }
}
