/// What a command line asks for.
package enum ParsedLine<Command: Sendable>: Sendable {
    case run(Command, Arguments)
    /// Help for the command or group named by these words; for everything when there are none.
    case help([String])
    case version
}

extension ProgramTable where Command: TableCommand {
    /// Parses the words behind the program's name. It is pure: it neither prints nor reads anything from the system.
    /// - Throws: ``UsageError`` that says what is wrong and, if possible, what was meant.
    package func parse(_ line: [String]) throws(UsageError) -> ParsedLine<Command> {
        var parser = Parser(table: self)
        var rest = line[...]
        while let word = rest.popFirst() { try parser.parse(word, &rest) }
        return try parser.finish()
    }
}

private struct Parser<Command: TableCommand> {
    let table: ProgramTable<Command>
    private var words: [String] = []
    private var command: Command?
    private var arguments = Arguments()
    private var wantsHelp = false
    private var wantsVersion = false
    private var optionsEnded = false

    init(table: ProgramTable<Command>) { self.table = table }

    mutating func parse(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        if optionsEnded || !word.hasPrefix("-") || word == "-" { return try parse(place: word, &rest) }
        if word == "--" {
            optionsEnded = true
        } else if word == "-h" {
            wantsHelp = true
        } else if word.hasPrefix("--") {
            try parse(option: word, &rest)
        } else {
            try parse(letters: word.dropFirst(), &rest)
        }
    }

    /// `-r`, `-f LABEL` or `-fLABEL`, and several switches in one word.
    private mutating func parse(letters word: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
        var letters = word
        while let letter = letters.popFirst() {
            let known = command?.syntax.options ?? table.general
            guard let option = known.first(where: { $0.short == letter }) else {
                guard command != nil || !table.syntaxes.contains(where: { $0.options.contains { $0.short == letter } })
                else { throw usage("put -\(letter) after the command") }
                throw usage("unknown option -\(letter); put -- before a name that begins with a hyphen")
            }
            if option.kind == nil {
                try parse(option: option.spelled, &rest)
            } else if letters.isEmpty {
                try parse(option: option.spelled, &rest)
            } else {
                return try parse(option: "\(option.spelled)=\(letters)", &rest)
            }
        }
    }

    private mutating func parse(option word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let known = command?.syntax.options ?? table.general
        guard let option = known.first(where: { $0.name == name }) else { throw unknown(name, known) }
        guard option.isRepeatable || !arguments.contains(option) else { throw usage("\(option.spelled) is repeated") }
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
        arguments.append(option, value)
        if option == Flag.help.option { wantsHelp = true }
        if option == Flag.version.option { wantsVersion = true }
    }

    private mutating func parse(place word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        // A command may also be the beginning of others: `config`, and `config set`.
        if command != nil, arguments.places.isEmpty, !optionsEnded, let longer = table.command(words + [word]) {
            words.append(word)
            command = longer
            return
        }
        if words.isEmpty, !optionsEnded, let meant = table.alias(word) {
            rest = ArraySlice(meant) + rest
            return
        }
        guard let syntax = command?.syntax else {
            // `--` ends the options, even before the command.
            guard table.hasCommand(beginning: words + [word]) else {
                let candidates = table.nextWords(words)
                let spoken = (words + [word]).joined(separator: " ")
                let same = table.group(words).first {
                    $0.words.count == words.count + 1 && $0.synonyms.contains(word)
                }
                let near = same?.name ?? Suggestion.nearest(to: word, among: candidates)
                let hint =
                    near.map { "; did you mean \($0)?" }
                    ?? (words.isEmpty ? "" : "; \(choice)" + (line(with: word, rest) ?? ""))
                throw usage("unknown command \(spoken)" + hint)
            }
            words.append(word)
            self.command = table.command(words)
            return
        }
        let index = arguments.places.count
        guard let place = index < syntax.places.count ? syntax.places[index] : syntax.places.last,
            index < syntax.places.count || place.isRest
        else {
            // As other programs have it: `show mail password`.
            let hint =
                syntax.option(named: "field") == nil
                ? line(with: word, rest) ?? "" : "; did you mean --field \(ShellWord.quoted(word))?"
            throw usage("\(syntax.name): unexpected argument \(word)\(hint)")
        }
        if let complaint = place.kind.complaint(word) { throw usage("\(place.name) \(complaint)") }
        arguments.append(place: word)
    }

