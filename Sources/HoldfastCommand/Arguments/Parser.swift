/// Parses a command line by the command table. It is pure: it neither prints nor reads anything from the system.
struct Parser {
    /// What the command line asks for.
    enum Outcome: Sendable {
        case run(Command, Arguments)
        /// Help for the command or group named by these words; for everything when there are none.
        case help([String])
        case version
    }

    private var words: [String] = []
    private var command: Command?
    private var arguments = Arguments()
    private var wantsHelp = false
    private var wantsVersion = false
    private var optionsEnded = false

    /// - Throws: A usage error that says what is wrong and, if possible, what was meant.
    static func parse(_ line: [String]) throws(CommandError) -> Outcome {
        var parser = Parser()
        var rest = line[...]
        while let word = rest.popFirst() { try parser.take(word, &rest) }
        return try parser.finish()
    }

    private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws(CommandError) {
        if optionsEnded || !word.hasPrefix("-") || word == "-" { return try take(place: word) }
        if word == "--" {
            optionsEnded = true
        } else if word == "-h" {
            wantsHelp = true
        } else if word.hasPrefix("--") {
            try take(option: word, &rest)
        } else {
            throw usage("unknown option \(word); put -- before a name that begins with a hyphen")
        }
    }

    private mutating func take(option word: String, _ rest: inout ArraySlice<String>) throws(CommandError) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let known = command?.options ?? CommandTable.general
        guard let option = known.first(where: { $0.name == name }) else { throw unknown(name, known) }
        guard !arguments.contains(option) else { throw usage("\(option.spelled) is repeated") }
        var value = ""
        if let kind = option.kind {
            if parts.count == 2 {
                value = String(parts[1])
            } else {
                guard let next = rest.popFirst() else { throw usage("\(option.synopsis): the value is missing") }
                // More likely a forgotten value than one that begins with two hyphens.
                guard !next.hasPrefix("--") else {
                    throw usage(
                        "\(option.synopsis): the value is missing (if \(next) is the value, write \(option.spelled)=\(next))"
                    )
                }
                value = next
            }
            if let complaint = kind.complaint(value) { throw usage("\(option.synopsis): the value \(complaint)") }
        } else if parts.count == 2 {
            throw usage("\(option.spelled) has no value")
        }
        arguments.set(option, value)
        if option == Options.help.option { wantsHelp = true }
        if option == Options.version.option { wantsVersion = true }
    }

    private mutating func take(place word: String) throws(CommandError) {
        guard let command else {
            // `--` ends the options, even before the command.
            let candidates = CommandTable.nextWords(words)
            guard candidates.contains(word) || CommandTable.command(words + [word]) != nil else {
                let spoken = (words + [word]).joined(separator: " ")
                let same = CommandTable.group(words).first {
                    $0.words.count == words.count + 1 && $0.synonyms.contains(word)
                }
                let hint = same.map { "; did you mean \($0.name)?" } ?? Suggestion.hint(word, candidates)
                throw usage("unknown command \(spoken)" + hint)
            }
            words.append(word)
            self.command = CommandTable.command(words)
            return
        }
        let index = arguments.places.count
        guard let place = index < command.places.count ? command.places[index] : command.places.last,
            index < command.places.count || place.isRest
        else { throw usage("\(command.name): unexpected argument \(word)") }
        if let complaint = place.kind.complaint(word) { throw usage("\(place.name) \(complaint)") }
        arguments.append(place: word)
    }

    private func finish() throws(CommandError) -> Outcome {
        if wantsHelp { return .help(words) }
        if wantsVersion { return .version }
        guard let command else {
            let next = CommandTable.nextWords(words).joined(separator: ", ")
            guard !words.isEmpty else { throw .usage("no command was given; holdfast --help lists them") }
            throw usage("\(words.joined(separator: " ")) needs one of: \(next)")
        }
        for option in CommandTable.general where arguments.contains(option) && !command.options.contains(option) {
            throw usage("\(command.name) has no option \(option.spelled)")
        }
        if arguments.places.count < command.places.count, !command.places[arguments.places.count].isRest,
            !command.places[arguments.places.count].isOptional
        {
            throw usage("\(command.name): \(command.places[arguments.places.count].name) is missing")
        }
        return .run(command, arguments)
    }

    private func unknown(_ name: String, _ known: [Option]) -> CommandError {
        guard command != nil || !CommandTable.all.contains(where: { $0.option(named: name) != nil }) else {
            return usage("put --\(name) after the command")
        }
        return usage("unknown option --\(name)" + Suggestion.hint("--" + name, known.map(\.spelled)))
    }

    private func usage(_ text: String) -> CommandError {
        let help = (["holdfast"] + words + ["--help"]).joined(separator: " ")
        return .usage("\(text) (see \(help))")
    }
}
