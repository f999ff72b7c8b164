/// A completion script for fish, made from the table.
extension ProgramTable where Command: TableCommand {
    var fishCompletions: String {
        // Through the words before the cursor; the line behind it has one that is neither an option nor its value.
        let walk = """
                set -l words
                set -l skip no
                for word in (commandline -opc)[2..-1]
                    if test $skip = yes
                        set skip no
                        continue
                    end
                    switch $word
                        case \(optionsWithValue.joined(separator: " "))
                            set skip yes
                        case '-*'
                        case '*'
            """
        let known = prefixes.map { ShellWord.always(" " + $0) }.joined(separator: " ")
        var script = """
            # fish completion for \(name)
            # Succeeds when the words typed so far name exactly this command; what comes behind it does not matter.
            function _\(shellName)_at
            \(walk)
                            contains -- "$words $word" \(known)
                            and set words "$words $word"
                    end
                end
                test "$words" = "$argv[1]"
            end
            # The first word behind the command.
            function _\(shellName)_place
            \(walk)
                            if contains -- "$words $word" \(known)
                                set words "$words $word"
                            else
                                echo $word
                                return
                            end
                    end
                end
            end

            # Names folder by folder; fish puts no space behind a slash.
            function _\(shellName)_asked
                set -l begun (commandline -ct)
                set begun (string unescape -- $begun; or string sub -s 2 -- $begun)
                \(name) complete $argv[1] -- "$begun" 2>/dev/null </dev/null
            end

            complete -c \(name) -f

            """
        script += block([], general)
        for group in groups { script += block(group, [Flag.help.option]) }
        for command in syntaxes {
            let condition = condition(command.words)
            for option in command.shownOptions { script += line(option, condition) }
            for place in command.places {
                guard let values = values(place.kind) else { continue }
                script += "complete -c \(name) -n \(condition) -f -a \(values) -d \(ShellWord.always(place.help))\n"
            }
        }
        return script
    }

    /// The words that may follow, and the options there.
    private func block(_ path: [String], _ options: [Option]) -> String {
        var text = ""
        for word in nextWords(path) {
            let help = command(path + [word])?.syntax.summary ?? "several commands"
            text += "complete -c \(name) -n \(condition(path)) -a \(word) -d \(ShellWord.always(help))\n"
        }
        for option in options { text += line(option, condition(path)) }
        return text
    }

    private func condition(_ path: [String]) -> String {
        let words = path.map { " " + $0 }.joined()
        return ShellWord.always("_\(shellName)_at \"\(words)\"")
    }

    private func line(_ option: Option, _ condition: String) -> String {
        var text = "complete -c \(name) -n \(condition) -l \(option.name)"
        if let short = option.short { text += " -s \(short)" }
        if let kind = option.kind {
            text += " -x"
            if let values = values(kind) { text += " -a \(values)" }
        }
        return text + " -d \(ShellWord.always(option.help))\n"
    }

    private func values(_ kind: ValueKind) -> String? {
        switch kind {
        case .text, .any, .descriptor, .number, .whole, .rate, .seconds: nil
        case .file: "'(__fish_complete_path)'"
        case .folder: "'(__fish_complete_directories)'"
        case .word(let words): ShellWord.always(words.joined(separator: " "))
        case .setting(let keys): ShellWord.always(keys.joined(separator: " "))
        case .command: ShellWord.always(allWords)
        case .item, .plainValue, .inFolder: "'(_\(shellName)_asked \(kind.asked ?? ""))'"
        case .tag, .collection: "'(\(name) complete \(kind.asked ?? "") 2>/dev/null </dev/null)'"
        case .field: "'(\(name) complete fields (_\(shellName)_place) 2>/dev/null </dev/null)'"
        }
    }
}
