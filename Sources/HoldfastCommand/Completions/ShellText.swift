/// What completion scripts of all shells need of the command table.
enum ShellText {
    /// Every option once, in the order of the table.
    static var options: [Option] {
        var options = CommandTable.general
        for option in CommandTable.all.flatMap(\.options) where !options.contains(where: { $0.name == option.name }) {
            options.append(option)
        }
        return options
    }

    /// Options with a value, as they are typed.
    static var optionsWithValue: [String] { options.filter { $0.kind != nil }.map(\.spelled) }

    /// Options with a value by what the value is.
    static var optionsByKind: [(ValueKind, [String])] {
        var result: [(ValueKind, [String])] = []
        for option in options {
            guard let kind = option.kind else { continue }
            if let index = result.firstIndex(where: { $0.0 == kind }) {
                result[index].1.append(option.spelled)
            } else {
                result.append((kind, [option.spelled]))
            }
        }
        return result
    }

    /// Words that are not commands by themselves but begin some.
    static var groups: [[String]] {
        var groups: [[String]] = []
        for command in CommandTable.all where command.words.count > 1 {
            let group = Array(command.words.dropLast())
            if !groups.contains(group) { groups.append(group) }
        }
        return groups
    }

    /// Every beginning of a command's name.
    static var prefixes: [String] { (groups + CommandTable.all.map(\.words)).map { $0.joined(separator: " ") } }

    /// What may come behind these words.
    static func words(_ path: [String], _ options: [Option]) -> String {
        (CommandTable.nextWords(path) + options.map(\.spelled)).joined(separator: " ")
    }

    /// Every word of a command's name.
    static var allWords: String {
        var words: [String] = []
        for word in CommandTable.all.flatMap(\.words) where !words.contains(word) { words.append(word) }
        return words.joined(separator: " ")
    }

    /// In single quotes, for any of the three shells.
    static func quoted(_ text: String) -> String {
        var result = "'"
        for character in text { result += character == "'" ? "'\\''" : String(character) }
        return result + "'"
    }
}
