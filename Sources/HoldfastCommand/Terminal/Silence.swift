internal import SecretMemory
internal import SystemCalls

/// A terminal that shows nothing of what is typed, and drops it, while a command works: what is typed behind a passcode
/// is often that passcode again, and would be shown, or reach the shell.
///
/// The echo comes back when the body ends, when a signal ends the process, and while it is stopped with Ctrl-Z. Holding
/// it twice is holding it once.
enum Silence {
    /// Runs work with the terminal silent; without a terminal, or in the background, whose processes may not change its
    /// settings, as it is.
    static func hold<R: ~Copyable>(_ body: () throws(CommandError) -> R) throws(CommandError) -> R {
        guard begin() else { return try body() }
        defer { end() }
        return try body()
    }

    /// The settings of the terminal as the command found them; nil while it is not silent.
    static var original: termios? { unsafe silence.pointee.descriptor >= 0 ? silence.pointee.original : nil }

    /// For a command that is stopped by a watch of its own.
    static func pause() { set(\.original, TCSANOW) }

    /// After ``pause()``.
    static func resume() { set(\.silent, TCSAFLUSH) }

    private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private static func begin() -> Bool {
        guard unsafe silence.pointee.descriptor < 0 else { return false }
        // A library that is missing ends the process, and nothing would bring the echo back.
        CLibraries.load()
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        var original = termios()
        guard isInFront(descriptor), unsafe tcgetattr(descriptor, &original) == 0 else {
            close(descriptor)
            return false
        }
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        unsafe silence.pointee = SilenceState(descriptor: descriptor, original: original, silent: silent)
        // What another part watches for, or a parent ignores, is left to it.
        for signal in endings { install(sigaction.restoringEcho, for: signal) }
        install(sigaction.restoringEchoWhileStopped, for: SIGTSTP)
        resume()
        return true
    }

    private static func end() {
        // Once more without echo, which drops what came meanwhile.
        resume()
        pause()
        let descriptor = unsafe silence.pointee.descriptor
        unsafe silence.pointee.descriptor = -1
        for signal in endings + [SIGTSTP] { remove(signal) }
        close(descriptor)
    }

    private static func set(_ settings: KeyPath<SilenceState, termios>, _ when: Int32) {
        let state = unsafe silence.pointee
        guard state.descriptor >= 0, isInFront(state.descriptor) else { return }
        var settings = state[keyPath: settings]
        while unsafe tcsetattr(state.descriptor, when, &settings) != 0, errno == EINTR {}
    }

    /// Who changes the settings of a terminal from the background is stopped.
    private static func isInFront(_ descriptor: Int32) -> Bool { tcgetpgrp(descriptor) == getpgrp() }

    private static func install(_ action: sigaction, for signal: Int32) {
        var (old, action) = (sigaction(), action)
        guard unsafe sigaction(signal, nil, &old) == 0, old.isStandard else { return }
        unsafe sigaction(signal, &action, nil)
    }

    private static func remove(_ signal: Int32) {
        var (old, standard) = (sigaction(), sigaction.standard)
        guard unsafe sigaction(signal, nil, &old) == 0, old.isRestoringEcho else { return }
        unsafe sigaction(signal, &standard, nil)
    }
}

/// What the handlers need.
private struct SilenceState {
    var descriptor: Int32 = -1
    var original = termios()
    var silent = termios()
}

/// In memory of its own, as ``signalPipe``.
nonisolated(unsafe) private let silence: UnsafeMutablePointer<SilenceState> = {
    let place = UnsafeMutablePointer<SilenceState>.allocate(capacity: 1)
    unsafe place.initialize(to: SilenceState())
    return unsafe place
}()

extension sigaction {
    /// Nothing but system calls that a handler may make.
    fileprivate static var restoringEcho: sigaction {
        var action = sigaction()
        action.setHandler(echoRestorer)
        return action
    }

    fileprivate static var restoringEchoWhileStopped: sigaction {
        var action = sigaction()
        action.setHandler(stoppedEchoRestorer)
        return action
    }

    fileprivate var isRestoringEcho: Bool {
        isHandled(by: echoRestorer) || isHandled(by: stoppedEchoRestorer)
    }
}

/// Shows what is typed again, and ends as the signal would have ended the process.
private let echoRestorer: @convention(c) (Int32) -> Void = { signal in
    unsafe tcsetattr(silence.pointee.descriptor, TCSAFLUSH, &silence.pointee.original)
    raiseAsStandard(signal)
}

/// Stops the process, with the echo on meanwhile.
private let stoppedEchoRestorer: @convention(c) (Int32) -> Void = { signal in
    let number = errno
    let descriptor = unsafe silence.pointee.descriptor
    unsafe tcsetattr(descriptor, TCSANOW, &silence.pointee.original)
    raiseAsStandard(signal)
    if tcgetpgrp(descriptor) == getpgrp() { unsafe tcsetattr(descriptor, TCSAFLUSH, &silence.pointee.silent) }
    errno = number
}

/// Takes the signal's own effect; returns where that was a stop.
private func raiseAsStandard(_ signal: Int32) {
    var (standard, ours) = (sigaction.standard, sigaction())
    var (set, mask) = (sigset_t(), sigset_t())
    unsafe sigaction(signal, &standard, &ours)
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal)
    raise(signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, &mask)
    unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    unsafe sigaction(signal, &ours, nil)
}
