internal import Holdfast
internal import Synchronization
internal import SystemCalls

/// Signals as a queue that also tells who sent them, which a handler of ``SignalWatch`` does not. They stay blocked for
/// the rest of the process; what was ignored is left alone.
final class SignalQueue {
    /// A signal that came.
    struct Arrived: Sendable {
        let number: Int32
        /// Sent by the kernel, as for a terminal's keys: then it went to the whole foreground group.
        let isFromKernel: Bool
    }

    /// Readable when a signal came.
    let descriptor: Int32
    /// What was blocked before, for a child.
    let maskBefore: sigset_t
    private let arrived: Arrivals

    private final class Arrivals: Sendable {
        let waiting = Mutex<[Arrived]>([])
    }

    init(_ numbers: [Int32]) throws(CommandError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failure(.system, "pipe: \(SystemError.last)") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        var set = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&set)
        for number in numbers where number == SIGCHLD || !SignalWatch.isIgnored(number) {
            unsafe sigaddset(&set, number)
        }
        unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
        let arrived = Arrivals()
        let (waker, waited) = (ends[1], set)
        let isStarted = DetachedThread.start {
            while true {
                var set = waited
                var information = unsafe siginfo_t()
                let number = unsafe sigwaitinfo(&set, &information)
                guard number > 0 else { continue }
                arrived.waiting.withLock { waiting in
                    // A flood of signals is one signal.
                    guard waiting.count < 64 else { return }
                    waiting.append(Arrived(number: number, isFromKernel: unsafe information.si_code > 0))
                }
                var byte: UInt8 = 0
                _ = unsafe write(waker, &byte, 1)
            }
        }
        guard isStarted else { throw .failure(.system, "the system has no thread left") }
        descriptor = ends[0]
        maskBefore = before
        self.arrived = arrived
    }

    /// The signals that came since the last look.
    func drain() -> [Arrived] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
        return arrived.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}
