internal import SystemCalls

/// The signals that ask a server to stop. They are blocked before any thread starts, so that only the one that waits for
/// them gets them.
enum Signals {
    private static var wanted: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&set, number) }
        return set
    }

    static func hold() {
        // A file that reaches a limit of its size is an error of the write, not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
        var set = wanted
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for one of them, at most some seconds; false when none came.
    static func wait(seconds: Int) -> Bool {
        var set = wanted
        var limit = timespec(tv_sec: seconds, tv_nsec: 0)
        return unsafe sigtimedwait(&set, nil, &limit) > 0
    }
}