    func finish() throws(UsageError) -> ParsedLine<Command> {
        if wantsHelp { return .help(words) }
        if wantsVersion { return .version }
        guard let command else {
            guard !words.isEmpty else { throw UsageError("no command was given; \(table.name) --help lists them") }
            throw usage(choice)
        }
        let syntax = command.syntax
        for name in arguments.names where syntax.option(named: name) == nil {
            throw usage("\(syntax.name) has no option --\(name)")
        }
        if arguments.places.count < syntax.places.count, !syntax.places[arguments.places.count].isRest,
            !syntax.places[arguments.places.count].isOptional
        {
            throw usage("\(syntax.name): \(syntax.places[arguments.places.count].name) is missing")
        }
        if !syntax.isCompletedLater { try table.requireAll(arguments, of: syntax) }
        return .run(command, arguments)
    }

    /// What the words so far can continue with.
    private var choice: String {
        let listed = table.nextWords(words)
        let next = listed.isEmpty ? table.hiddenGroup(words).map { $0.words[words.count] } : listed
        return "\(words.joined(separator: " ")) needs one of: \(next.joined(separator: ", "))"
    }

    /// The line that was meant where a word was left out, as in `history mail`: the first command behind these words
    /// that takes such a word.
    /// - Returns: A question, or nil where no command takes it.
    private func line(with word: String, _ rest: ArraySlice<String>) -> String? {
        guard let meant = table.group(words).first(where: { $0.places.first?.isLike(word) ?? false }) else {
            return nil
        }
        let missing = meant.places.dropFirst(1 + rest.count { !$0.hasPrefix("-") }).filter { !$0.isOptional }
        let line = [table.name] + meant.words + ([word] + rest).map(ShellWord.quoted) + missing.map(\.name)
        return "; did you mean \(line.joined(separator: " "))?"
    }

    private func unknown(_ name: String, _ known: [Option]) -> UsageError {
        guard command != nil || !table.syntaxes.contains(where: { $0.option(named: name) != nil }) else {
            return usage("put --\(name) after the command")
        }
        return usage("unknown option --\(name)" + Suggestion.hint("--" + name, known.map(\.spelled)))
    }

    private func usage(_ text: String) -> UsageError {
        let help = ([table.name] + words + ["--help"]).joined(separator: " ")
        return UsageError("\(text) (see \(help))")
    }
}

/// Finds the word that was probably meant.
package enum Suggestion {
    /// The candidate nearest to `word`; nil if none is close.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { ($0, distance(Array(word.utf8), Array($0.utf8))) }
        if let (best, changes) = ranked.min(by: { $0.1 < $1.1 }), changes <= max(1, best.utf8.count / 3) { return best }
        let longer = candidates.filter { $0.hasPrefix(word) }
        return longer.count == 1 && word.utf8.count > 1 ? longer[0] : nil
    }

    /// ` (did you mean X?)`, or nothing.
    package static func hint(_ word: String, _ candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }

    /// Insertions, deletions, changes and swaps of neighbours that lead from one word to the other (optimal string
    /// alignment). Long words are not compared, so that input cannot make this slow.
    package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard left.count <= 64, right.count <= 64 else { return .max }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let isSame = left[i] == right[j]
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (isSame ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, beforeLast[j - 1] + 1)
                }
                row.append(cost)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}

/// Something on the command line, or in a file that it names, cannot be used.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String
    /// Whether it may go away by itself: a file that cannot be read now, on a disk that is not mounted yet for example.
    package let mayPass: Bool

    package init(_ description: String, mayPass: Bool = false) {
        self.description = description
        self.mayPass = mayPass
    }
}
