/// A completion script for zsh, made from the command table.
enum ZshCompletions {
    static var script: String {
        var script = "#compdef holdfast\n# zsh completion for holdfast\n\n"
        for command in CommandTable.all {
            script += "\(function(command.words))() {\n    _arguments -s -S"
            for line in command.options.map(argument) + command.places.map(argument) {
                script += " \\\n        \(line)"
            }
            script += "\n}\n\n"
        }
        for group in ShellText.groups { script += dispatcher(group, [Options.help.option]) }
        script += dispatcher([], CommandTable.general)
        return script + """
            if [ "$funcstack[1]" = _holdfast ]; then
                _holdfast "$@"
            else
                compdef _holdfast holdfast
            fi

            """
    }

    /// A function that reads one word and calls the function for it.
    private static func dispatcher(_ path: [String], _ options: [Option]) -> String {
        var text = "\(function(path))() {\n    local line state\n    local -a commands\n    commands=(\n"
        for word in CommandTable.nextWords(path) {
            let command = CommandTable.command(path + [word])
            let help = command?.summary ?? CommandTable.group(path + [word]).map(\.summary).joined(separator: ", ")
            text += "        \(ShellText.quoted("\(word):\(help)"))\n"
        }
        text += "    )\n    _arguments -C"
        for option in options { text += " \\\n        \(argument(option))" }
        text += " \\\n        '1: :->command' \\\n        '*:: :->rest'\n    case $state in\n"
        text += "    command) _describe command commands ;;\n    rest)\n        case $line[1] in\n"
        for word in CommandTable.nextWords(path) {
            text += "        \(word)) \(function(path + [word])) ;;\n"
        }
        return text + "        esac\n        ;;\n    esac\n}\n\n"
    }

    private static func function(_ path: [String]) -> String { (["_holdfast"] + path).joined(separator: "_") }

    private static func argument(_ option: Option) -> String {
        let name = option == Options.help.option ? "(-h --help)'{-h,--help}'" : option.spelled
        guard let kind = option.kind, let placeholder = option.placeholder else {
            return "'\(name)[\(escaped(option.help))]'"
        }
        return "'\(name)=[\(escaped(option.help))]:\(placeholder):\(action(kind))'"
    }

    private static func argument(_ place: Place) -> String {
        "'\(place.isRest ? "*" : ""):\(place.name):\(action(place.kind))'"
    }

    private static func action(_ kind: ValueKind) -> String {
        switch kind {
        case .text, .descriptor, .number, .seconds: " "
        case .file: "_files"
        case .folder: "_directories"
        case .word(let words): "(\(words.joined(separator: " ")))"
        case .command: "(\(ShellText.allWords))"
        }
    }

    /// Inside `'...[...]'`.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "'": result += "'\\''"
            case "[", "]", ":", "\\": result += "\\" + String(character)
            default: result.append(character)
            }
        }
        return result
    }
}
