/// Help texts, made from the command table.
enum Help {
    private static let width = 80

    /// Help for what these words name; everything when there are none.
    /// - Throws: A usage error for words that name nothing.
    static func text(for words: [String]) throws(CommandError) -> String {
        if words.isEmpty { return overview }
        if let command = CommandTable.command(words) { return text(for: command) }
        let commands = CommandTable.group(words)
        guard !commands.isEmpty else {
            let names = CommandTable.all.map(\.name)
            let asked = words.joined(separator: " ")
            throw .usage("there is no command \(asked)" + Suggestion.hint(asked, names))
        }
        return "usage: holdfast \(words.joined(separator: " ")) COMMAND\n\n" + list(commands)
    }

    static func text(for command: Command) -> String {
        var text = wrapped(command.usage, first: "usage: ", indent: 7 + 9 + command.name.utf8.count + 1)
        for paragraph in command.details { text += "\n" + wrapped(paragraph) }
        text += "\n"
        var rows = command.places.map { ($0.name, $0.help) }
        rows += command.options.map { ($0 == Options.help.option ? "-h, --help" : $0.synopsis, $0.help) }
        text += definitions(rows)
        if command.options.contains(Options.home.option) { text += "\n" + wrapped(homeRule) }
        if command.options.contains(where: { $0.kind == .descriptor }) { text += "\n" + wrapped(secretRule) }
        return text
    }

    private static var overview: String {
        "usage: holdfast COMMAND ...\n\n" + wrapped("Keeps secrets in an encrypted vault that only its passcode opens.")
            + "\n" + list(CommandTable.all) + "\n"
            + wrapped("holdfast COMMAND --help tells more, holdfast --version the version.") + "\n"
            + wrapped(homeRule) + "\n" + wrapped(secretRule) + "\nExit codes:\n"
            + definitions(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
    }

    private static let homeRule =
        "The vault is in the folder given with --home, else in $HOLDFAST_HOME, else in $XDG_DATA_HOME/holdfast, else in "
        + "~/.local/share/holdfast."

    private static let secretRule =
        "Secrets are asked for on the terminal without showing them, or read from the file descriptor that is named, one "
        + "line each without its newline. They are never taken from arguments or the environment."

    private static func list(_ commands: [Command]) -> String {
        definitions(commands.map { ($0.name, $0.summary) })
    }

    /// Terms and what they mean, in two columns.
    private static func definitions(_ rows: [(String, String)]) -> String {
        let indent = (rows.map(\.0.utf8.count).max() ?? 0) + 4
        return rows.map { term, meaning in
            let label = "  " + term + String(repeating: " ", count: indent - 2 - term.utf8.count)
            return wrapped(meaning, first: label, indent: indent)
        }.joined()
    }

    /// Breaks lines between words; an option and its value, in brackets, stay together.
    static func wrapped(_ text: String, first: String = "", indent: Int = 0) -> String {
        var lines = ""
        var line = first
        var isFresh = true
        for word in pieces(text) {
            if !isFresh && line.utf8.count + 1 + word.utf8.count > width {
                lines += line + "\n"
                line = String(repeating: " ", count: indent)
                isFresh = true
            }
            line += (isFresh ? "" : " ") + word
            isFresh = false
        }
        return lines + line + "\n"
    }

    private static func pieces(_ text: String) -> [String] {
        var pieces: [String] = []
        for word in text.split(separator: " ") {
            if let last = pieces.last, last.hasPrefix("["), !last.hasSuffix("]") {
                pieces[pieces.count - 1] += " " + word
            } else {
                pieces.append(String(word))
            }
        }
        return pieces
    }
}
