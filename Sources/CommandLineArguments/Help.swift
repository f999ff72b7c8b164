/// Help texts, made from the table.
extension ProgramTable where Command: TableCommand {
    /// Help for the topic, command or group that the words name; without words, the front page, or the list of all
    /// commands.
    /// - Throws: ``UsageError`` if the words name no command.
    package func help(for words: [String]) throws(UsageError) -> String {
        if words.isEmpty { return front?.page ?? overview }
        if words.count == 1, let page = page(words[0]) { return page }
        if let command = command(words) { return help(for: command.syntax) }
        let commands = group(words).isEmpty ? hiddenGroup(words) : group(words)
        guard !commands.isEmpty else {
            let asked = words.joined(separator: " ")
            throw UsageError("unknown command \(asked)" + Suggestion.hint(asked, syntaxes.map(\.name) + topics))
        }
        return "Usage: \(name) \(words.joined(separator: " ")) COMMAND\n\nCommands:\n" + HelpText.list(commands)
    }

    private func help(for command: CommandSyntax) -> String {
        let summary = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
        var text = HelpText.wrapped(summary) + "\n"
        text += HelpText.wrapped(
            "\(name) \(command.usage(own(command)))", first: "Usage: ",
            indent: 7 + name.utf8.count + 1 + command.name.utf8.count + 1)
        for paragraph in command.details { text += "\n" + HelpText.wrapped(paragraph) }
        for (title, rows) in sections(of: command) { text += "\n\(title):\n" + HelpText.definitions(rows) }
        text += "\nExample:\n  \(command.example)\n"
        guard let front else {
            for note in notes where note.applies(command) { text += "\n" + HelpText.wrapped(note.text) }
            return text
        }
        let shared = command.options.filter { front.common.contains($0) }
        return text + "\n"
            + HelpText.wrapped(
                "Also: \(shared.map(\.synopsis).joined(separator: ", ")). \(name) help options describes these.")
    }

    /// What the help of a command describes itself.
    private func own(_ command: CommandSyntax) -> [Option] {
        command.shownOptions.filter { !(front?.common.contains($0) ?? false) }
    }

    /// Places and options, by group where the command has groups.
    private func sections(of command: CommandSyntax) -> [(title: String, rows: [(String, String)])] {
        let grouped = command.groups.flatMap(\.options)
        let options = own(command)
        let rest =
            command.places.map { ($0.name, $0.help) }
            + options.filter { !grouped.contains($0) }.map { ($0.listed, $0.help) }
        let groups = command.groups.map { group in
            (group.title, options.filter { group.options.contains($0) }.map { ($0.listed, $0.help) })
        }
        return ([("Options", rest)] + groups).filter { !$0.1.isEmpty }
    }

    /// The page of a topic.
    private func page(_ word: String) -> String? {
        guard let front else { return nil }
        if word == "options" { return optionsPage(front) }
        if word == "all" { return overview }
        guard let topic = front.topics.first(where: { $0.word == word }) else { return nil }
        var text = HelpText.wrapped(topic.about) + "\n"
        for section in topic.sections {
            text += "\(section.title):\n" + HelpText.list(section.commands.map(\.syntax)) + "\n"
        }
        return text + HelpText.wrapped("\(name) COMMAND --help describes a command.")
    }

    private func optionsPage(_ front: Front) -> String {
        var text = HelpText.wrapped("Options that many commands have. The help of a command names its own.") + "\n"
        text += HelpText.definitions(front.common.map { ($0.listed, $0.help) })
        for note in notes { text += "\n" + HelpText.wrapped(note.text) }
        return text + "\nExit codes:\n" + exitCodeList
    }

    private var exitCodeList: String { HelpText.definitions(exitCodes.map { ("\($0.0)", $0.1) }) }

    private var overview: String {
        var text = HelpText.wrapped(about)
        text += "\nUsage: \(name) COMMAND ...\n\n"
        for section in sections {
            text += "\(section.title):\n" + HelpText.list(section.commands.map(\.syntax)) + "\n"
        }
        let ends = "\(name) COMMAND --help describes a command; \(name) --version prints the version."
        guard front == nil else {
            return text + HelpText.wrapped("\(ends) \(name) help options has what many commands have in common.")
        }
        text += "Example:\n  \(example)\n\n"
        text += HelpText.wrapped(ends) + "\n"
        for note in notes { text += HelpText.wrapped(note.text) + "\n" }
        return text + "Exit codes:\n" + exitCodeList
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
