/// A completion script for fish, made from the command table.
enum FishCompletions {
    static var script: String {
        var script = """
            # fish completion for holdfast
            # Succeeds when the words typed so far name exactly this command; what comes behind it does not matter.
            function __holdfast_at
                set -l words
                set -l skip no
                for word in (commandline -opc)[2..-1]
                    if test $skip = yes
                        set skip no
                        continue
                    end
                    switch $word
                        case \(ShellText.optionsWithValue.joined(separator: " "))
                            set skip yes
                        case '-*'
                        case '*'
                            contains -- "$words $word" \(ShellText.prefixes.map { ShellText.quoted(" " + $0) }.joined(separator: " "))
                            and set words "$words $word"
                    end
                end
                test "$words" = "$argv[1]"
            end

            complete -c holdfast -f

            """
        script += block([], CommandTable.general)
        for group in ShellText.groups { script += block(group, [Options.help.option]) }
        for command in CommandTable.all {
            let condition = condition(command.words)
            for option in command.options { script += line(option, condition) }
            for place in command.places {
                guard let values = values(place.kind) else { continue }
                script += "complete -c holdfast -n \(condition) -f -a \(values) -d \(ShellText.quoted(place.help))\n"
            }
        }
        return script
    }

    /// The words that may follow, and the options there.
    private static func block(_ path: [String], _ options: [Option]) -> String {
        var text = ""
        for word in CommandTable.nextWords(path) {
            let help = CommandTable.command(path + [word])?.summary ?? "several commands"
            text += "complete -c holdfast -n \(condition(path)) -a \(word) -d \(ShellText.quoted(help))\n"
        }
        for option in options { text += line(option, condition(path)) }
        return text
    }

    private static func condition(_ path: [String]) -> String {
        let words = path.map { " " + $0 }.joined()
        return ShellText.quoted("__holdfast_at \"\(words)\"")
    }

    private static func line(_ option: Option, _ condition: String) -> String {
        var text = "complete -c holdfast -n \(condition) -l \(option.name)"
        if option == Options.help.option { text += " -s h" }
        if let kind = option.kind {
            text += " -x"
            if let values = values(kind) { text += " -a \(values)" }
        }
        return text + " -d \(ShellText.quoted(option.help))\n"
    }

    private static func values(_ kind: ValueKind) -> String? {
        switch kind {
        case .text, .descriptor, .number, .seconds: nil
        case .file: "'(__fish_complete_path)'"
        case .folder: "'(__fish_complete_directories)'"
        case .word(let words): ShellText.quoted(words.joined(separator: " "))
        case .command: ShellText.quoted(ShellText.allWords)
        }
    }
}
