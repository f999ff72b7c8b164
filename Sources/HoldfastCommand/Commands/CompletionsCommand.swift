extension Command {
    static let completions = Command(
        "completions", summary: "print shell completions",
        details: [
            "Prints a script that completes commands, options and folders. For bash, add this to ~/.bashrc: "
                + "source <(holdfast completions bash)"
        ],
        example: "holdfast completions bash",
        places: [Place(name: "SHELL", kind: .word(["bash", "zsh", "fish"]), help: "bash, zsh or fish.")], options: [],
        run: { arguments throws(CommandError) in
            switch arguments[place: 0] {
            case "zsh": try Output.write(ZshCompletions.script)
            case "fish": try Output.write(FishCompletions.script)
            default: try Output.write(BashCompletions.script)
            }
            return .done
        })
}
