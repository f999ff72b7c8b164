/// What completion scripts of all shells need of the table.
extension ProgramTable where Command: TableCommand {
    /// Every option once, in the order of the table.
    package var options: [Option] {
        var options = general
        for option in syntaxes.flatMap(\.shownOptions) where !options.contains(where: { $0.name == option.name }) {
            options.append(option)
        }
        return options
    }

    /// Options with a value, as they are typed.
    var optionsWithValue: [String] {
        options.filter { $0.kind != nil }.flatMap { option in
            [option.spelled] + (option.short.map { ["-\($0)"] } ?? [])
        }
    }

    /// Options with a value by what the value is.
    var optionsByKind: [(ValueKind, [String])] {
        var result: [(ValueKind, [String])] = []
        for option in options {
            guard let kind = option.kind else { continue }
            if let index = result.firstIndex(where: { $0.0 == kind }) {
                result[index].1.append(option.spelled)
            } else {
                result.append((kind, [option.spelled]))
            }
            if let short = option.short, let index = result.firstIndex(where: { $0.0 == kind }) {
                result[index].1.append("-\(short)")
            }
        }
        return result
    }

    /// Words that are not commands by themselves but begin some.
    var groups: [[String]] {
        var groups: [[String]] = []
        for command in syntaxes where command.words.count > 1 {
            let group = Array(command.words.dropLast())
            if !groups.contains(group) { groups.append(group) }
        }
        return groups
    }

    /// Every beginning of a command's name.
    var prefixes: [String] { (groups + syntaxes.map(\.words)).map { $0.joined(separator: " ") } }

    /// What may come behind these words.
    func words(_ path: [String], _ options: [Option]) -> String {
        (nextWords(path) + options.map(\.spelled)).joined(separator: " ")
    }

    /// Every word of a command's name.
    var allWords: String {
        var words: [String] = []
        for word in syntaxes.flatMap(\.words) + topics where !words.contains(word) { words.append(word) }
        return words.joined(separator: " ")
    }

    /// A script for one of the shells `bash`, `zsh` and `fish`; for bash if the name is another.
    package func completions(for shell: String) -> String {
        switch shell {
        case "zsh": zshCompletions
        case "fish": fishCompletions
        default: bashCompletions
        }
    }

    /// The name as a part of a shell function's name.
    var shellName: String { "_" + name.map { $0 == "-" ? "_" : String($0) }.joined() }
}

/// Words as a shell reads them.
package enum ShellWord {
    /// The word itself where it means nothing but itself to any shell, else in single quotation marks.
    package static func quoted(_ word: String) -> String {
        let plain = Set("/._-+:@%,=".utf8)
        let isPlain = word.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || plain.contains(byte)
        }
        let isSpecial = word.isEmpty || word.hasPrefix("-") || word.hasPrefix("=")
        guard !isPlain || isSpecial else { return word }
        return always(word)
    }

    /// In single quotation marks, where nothing but they mean anything.
    package static func always(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
