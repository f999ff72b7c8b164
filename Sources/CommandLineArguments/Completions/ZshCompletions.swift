/// A completion script for zsh, made from the table.
extension ProgramTable where Command: TableCommand {
    var zshCompletions: String {
        var script = "#compdef \(name)\n# zsh completion for \(name)\n\n"
        for command in syntaxes {
            script += "\(function(command.words))() {\n    _arguments -s -S"
            for line in command.shownOptions.map(argument) + command.places.map(argument) {
                script += " \\\n        \(line)"
            }
            script += "\n}\n\n"
        }
        script += """
            # The first word behind the command.
            \(shellName)_place() {
                local word skip=''
                for word in ${words[2,CURRENT-1]}; do
                    if [[ -n $skip ]]; then skip=''; continue; fi
                    case $word in
                    (\(optionsWithValue.joined(separator: "|"))) skip=yes ;;
                    (-*) ;;
                    (*) print -r -- ${(Q)word}; return ;;
                    esac
                done
            }

            # Names folder by folder: behind a folder its entries come next.
            \(shellName)_asked() {
                local -a found=(${(f)"$(\(name) complete $1 -- "${(Q)PREFIX}" 2>/dev/null </dev/null)"})
                compadd -S '' -- ${(M)found:#*/}
                compadd -- ${found:#*/}
            }


            """
        for group in groups { script += dispatcher(group, [Flag.help.option]) }
        script += dispatcher([], general)
        return script + """
            if [ "$funcstack[1]" = \(shellName) ]; then
                \(shellName) "$@"
            else
                compdef \(shellName) \(name)
            fi

            """
    }

    /// A function that reads one word and calls the function for it.
    private func dispatcher(_ path: [String], _ options: [Option]) -> String {
        var text = "\(function(path))() {\n    local line state\n    local -a commands\n    commands=(\n"
        for word in nextWords(path) {
            let command = command(path + [word])
            let help = command?.syntax.summary ?? group(path + [word]).map(\.summary).joined(separator: ", ")
            text += "        \(ShellWord.always("\(word):\(help)"))\n"
        }
        text += "    )\n    _arguments -C"
        for option in options { text += " \\\n        \(argument(option))" }
        text += " \\\n        '1: :->command' \\\n        '*:: :->rest'\n    case $state in\n"
        text += "    command) _describe command commands ;;\n    rest)\n        case $line[1] in\n"
        for word in nextWords(path) {
            text += "        \(word)) \(function(path + [word])) ;;\n"
        }
        return text + "        esac\n        ;;\n    esac\n}\n\n"
    }

    private func function(_ path: [String]) -> String { ([shellName] + path).joined(separator: "_") }

    private func argument(_ option: Option) -> String {
        let name =
            option == Flag.help.option ? "(-h --help)'{-h,--help}'" : (option.isRepeatable ? "*" : "") + option.spelled
        guard let kind = option.kind, let placeholder = option.placeholder else {
            return "'\(name)[\(escaped(option.help))]'" + letter(option, "")
        }
        return "'\(name)=[\(escaped(option.help))]:\(escaped(placeholder)):\(action(kind))'"
            + letter(option, ":\(escaped(placeholder)):\(action(kind))")
    }

    /// The option by its letter, where it has one.
    private func letter(_ option: Option, _ value: String) -> String {
        guard let short = option.short, option != Flag.help.option else { return "" }
        return
            " '\(option.isRepeatable ? "*" : "")-\(short)\(value.isEmpty ? "" : "+")[\(escaped(option.help))]\(value)'"
    }

    private func argument(_ place: Place) -> String {
        "'\(place.isRest ? "*" : ""):\(place.name):\(action(place.kind))'"
    }

    private func action(_ kind: ValueKind) -> String {
        switch kind {
        case .text, .any, .descriptor, .number, .whole, .rate, .seconds: " "
        case .file: "_files"
        case .folder: "_directories"
        case .word(let words): "(\(words.joined(separator: " ")))"
        case .command: "(\(allWords))"
        case .setting(let keys): "{compadd -S \"\" -- \(keys.joined(separator: " "))}"
        case .item, .plainValue, .inFolder: "{\(shellName)_asked \(kind.asked ?? "")}"
        case .tag, .collection:
            "{compadd -- ${(f)\"$(\(name) complete \(kind.asked ?? "") 2>/dev/null </dev/null)\"}}"
        case .field:
            "{compadd -- ${(f)\"$(\(name) complete fields \"$(\(shellName)_place)\" 2>/dev/null </dev/null)\"}}"
        }
    }

    /// Inside `'...[...]'`.
    private func escaped(_ text: String) -> String {
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
