internal import SystemCalls

/// The second screen of a terminal: what is shown there leaves nothing behind, on the terminal or in what it keeps to scroll back to.
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

    /// Whether what is shown there may be kept to scroll back to: where `$TERM` names tmux or screen, their users may have switched the
    /// second screen off, and emptying the first one puts what was on it there.
    package static var mayBeKept: Bool {
        guard let kind = unsafe getenv("TERM") else { return false }
        return unsafe strncmp(kind, "screen", 6) == 0 || strncmp(kind, "tmux", 4) == 0
    }

    // `asm-generic/ioctls.h`
    private static let getDevice: UInt = 0x8004_5432
}
