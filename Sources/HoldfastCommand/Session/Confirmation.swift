internal import CommandLineArguments
internal import SystemCalls

/// Asks the user on the terminal to confirm what cannot be undone.
enum Confirmation {
    /// Makes sure that there is a terminal to ask on, before anything is done.
    /// - Throws: A usage error.
    static func require(_ arguments: Arguments) throws(CommandError) {
        guard !arguments[Options.yes], !Terminal.isThere else { return }
        throw .usage("no terminal to confirm on; use --yes to skip the confirmation")
    }

    /// Tells what will happen and waits for a word to be typed; with `--yes` does nothing.
    /// - Throws: As ``wait(_:for:on:)``.
    static func ask(_ arguments: Arguments, _ text: String, word: String) throws(CommandError) {
        guard !arguments[Options.yes] else { return }
        guard let terminal = Terminal() else { throw .usage("no terminal to confirm on") }
        try terminal.say(text)
        try wait("Type \(typed(word)) to continue: ", for: word, on: terminal)
    }

    /// Asks whether something is wanted that is rarely meant; without a terminal it is.
    static func isWanted(_ question: String) throws(CommandError) -> Bool {
        guard let terminal = Terminal() else { return true }
        return try isYes(question, on: terminal)
    }

    /// Asks whether something is meant.
    /// - Throws: `cancelled` for everything but a yes; `interrupted`.
    static func requireYes(_ question: String, on terminal: borrowing Terminal) throws(CommandError) {
        guard try isYes(question, on: terminal) else { throw ItemNames.cancelled }
    }

    private static func isYes(_ question: String, on terminal: borrowing Terminal) throws(CommandError) -> Bool {
        ["y", "yes"].contains(try terminal.readAnswer(prompt: "\(question) [y/N] ").lowercased())
    }

    /// Waits for a word, in any case; `y` is `yes`. Anything else asks again: a slip must not undo what was typed
    /// before.
    /// - Throws: `interrupted` after Ctrl-C; `cancelled` at an end of input.
    static func wait(_ prompt: String, for word: String, on terminal: borrowing Terminal) throws(CommandError) {
        while true {
            let answer = try terminal.readAnswer(prompt: prompt).lowercased().filter { !$0.isWhitespace }
            if answer == word || (word == "yes" && answer == "y") { return }
            try terminal.write("Only \(typed(word)) continues; press Ctrl-C to cancel.\n")
        }
    }

    /// What is taken for a word.
    private static func typed(_ word: String) -> String { word == "yes" ? "y or yes" : word }
}

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
