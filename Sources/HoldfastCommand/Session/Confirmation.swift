internal import CommandLineArguments

/// Asks the user on the terminal to confirm what cannot be undone.
enum Confirmation {
    /// Makes sure that there is a terminal to ask on, before anything is done.
    /// - Throws: A usage error.
    static func require(_ arguments: Arguments) throws(CommandError) {
        guard !arguments[Options.yes], !Terminal.isThere else { return }
        throw .usage("no terminal to confirm on; use --yes to skip the confirmation")
    }

    /// Tells what will happen and waits for a word to be typed; with `--yes` does nothing.
    /// - Throws: `cancelled` for anything but the word.
    static func ask(_ arguments: Arguments, _ text: String, word: String) throws(CommandError) {
        guard !arguments[Options.yes] else { return }
        guard let terminal = Terminal() else { throw .usage("no terminal to confirm on") }
        try terminal.write(Escaping.sentence(text) + "\n")
        guard try terminal.readAnswer(prompt: "Type \(word) to continue: ") == word else {
            throw .failure("cancelled", "cancelled; nothing was changed")
        }
    }
}
