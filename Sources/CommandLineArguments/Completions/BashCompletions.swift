/// A completion script for bash, made from the table.
extension ProgramTable where Command: TableCommand {
    var bashCompletions: String {
        var script = """
            # bash completion for \(name)
            \(shellName)() {
                local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
                local path='' places=0 place='' skip='' plain='' open='' i
                COMPREPLY=()
                # --option=value comes as three words
                if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
                if [[ $word == = ]]; then word='' previous=${COMP_WORDS[COMP_CWORD - 1]}; fi
                for ((i = 1; i < COMP_CWORD; i++)); do
                    if [[ -n $skip ]]; then
                        if [[ ${COMP_WORDS[i]} != = ]]; then skip=''; fi
                        continue
                    fi
                    case ${COMP_WORDS[i]} in
                    \(optionsWithValue.joined(separator: " | "))) skip=yes ;;
                    -* | =) ;;
                    *)
                        case "$path ${COMP_WORDS[i]}" in
                        \(prefixes.map { "' \($0)'" }.joined(separator: " | "))) path+=" ${COMP_WORDS[i]}" ;;
                        *)
                            if ((places == 0)); then \(shellName)_plain "${COMP_WORDS[i]}"; place=$plain; fi
                            places=$((places + 1))
                            ;;
                        esac
                        ;;
                    esac
                done
                case $previous in
            \(optionValues)
                esac
                case "$path" in

            """
        script += "    '') \(shellName)_words '\(words([], general))' ;;\n"
        for group in groups {
            script += "    ' \(group.joined(separator: " "))') \(shellName)_words "
            script += "'\(words(group, [Flag.help.option]))' ;;\n"
        }
        for command in syntaxes {
            let options = command.shownOptions.map(\.spelled).joined(separator: " ")
            script += "    ' \(command.name)')\n"
            script += "        if [[ $word == -* ]]; then\n            \(shellName)_words '\(options)'\n"
            for (index, place) in command.places.enumerated() {
                guard let action = action(place.kind) else { continue }
                script +=
                    "        elif ((places \(place.isRest ? ">=" : "==") \(index))); then\n            \(action)\n"
            }
            script += "        fi\n        ;;\n"
        }
        return script + """
                esac
            }

            \(shellName)_words() {
                local line
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "$1" -- "$word")
            }

            \(bashQuoting)
            \(shellName)_asked() {
                local line typed
                local -a about=()
                \(shellName)_plain "$word"
                case $1 in
                items | values | folders) about=(-- "$plain") ;;
                fields) about=(-- "$place") ;;
                esac
                # Only what an open agent says; nothing is asked for here.
                while IFS= read -r line; do
                    if [[ $line == "$plain"* ]]; then
                        \(shellName)_typed "$line"
                        COMPREPLY+=("$typed")
                    fi
                done < <(\(name) complete "$1" "${about[@]}" 2>/dev/null </dev/null)
                # What is in a folder comes next.
                if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
            }

            \(shellName)_folders() {
                local line
                compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$word")
            }

            \(shellName)_files() {
                local line
                compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
            }

            complete -F \(shellName) \(name)

            """
    }

    /// What may stand behind an option; nothing is offered for free text and numbers.
    private var optionValues: String {
        optionsByKind.map { kind, names in
            let action = action(kind).map { "\n        \($0)" } ?? ""
            return "    \(names.joined(separator: " | ")))\(action)\n        return\n        ;;"
        }.joined(separator: "\n")
    }

    private func action(_ kind: ValueKind) -> String? {
        switch kind {
        case .text, .any, .descriptor, .number, .whole, .rate, .seconds: nil
        case .folder: "\(shellName)_folders"
        case .file: "\(shellName)_files"
        case .word(let words): "\(shellName)_words '\(words.joined(separator: " "))'"
        case .command: "\(shellName)_words '\(allWords)'"
        case .setting(let keys):
            "compopt -o nospace 2>/dev/null; \(shellName)_words '\(keys.joined(separator: " "))'"
        case .item, .plainValue, .inFolder, .field, .tag, .collection: "\(shellName)_asked \(kind.asked ?? "")"
        }
    }
}
