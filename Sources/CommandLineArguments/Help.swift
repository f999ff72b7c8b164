/// Help texts, made from the table.
extension ProgramTable {
    /// Help for the command or group that the words name; without words, the list of all commands.
    /// - Throws: ``UsageError`` if the words name no command.
    package func help(for words: [String]) throws(UsageError) -> String {
        if words.isEmpty { return overview }
        if let command = command(words) { return help(for: command.syntax) }
        let commands = group(words)
        guard !commands.isEmpty else {
            let asked = words.joined(separator: " ")
            throw UsageError("unknown command \(asked)" + Suggestion.hint(asked, syntaxes.map(\.name)))
        }
        return "Usage: \(name) \(words.joined(separator: " ")) COMMAND\n\nCommands:\n" + HelpText.list(commands)
    }

    private func help(for command: CommandSyntax) -> String {
        let summary = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
        var text = HelpText.wrapped(summary) + "\n"
        text += HelpText.wrapped(
            "\(name) \(command.usage)", first: "Usage: ",
            indent: 7 + name.utf8.count + 1 + command.name.utf8.count + 1)
        for paragraph in command.details { text += "\n" + HelpText.wrapped(paragraph) }
        for (title, rows) in sections(of: command) { text += "\n\(title):\n" + HelpText.definitions(rows) }
        text += "\nExample:\n  \(command.example)\n"
        for note in notes where note.applies(command) { text += "\n" + HelpText.wrapped(note.text) }
        return text
    }

    /// Places and options, by group where the command has groups.
    private func sections(of command: CommandSyntax) -> [(title: String, rows: [(String, String)])] {
        func row(_ option: Option) -> (String, String) {
            (option == Flag.help.option ? "-h, --help" : option.listed, option.help)
        }
        let grouped = command.groups.flatMap(\.options)
        let rest = command.places.map { ($0.name, $0.help) } + command.options.filter { !grouped.contains($0) }.map(row)
        let groups = command.groups.map { group in
            (group.title, command.options.filter { group.options.contains($0) }.map(row))
        }
        return [("Options", rest)] + groups.filter { !$0.1.isEmpty }
    }

    private var overview: String {
        var text = HelpText.wrapped(about)
        text += "\nUsage: \(name) COMMAND ...\n\n"
        for section in sections {
            text += "\(section.title):\n" + HelpText.list(section.commands.map(\.syntax)) + "\n"
        }
        text += "Example:\n  \(example)\n\n"
        text +=
            HelpText.wrapped("\(name) COMMAND --help describes a command; \(name) --version prints the version.") + "\n"
        for note in notes { text += HelpText.wrapped(note.text) + "\n" }
        return text + "Exit codes:\n" + HelpText.definitions(exitCodes.map { ("\($0.0)", $0.1) })
    }
}

private enum HelpText {
    private static let width = 80

    static func list(_ commands: [CommandSyntax]) -> String {
        definitions(commands.map { ($0.name, $0.summary) })
    }

    /// Terms and their meanings, in two columns.
    static func definitions(_ rows: [(String, String)]) -> String {
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
            if let last = pieces.last, last.hasPrefix("["), !last.hasSuffix("]"), !last.hasSuffix("]...") {
                pieces[pieces.count - 1] += " " + word
            } else {
                pieces.append(String(word))
            }
        }
        return pieces
    }
}
