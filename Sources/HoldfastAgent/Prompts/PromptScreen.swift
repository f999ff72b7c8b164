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
    private let isWindow: Bool
    private var isShown = false

    /// - Returns: Nil where the terminal cannot be used for a question.
    init?(_ terminal: UInt32) {
        guard let descriptor = PromptPlace.open(terminal: terminal) else { return nil }
        var settings = termios()
        // A program that reads single keys, as an editor, has the screen for itself.
        guard unsafe tcgetattr(descriptor, &settings) == 0, settings.c_lflag & tcflag_t(ICANON) != 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        isWindow = PromptPlace.isWindow(terminal: terminal)
    }

    /// Shows the question. What was typed before is thrown away: it is no answer.
    /// - Returns: Whether it could be written in time.
    mutating func show(_ text: String, _ deadline: UInt64, _ cancellation: Cancellation) -> Bool {
        tcflush(descriptor, TCIFLUSH)
        let screen = isWindow ? SecondScreen.enter : "\r\n"
        isShown = true
        guard TerminalPrompt.write(screen + text, descriptor, deadline, cancellation) else { return false }
        if isWindow { tcflow(descriptor, TCOOFF) }
        return true
    }

    /// Gives the terminal back.
    /// - Parameter words: A line that is left on it.
    mutating func end(saying words: String? = nil) {
        guard isShown else { return }
        isShown = false
        if isWindow { tcflow(descriptor, TCOON) }
        let line = words.map { "\r\nholdfast: \($0)\r\n" } ?? ""
        // What was stopped continues now, and may be much.
        let deadline = MonotonicClock.milliseconds + 1000
        _ = TerminalPrompt.write((isWindow ? SecondScreen.leave : "\r\n") + line, descriptor, deadline, nil)
    }

    /// For a client whose agent ended while its question stood here: what it writes would wait for ever.
    static func giveBack() {
        let terminal = unsafe open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return }
        defer { close(terminal) }
        guard tcgetpgrp(terminal) == getpgrp() else { return }
        tcflow(terminal, TCOON)
        var settings = termios()
        if unsafe tcgetattr(terminal, &settings) == 0 {
            settings.c_lflag |= tcflag_t(ECHO)
            _ = unsafe tcsetattr(terminal, TCSANOW, &settings)
        }
        guard SecondScreen.isThere(terminal) else { return }
        _ = TerminalPrompt.write(SecondScreen.leave, terminal, MonotonicClock.milliseconds + 1000, nil)
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
        guard !isDumb else { return false }
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
