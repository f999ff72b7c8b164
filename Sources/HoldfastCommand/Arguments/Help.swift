/// Help texts, made from the command table.
enum Help {
    private static let width = 80

    /// Help for the command or group that the words name; without words, the list of all commands.
    /// - Throws: A usage error if the words name no command.
    static func text(for words: [String]) throws(CommandError) -> String {
        if words.isEmpty { return overview }
        if let command = CommandTable.command(words) { return text(for: command) }
        let commands = CommandTable.group(words)
        guard !commands.isEmpty else {
            let names = CommandTable.all.map(\.name)
            let asked = words.joined(separator: " ")
            throw .usage("unknown command \(asked)" + Suggestion.hint(asked, names))
        }
        return "Usage: holdfast \(words.joined(separator: " ")) COMMAND\n\nCommands:\n" + list(commands)
    }

    static func text(for command: Command) -> String {
        var text = wrapped(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".") + "\n"
        text += wrapped(command.usage, first: "Usage: ", indent: 7 + 9 + command.name.utf8.count + 1)
        for paragraph in command.details { text += "\n" + wrapped(paragraph) }
        text += "\nOptions:\n"
        var rows = command.places.map { ($0.name, $0.help) }
        rows += command.options.map { ($0 == Options.help.option ? "-h, --help" : $0.synopsis, $0.help) }
        text += definitions(rows)
        text += "\nExample:\n  \(command.example)\n"
        if command.options.contains(Options.home.option) { text += "\n" + wrapped(homeRule) }
        if command.options.contains(where: { $0.kind == .descriptor }) { text += "\n" + wrapped(secretRule) }
        return text
    }

    private static var overview: String {
        var text = wrapped("Keeps secrets in an encrypted vault, locked with a passcode.")
        text += "\nUsage: holdfast COMMAND ...\n\n"
        for section in CommandTable.sections { text += "\(section.title):\n" + list(section.commands) + "\n" }
        text += "Example:\n  holdfast put mail --collection logins\n\n"
        text += wrapped("holdfast COMMAND --help describes a command; holdfast --version prints the version.") + "\n"
        text += wrapped(homeRule) + "\n" + wrapped(secretRule) + "\nExit codes:\n"
        return text + definitions(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
    }

    private static let homeRule =
        "The vault is in the folder given with --home, otherwise in $HOLDFAST_HOME, $XDG_DATA_HOME/holdfast, or "
        + "~/.local/share/holdfast."

    private static let secretRule =
        "Secrets are entered on the terminal without being shown, or read from the file descriptor you name, one line "
        + "each. They are never read from arguments or the environment."

    private static func list(_ commands: [Command]) -> String {
        definitions(commands.map { ($0.name, $0.summary) })
    }

    /// Terms and their meanings, in two columns.
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
