internal import SystemCalls

/// The signals that ask something of a server. They are blocked before any thread starts, so that only the one that waits for
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

    enum Request { case stop, reload }

    /// Waits for one of them, at most some seconds; nil when none came.
    static func wait(seconds: Int) -> Request? {
        var set = wanted
        var limit = timespec(tv_sec: seconds, tv_nsec: 0)
        switch unsafe sigtimedwait(&set, nil, &limit) {
        case SIGHUP: return .reload
        case SIGTERM, SIGINT: return .stop
        default: return nil
        }
    }

    /// Waits until the server is asked to stop, for one that has nothing to reload.
    static func waitForStop() {
        while wait(seconds: 3600) == nil {}
    }
}
