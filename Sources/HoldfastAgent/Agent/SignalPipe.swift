internal import VaultCore
internal import VaultStorage
internal import SystemCalls

/// A pipe that wakes the agent: signals write to it, and other threads that have finished something.
struct SignalPipe: ~Copyable {
    /// Readable after a signal or a ``Waker/wake()``.
    let descriptor: Int32
    let waker: Waker

    /// The senders that write 0 to the pipe. It is never closed: a thread that ends late may still hold it.
    struct Waker: Sendable {
        fileprivate let descriptor: Int32

        func wake() {
            var byte: UInt8 = 0
            _ = unsafe write(descriptor, &byte, 1)  // a full pipe wakes as well
        }
    }

    /// Signals that end the agent. A terminal that goes away must not leave the keys behind.
    static let ending = [SIGTERM, SIGINT, SIGHUP]

    /// Takes over the signals of the process, for good.
    init() throws(VaultError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .system("making a pipe") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            LocalSocket.setNonBlocking(end)
        }
        descriptor = ends[0]
        waker = Waker(descriptor: ends[1])
        unsafe target.pointee = ends[1]
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for number in SignalPipe.ending + [SIGALRM] {
            var action = sigaction.writingToPipe
            unsafe sigaction(number, &action, nil)
            unsafe sigaddset(&mask, number)
        }
        signal(SIGPIPE, SIG_IGN)
        // A parent may have left them blocked.
        unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    /// The signals that came since the last look.
    func drain() -> [Int32] {
        var signals: [Int32] = []
        var bytes = [UInt8](repeating: 0, count: 64)
        while true {
            let count = unsafe read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return signals }
            signals += bytes[..<count].filter { $0 != 0 }.map { Int32($0) }
        }
    }

    deinit {
        unsafe target.pointee = -1
        close(descriptor)
    }
}

/// Where the handler writes. Memory of its own, because a handler may touch nothing that Swift initialises lazily; it
/// is made before the first handler is installed.
nonisolated(unsafe) private let target: UnsafeMutablePointer<Int32> = {
    let place = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    unsafe place.initialize(to: -1)
    return unsafe place
}()

extension sigaction {
    /// Nothing but write(2) in the handler, and errno put back.
    fileprivate static var writingToPipe: sigaction {
        var action = sigaction()
        let handler: @convention(c) (Int32) -> Void = { signal in
            let number = errno
            var byte = UInt8(truncatingIfNeeded: signal)
            _ = unsafe write(target.pointee, &byte, 1)
            errno = number
        }
        #if canImport(Glibc) && !canImport(Darwin)
        unsafe action.__sigaction_handler.sa_handler = handler
        #else
        unsafe action.__sigaction_u.__sa_handler = handler
        #endif
        return action
    }
}
