/// A completion script for bash, made from the command table.
enum BashCompletions {
    static var script: String {
        var script = """
            # bash completion for holdfast
            _holdfast() {
                local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
                local path='' places=0 skip='' i
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
                    \(ShellText.optionsWithValue.joined(separator: " | "))) skip=yes ;;
                    -* | =) ;;
                    *)
                        case "$path ${COMP_WORDS[i]}" in
                        \(ShellText.prefixes.map { "' \($0)'" }.joined(separator: " | "))) path+=" ${COMP_WORDS[i]}" ;;
                        *) places=$((places + 1)) ;;
                        esac
                        ;;
                    esac
                done
                case $previous in
            \(optionValues)
                esac
                case "$path" in

            """
        script += "    '') _holdfast_words '\(ShellText.words([], CommandTable.general))' ;;\n"
        for group in ShellText.groups {
            script += "    ' \(group.joined(separator: " "))') _holdfast_words "
            script += "'\(ShellText.words(group, [Options.help.option]))' ;;\n"
        }
        for command in CommandTable.all {
            let options = command.options.map(\.spelled).joined(separator: " ")
            script += "    ' \(command.name)')\n"
            script += "        if [[ $word == -* ]]; then\n            _holdfast_words '\(options)'\n"
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

            _holdfast_words() {
                local line
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "$1" -- "$word")
            }

            _holdfast_folders() {
                local line
                compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$word")
            }

            _holdfast_files() {
                local line
                compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
            }

            complete -F _holdfast holdfast

            """
    }

    /// What may stand behind an option; nothing is offered for free text and numbers.
    private static var optionValues: String {
        ShellText.optionsByKind.map { kind, names in
            let action = action(kind).map { "\n        \($0)" } ?? ""
            return "    \(names.joined(separator: " | ")))\(action)\n        return\n        ;;"
        }.joined(separator: "\n")
    }

    private static func action(_ kind: ValueKind) -> String? {
        switch kind {
        case .text, .descriptor, .number, .seconds: nil
        case .folder: "_holdfast_folders"
        case .file: "_holdfast_files"
        case .word(let words): "_holdfast_words '\(words.joined(separator: " "))'"
        case .command: "_holdfast_words '\(ShellText.allWords)'"
        }
    }
}
