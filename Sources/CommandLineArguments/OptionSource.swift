/// Values of options that stand elsewhere than on the command line. What a source says is checked as on the command
/// line.
package struct OptionSource: Sendable {
    /// Values by the option's name; an empty list is a switch that is off.
    private(set) var values: [String: [String]] = [:]

    private init() {}

    /// The options of a file: `name = value`, one on a line, with the names of the command line without hyphens. An
    /// option that is repeatable there is repeatable here, a switch is `yes` or `no`, and a line that begins with `#`
    /// is a comment.
    /// - Parameters:
    ///   - path: Named in errors.
    ///   - syntax: The command whose options may stand in it.
    ///   - forbidden: Options of it that may not.
    /// - Throws: ``UsageError`` with the file, the line and the name.
    package init(
        file text: String, named path: String, for syntax: CommandSyntax, without forbidden: [Option]
    ) throws(UsageError) {
        var number = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            let line = OptionSource.trimmed(line)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = OptionSource.trimmed(parts[0])
            let place = "\(path), line \(number)"
            guard parts.count == 2 else {
                let shown = OptionSource.shown(name)
                throw UsageError("\(place): \(shown ?? "it") has no value; write \(shown ?? "NAME") = ...")
            }
            let option = try OptionSource.option(name, of: syntax, without: forbidden, at: place)
            guard option.isRepeatable || values[option.name] == nil else {
                throw UsageError("\(place): \(name) is repeated")
            }
            values[option.name, default: []] += try OptionSource.values(
                [OptionSource.trimmed(parts[1])], of: option, at: "\(place): \(name)")
        }
    }

    /// The options of an environment: `PREFIX` and the name in capitals, with `_` for each hyphen. Spaces separate the
    /// values of an option that is repeatable.
    /// - Throws: ``UsageError`` with the variable, also for one that has the prefix and is no option.
    package init(
        environment: [String: String], prefix: String, for syntax: CommandSyntax, without forbidden: [Option]
    ) throws(UsageError) {
        for (variable, text) in environment.sorted(by: { $0.key < $1.key }) where variable.hasPrefix(prefix) {
            let name = variable.dropFirst(prefix.count).lowercased().replacing("_", with: "-")
            let option = try OptionSource.option(name, of: syntax, without: forbidden, at: "$" + variable)
            let words = option.isRepeatable ? text.split(separator: " ").map(String.init) : [text]
            values[option.name] = try OptionSource.values(words, of: option, at: "$" + variable)
        }
    }

    /// A name as it may be repeated. Whoever names the wrong file may have named one with a secret.
    private static func shown(_ name: String) -> String? {
        name.utf8.count <= 40 && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D } ? name : nil
    }

    private static func option(
        _ name: String, of syntax: CommandSyntax, without forbidden: [Option], at place: String
    ) throws(UsageError) -> Option {
        let known = syntax.options.filter { $0 != Flag.help.option && !forbidden.contains($0) }
        if let option = known.first(where: { $0.name == name }) { return option }
        guard !forbidden.contains(where: { $0.name == name }) else {
            throw UsageError("\(place): \(name) is for the command line only")
        }
        guard let shown = shown(name) else { throw UsageError("\(place): this is no name of an option") }
        throw UsageError("\(place): unknown option \(shown)" + Suggestion.hint(name, known.map(\.name)))
    }

    private static func values(
        _ words: [String], of option: Option, at place: String
    ) throws(UsageError) -> [String] {
        guard let kind = option.kind else {
            switch words {
            case ["yes"]: return [""]
            case ["no"]: return []
            default: throw UsageError("\(place) must be yes or no")
            }
        }
        for word in words {
            if let complaint = kind.complaint(word) { throw UsageError("\(place) \(complaint)") }
        }
        return words
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

    /// These, and for options that were not given what the first source says that has them.
    package func completed(by sources: [OptionSource], for syntax: CommandSyntax) -> Arguments {
        var whole = self
        for option in syntax.options where !contains(option) {
            let found = sources.lazy.compactMap { $0.values[option.name] }.first
            for value in found ?? [] { whole.complete(option, value) }
        }
        return whole
    }
}

extension ProgramTable {
    /// Checks that the options are there without which a command does not run.
    /// - Throws: ``UsageError`` that names the one that is missing.
    package func requireAll(_ arguments: Arguments, of syntax: CommandSyntax) throws(UsageError) {
        for option in syntax.required where !arguments.contains(option) {
            throw UsageError(
                "\(syntax.name): \(option.synopsis) is missing (see \(name) \(syntax.name) --help)")
        }
    }
}
