internal import SystemCalls

/// Makes Ctrl-C and its like wait for the end of something that must not be cut in two: a vault that exists and its
/// phrase that was not shown yet.
enum HeldSignals {
    static func during<R: ~Copyable>(_ body: () throws(CommandError) -> R) throws(CommandError) -> R {
        var held = sigset_t()
        var previous = sigset_t()
        unsafe sigemptyset(&held)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { unsafe sigaddset(&held, signal) }
        unsafe sigprocmask(SIG_BLOCK, &held, &previous)
        defer { unsafe sigprocmask(SIG_SETMASK, &previous, nil) }
        return try body()
    }

    /// Lets them in again for as long as the user is asked for something.
    static func released<R: ~Copyable>(_ body: () throws(CommandError) -> R) throws(CommandError) -> R {
        var held = sigset_t()
        var previous = sigset_t()
        unsafe sigemptyset(&held)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { unsafe sigaddset(&held, signal) }
        unsafe sigprocmask(SIG_UNBLOCK, &held, &previous)
        defer { unsafe sigprocmask(SIG_SETMASK, &previous, nil) }
        return try body()
    }
}
