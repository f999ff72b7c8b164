internal import SystemCalls

/// A row of a program's table: what parsing needs of a command, beside what the program does with it.
package protocol TableCommand: Sendable {
    var syntax: CommandSyntax { get }
}

/// All commands of a program, in the order in which help lists them.
///
/// What it does asks for a ``TableCommand``; the types themselves ask for nothing that the runtime would have to look
/// up among all conformances at each start.
package struct ProgramTable<Command: Sendable>: Sendable {
    /// Commands under one heading of the list that `--help` prints.
    package struct Section: Sendable {
        package let title: String
        package let commands: [Command]

        package init(title: String, commands: [Command]) {
            self.title = title
            self.commands = commands
        }
    }

    /// A paragraph below the help of all commands, and of those that it applies to.
    package struct Note: Sendable {
        let text: String
        let applies: @Sendable (CommandSyntax) -> Bool

        package init(_ text: String, applies: @escaping @Sendable (CommandSyntax) -> Bool) {
            self.text = text
            self.applies = applies
        }
    }

    /// A page of help of its own, which `help WORD` shows.
    package struct Topic: Sendable {
        let word: String
        /// The first paragraph.
        let about: String
        let sections: [Section]

        package init(word: String, about: String, sections: [Section]) {
            self.word = word
            self.about = about
            self.sections = sections
        }
    }

    /// What a program with many commands prints instead of the list of all of them.
    package struct Front: Sendable {
        /// What the program prints without arguments and for `--help`, as it is.
        let page: String
        let topics: [Topic]
        /// Options that `help options` describes; the help of a command only names those that it has.
        let common: [Option]
        /// Other words for a command, or for an option such as `--version`, as the first word of a line.
        let aliases: KeyValuePairs<String, [String]>

        package init(page: String, topics: [Topic], common: [Option], aliases: KeyValuePairs<String, [String]>) {
            self.page = page
            self.topics = topics
            self.common = common
            self.aliases = aliases
        }
    }

    /// As it is typed.
    package let name: String
    /// What the program does, as a sentence.
    let about: String
    /// One command line as it is typed.
    let example: String
    let sections: [Section]
    /// Commands for programs, and earlier words for others: they work and have help, but are neither listed nor
    /// completed.
    package let hidden: [Command]
    /// Options that are also accepted before the command.
    package let general: [Option]
    let notes: [Note]
    /// The exit codes and what they mean.
    let exitCodes: [(Int32, String)]
    /// Nil where `--help` lists all commands.
    let front: Front?

    package init(
        name: String, about: String, example: String, sections: [Section], hidden: [Command] = [],
        general: [Option] = [], notes: [Note] = [], exitCodes: [(Int32, String)], front: Front? = nil
    ) {
        self.front = front
        self.name = name
        self.about = about
        self.example = example
        self.sections = sections
        self.hidden = hidden
        self.general = general + [Flag.help.option, Flag.version.option]
        self.notes = notes
        self.exitCodes = exitCodes
    }
}

extension ProgramTable where Command: TableCommand {
    /// All commands that are listed.
    package var all: [Command] { sections.flatMap { $0.commands } }

    /// The syntax of all commands that are listed.
    var syntaxes: [CommandSyntax] { all.map { $0.syntax } }

    package func command(_ words: [String]) -> Command? { first { $0 == words } }

    /// Whether these words name a command, listed or not, or are the first ones of its name.
    func hasCommand(beginning words: [String]) -> Bool { first { $0.starts(with: words) } != nil }

    /// The first command, listed or not, whose words fit. It is asked at each start of the program, and so makes no
    /// list of all commands.
    private func first(where fits: ([String]) -> Bool) -> Command? {
        for section in sections {
            for command in section.commands where fits(command.syntax.words) { return command }
        }
        for command in hidden where fits(command.syntax.words) { return command }
        return nil
    }

    /// The words that `help` takes and that name no command.
    package var topics: [String] { front.map { $0.topics.map { $0.word } + ["options", "all"] } ?? [] }

    /// What the first word of a line stands for; nil where that is the word itself.
    func alias(_ word: String) -> [String]? { front?.aliases.first { $0.key == word }?.value }

    /// The commands whose name begins with these words and has more.
    package func group(_ words: [String]) -> [CommandSyntax] { Self.group(words, syntaxes) }

    /// The same of those that are not listed.
    func hiddenGroup(_ words: [String]) -> [CommandSyntax] { Self.group(words, hidden.map { $0.syntax }) }

    private static func group(_ words: [String], _ commands: [CommandSyntax]) -> [CommandSyntax] {
        commands.filter { $0.words.count > words.count && $0.words.starts(with: words) }
    }

    /// What may follow these words.
    package func nextWords(_ words: [String]) -> [String] {
        var next: [String] = []
        for command in group(words) where !next.contains(command.words[words.count]) {
            next.append(command.words[words.count])
        }
        return next
    }
}

/// What stands on the command line behind the program's name.
package enum CommandWords {
    /// The words as given. `CommandLine.arguments` repairs invalid UTF-8, which would turn a name into another one.
    /// - Throws: ``UsageError`` for a word that is not valid UTF-8.
    package static func read() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = unsafe CommandLine.unsafeArgv[index] else { break }
            guard let word = unsafe String(validatingCString: pointer) else {
                throw UsageError("argument \(index) is not valid UTF-8")
            }
            words.append(word)
        }
        return words
    }

    /// Variables of the environment whose names begin so.
    /// - Throws: ``UsageError`` for a value that is not valid UTF-8.
    package static func environment(prefix: String) throws(UsageError) -> [String: String] {
        var found: [String: String] = [:]
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            unsafe next += 1
            guard unsafe strncmp(variable, prefix, prefix.utf8.count) == 0 else { continue }
            guard let text = unsafe String(validatingCString: variable), let sign = text.firstIndex(of: "=") else {
                throw UsageError("a variable of the environment with \(prefix) is not valid UTF-8")
            }
            found[String(text[..<sign])] = String(text[text.index(after: sign)...])
        }
        return found
    }
}
