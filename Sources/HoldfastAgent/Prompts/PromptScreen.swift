internal import DeviceOwner
internal import SystemCalls

/// A terminal while a question stands on it: on a screen of its own, with everybody else's output stopped. What a
/// program in front shows may come from another host, which could write over the question, and have it answered as one
/// of its own.
///
/// What is typed is not shown until this ends. A terminal that is no window (a console, a serial line) has neither a
/// second screen nor a stop: there the word that an answer needs is all that protects the question.
struct PromptScreen: ~Copyable {
    let descriptor: Int32
    private let terminal: UInt32
    private let question: Question
    private let isWindow: Bool
    /// Of the terminal's settings, what was on before.
    private let before: tcflag_t
    private var isShown = false
    private var guardian: TerminalGuard?

    /// The settings that show what is typed.
    static let echo = tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)

    /// - Returns: Nil where the terminal cannot be used for a question.
    init?(_ terminal: UInt32, for question: Question) {
        guard let descriptor = PromptPlace.open(terminal: terminal) else { return nil }
        var settings = termios()
        // A program that reads single keys, as an editor, has the screen for itself.
        guard unsafe tcgetattr(descriptor, &settings) == 0, settings.c_lflag & tcflag_t(ICANON) != 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.terminal = terminal
        self.question = question
        isWindow = PromptPlace.isWindow(terminal: terminal)
        before = settings.c_lflag & PromptScreen.echo
    }

    /// Shows the question. What was typed before is thrown away: it is no answer.
    /// - Returns: Whether it could be written in time.
    mutating func show(_ text: String, _ deadline: UInt64, _ cancellation: Cancellation) -> Bool {
        guardian = TerminalGuard(descriptor, echo: before)
        isShown = true
        guard PromptScreen.change(descriptor, { $0 & ~PromptScreen.echo }) else { return false }
        tcflush(descriptor, TCIFLUSH)
        let screen = isWindow ? SecondScreen.enter : "\r\n"
        guard TerminalPrompt.write(screen + text, descriptor, deadline, cancellation) else { return false }
        if isWindow { tcflow(descriptor, TCOOFF) }
        return true
    }

    /// Gives the terminal back.
    /// - Parameter words: A line that is left on it.
    mutating func end(saying words: String? = nil) {
        guard isShown else { return }
        isShown = false
        let line = words.map { "\r\nholdfast: \($0)\r\n" } ?? ""
        // One that reads already may have turned the echo off for itself, which changed nothing.
        let isTaken = !question.isInFront && TerminalReaders.isRead(terminal, of: question.process)
        PromptScreen.giveBack(descriptor, isWindow, isTaken ? 0 : before, line)
        guardian = nil
    }

    /// The echo is back last: a terminal that shows what is typed has been given back.
    private static func giveBack(_ descriptor: Int32, _ isWindow: Bool, _ before: tcflag_t, _ line: String) {
        if isWindow { tcflow(descriptor, TCOON) }
        // What was stopped continues now, and may be much.
        let deadline = MonotonicClock.milliseconds + 1000
        _ = TerminalPrompt.write((isWindow ? SecondScreen.leave : "\r\n") + line, descriptor, deadline, nil)
        if isAsLeft(descriptor) { _ = change(descriptor) { $0 | before } }
    }

    /// Gives a terminal back that a question was left on.
    static func giveBack(_ descriptor: Int32, echo before: tcflag_t) {
        if isAsLeft(descriptor) {
            giveBack(descriptor, SecondScreen.isWindow(descriptor), before, "")
        } else {
            tcflow(descriptor, TCOON)
        }
    }

    /// For a client whose agent ended while its question stood here: what it writes would wait for ever. The guard
    /// gives the terminal back, unless it ended with the agent.
    static func giveBack() {
        let terminal = unsafe open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard terminal >= 0 else { return }
        defer { close(terminal) }
        let deadline = MonotonicClock.milliseconds + 2000
        while tcgetpgrp(terminal) == getpgrp(), isAsLeft(terminal) {
            guard MonotonicClock.milliseconds < deadline else {
                return giveBack(terminal, echo: tcflag_t(ECHO | ECHOE | ECHOK))
            }
            usleep(10_000)
        }
    }

    /// Whether nobody has changed it since the question did. A shell that took it over has keys for itself, or echo.
    private static func isAsLeft(_ descriptor: Int32) -> Bool {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return false }
        return settings.c_lflag & (echo | tcflag_t(ICANON)) == tcflag_t(ICANON)
    }

    private static func change(_ descriptor: Int32, _ local: (tcflag_t) -> tcflag_t) -> Bool {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return false }
        settings.c_lflag = local(settings.c_lflag)
        return unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0
    }

    deinit { close(descriptor) }
}

/// The second screen of a terminal: what is shown there leaves nothing behind, on the terminal or in what it keeps to
/// scroll back to.
package enum SecondScreen {
    /// Goes there, and empties it.
    package static let enter = "\u{1B}[?1049h" + clear
    /// Goes back to what the terminal showed before.
    package static let leave = "\u{1B}[?1049l"
    package static let clear = "\u{1B}[2J\u{1B}[H"

    /// Whether a terminal has one: a window of some kind does, a console and a serial line do not.
    /// - Parameter descriptor: Of the terminal, under whatever name it was opened.
    package static func isThere(_ descriptor: Int32) -> Bool {
        !isDumb && isWindow(descriptor)
    }

    /// Whether it is a pseudoterminal.
    static func isWindow(_ descriptor: Int32) -> Bool {
        #if os(Linux) && !canImport(Darwin)
        var device: UInt32 = 0
        guard unsafe ioctl(descriptor, getDevice, &device) == 0 else { return false }
        return PromptPlace.isWindow(terminal: device)
        #else
        return true
        #endif
    }

    /// Whether `$TERM` says that the terminal obeys nothing.
    package static var isDumb: Bool {
        guard let kind = unsafe getenv("TERM") else { return true }
        return unsafe kind.pointee == 0 || strcmp(kind, "dumb") == 0
    }

    /// Whether what is shown there may be kept to scroll back to: where `$TERM` names tmux or screen, their users may
    /// have switched the second screen off, and emptying the first one puts what was on it there.
    package static var mayBeKept: Bool {
        guard let kind = unsafe getenv("TERM") else { return false }
        return unsafe strncmp(kind, "screen", 6) == 0 || strncmp(kind, "tmux", 4) == 0
    }

    // `asm-generic/ioctls.h`
    private static let getDevice: UInt = 0x8004_5432
}
