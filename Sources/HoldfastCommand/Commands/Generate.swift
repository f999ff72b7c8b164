internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

extension Options {
    static let length = NumberOption("length", PasswordRules.lengths, default: 20, help: "Characters of the password")
    static let kinds = TextOption(
        "kinds", "KINDS", help: "Kinds of characters, of lower,upper,digits,signs, each at least once (default: all).")
    static let readable = Flag("readable", "Leave out characters that look like others, such as 0 and O.")
    static let words = NumberOption(
        "words", WordRules.counts, default: 6, help: "A phrase of this many words instead of a password")
    static let separator = TextOption(
        "separator", "TEXT", help: "With --words: what is between two words, at most 8 bytes (default: a hyphen).")
    static let capitals = Flag("capitals", "With --words: begin each word with a capital letter.")
    static let withDigit = Flag("digit", "With --words: put a digit behind one of the words.")
}

extension Command {
    static let generate = Command(
        "generate", synonyms: ["pwgen", "random"], summary: "make a random password or phrase",
        details: [
            "Writes it to standard output, without a line feed if that is not a terminal. Every password that the options "
                + "allow is as likely as any other. A terminal also shows how many bits a guesser who knows the options "
                + "does not know.",
            "The words are those of recovery phrases: 2,048 words, 11 bits each. A pipe into holdfast put stores what "
                + "is made.",
        ],
        example: "holdfast generate --words 6",
        options: [
            Options.length.option, Options.kinds.option, Options.readable.option, Options.words.option,
            Options.separator.option, Options.capitals.option, Options.withDigit.option,
        ],
        run: generatePassword)
}

private func generatePassword(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let made = try Generating.secret(arguments)
    return try show(made.value, made.entropy)
}

/// A password or phrase by the options of a command.
struct Generating: ~Copyable {
    let value: SecretBytes
    /// Bits that a guesser who knows the options does not know.
    let entropy: Double

    static func secret(_ arguments: Arguments) throws(CommandError) -> Generating {
        if arguments.contains(Options.words.option) {
            for option in [Options.length.option, Options.kinds.option, Options.readable.option]
            where arguments.contains(option) { throw .usage("\(option.spelled) is for passwords, not for --words") }
            let separator = arguments[Options.separator] ?? Generating.separator
            guard separator.utf8.count <= WordRules.longestSeparator else {
                throw .usage("--separator has at most \(WordRules.longestSeparator) bytes")
            }
            let rules = WordRules(
                count: arguments[Options.words], separator: separator, capitalizes: arguments[Options.capitals],
                addsDigit: arguments[Options.withDigit])
            return Generating(value: try vaultCall { try PasswordGenerator.words(rules) }, entropy: rules.entropy)
        }
        for option in [Options.separator.option, Options.capitals.option, Options.withDigit.option]
        where arguments.contains(option) { throw .usage("\(option.spelled) requires --words") }
        let rules = PasswordRules(
            length: arguments[Options.length], characters: try characterKinds(arguments),
            avoidsLookalikes: arguments[Options.readable])
        return Generating(value: try vaultCall { try PasswordGenerator.password(rules) }, entropy: rules.entropy)
    }
}

extension Generating {
    /// What is between two words.
    static let separator = "-"

    private static let kinds: [(word: String, kind: PasswordRules.Characters)] = [
        ("lower", .lower), ("upper", .upper), ("digits", .digits), ("signs", .signs),
    ]
    static let allKinds = kinds.map(\.word).joined(separator: ",")

    /// Nil for what is no list of kinds.
    static func kinds(_ list: String) -> PasswordRules.Characters? {
        var found: PasswordRules.Characters = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let kind = kinds.first(where: { $0.word == word })?.kind else { return nil }
            found.insert(kind)
        }
        return found
    }
}

private func characterKinds(_ arguments: Arguments) throws(CommandError) -> PasswordRules.Characters {
    guard let list = arguments[Options.kinds] else { return .all }
    guard let kinds = Generating.kinds(list) else { throw .usage("--kinds is a list of: \(Generating.allKinds)") }
    return kinds
}

private func show(_ secret: borrowing SecretBytes, _ entropy: Double) throws(CommandError) -> ExitCode {
    try secret.withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: STDOUT_FILENO) }
    if Descriptors.isTerminal(STDOUT_FILENO) { try Output.write("\n") }
    Output.remark("\(Int(entropy)) bits")
    return .done
}
