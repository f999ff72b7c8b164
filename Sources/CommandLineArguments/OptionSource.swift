/// Values of options that stand elsewhere than on the command line. What a source says is checked as on the command
/// line; all mistakes are found, not the first alone.
package struct OptionSource: Sendable {
    struct Value: Sendable {
        let text: String
        /// Where it stands.
        let place: String
    }

    /// Values by the option's name; an empty list is a switch that is off, or a value that was refused.
    private(set) var values: [String: [Value]] = [:]
    private(set) var mistakes: [Mistake] = []

    /// The options of a file: `name = value`, one on a line, with the names of the command line without hyphens. An
    /// option that is repeatable there is repeatable here, a switch is `yes` or `no`, and a line that begins with `#`
    /// is a comment.
    /// - Parameters:
    ///   - path: Named in mistakes.
    ///   - syntax: The command whose options may stand in it.
    ///   - forbidden: Options of it that may not.
    package init(
        file text: String, named path: String, for syntax: CommandSyntax, without forbidden: [Option]
    ) {
        var number = 0
        for line in text.lines {
            number += 1
            let line = OptionSource.trimmed(line)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = OptionSource.trimmed(parts[0])
            let shown = OptionSource.shown(name)
            let place = "\(path):\(number)" + (shown.map { ": \($0)" } ?? "")
            guard parts.count == 2 else {
                mistakes.append(Mistake(place, "it has no value; write \(shown ?? "NAME") = ..."))
                continue
            }
            guard let option = option(name, of: syntax, without: forbidden, at: place) else { continue }
            guard option.isRepeatable || values[option.name] == nil else {
                mistakes.append(Mistake(place, "it is repeated; remove one of the lines"))
                continue
            }
            add([OptionSource.trimmed(parts[1])], of: option, at: place)
        }
    }

    /// The options of an environment: `PREFIX` and the name in capitals, with `_` for each hyphen. Spaces separate the
    /// values of an option that is repeatable. A variable that has the prefix and is no option is a mistake.
    package init(
        environment: [String: String], prefix: String, for syntax: CommandSyntax, without forbidden: [Option]
    ) {
        for (variable, text) in environment.sorted(by: { $0.key < $1.key }) where variable.hasPrefix(prefix) {
            let name = variable.dropFirst(prefix.count).lowercased().replacing("_", with: "-")
            guard let option = option(name, of: syntax, without: forbidden, at: "$" + variable) else { continue }
            guard values[option.name] == nil else {
                mistakes.append(Mistake("$" + variable, "it is there twice; remove one of the variables"))
                continue
            }
            let words = option.isRepeatable ? text.split(separator: " ").map(String.init) : [text]
            add(words, of: option, at: "$" + variable)
        }
    }

    /// A name as it may be repeated. Whoever names the wrong file may have named one with a secret.
    private static func shown(_ name: String) -> String? {
        name.utf8.count <= 40 && !name.isEmpty && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
            ? name : nil
    }

    private mutating func option(
        _ name: String, of syntax: CommandSyntax, without forbidden: [Option], at place: String
    ) -> Option? {
        let known = syntax.options.filter { $0 != Flag.help.option && !forbidden.contains($0) }
        if let option = known.first(where: { $0.name == name }) { return option }
        let complaint =
            if forbidden.contains(where: { $0.name == name }) {
                "it is for the command line only"
            } else if let shown = OptionSource.shown(name) {
                "there is no option \(shown)" + Suggestion.hint(name, known.map(\.name))
            } else { "this is no name of an option" }
        mistakes.append(Mistake(place, complaint))
        return nil
    }

    private mutating func add(_ words: [String], of option: Option, at place: String) {
        var taken = values[option.name] ?? []
        if let kind = option.kind {
            for word in words {
                // A name with one would be another name for the system.
                if let complaint = word.utf8.contains(0) ? "it has a zero byte" : kind.complaint(word) {
                    mistakes.append(Mistake(place, complaint))
                } else {
                    taken.append(Value(text: word, place: place))
                }
            }
        } else {
            switch words {
            case ["yes"]: taken.append(Value(text: "", place: place))
            case ["no"]: break
            default: mistakes.append(Mistake(place, "must be yes or no"))
            }
        }
        values[option.name] = taken
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}

extension Arguments {
    /// The values of any option, in the order in which they were given; of a switch an empty one.
    package func values(of option: Option) -> [String] { self[all: option] }

    /// These, and for options that were not given what the first source says that has them. Mistakes of the sources
    /// are among ``mistakes``, with those options without which the command does not run and that nothing names.
    /// - Parameter file: Where what is missing can be written.
    package func completed(by sources: [OptionSource], for syntax: CommandSyntax, file: String?) -> Arguments {
        var whole = self
        whole.mistakes += sources.flatMap(\.mistakes)
        for option in syntax.options where !contains(option) {
            let found = sources.lazy.compactMap { $0.values[option.name] }.first
            for value in found ?? [] { whole.complete(option, value.text, at: value.place) }
            guard found == nil, syntax.required.contains(option) else { continue }
            let value = option.placeholder ?? ""
            whole.mistakes.append(
                file.map { Mistake("\($0): \(option.name)", "missing; write \(option.name) = \(value)") }
                    ?? Mistake(option.spelled, "missing; \(syntax.name) needs \(option.synopsis)"))
        }
        return whole
    }
}

extension ProgramTable where Command: TableCommand {
    /// Checks that the options are there without which a command does not run.
    /// - Throws: ``UsageError`` that names the one that is missing.
    package func requireAll(_ arguments: Arguments, of syntax: CommandSyntax) throws(UsageError) {
        for option in syntax.required where !arguments.contains(option) {
            throw UsageError(
                "\(syntax.name): \(option.synopsis) is missing (see \(name) \(syntax.name) --help)")
        }
    }
}
