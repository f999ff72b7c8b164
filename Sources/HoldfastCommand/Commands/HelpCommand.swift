extension Command {
    static let help = Command(
        "help", summary: "show help for a command",
        details: [
            "Shows the same help as holdfast COMMAND --help, or the list of all commands."
        ],
        example: "holdfast help passcode change",
        places: [Place(name: "COMMAND", kind: .command, help: "The words that name it.", isRest: true)], options: [],
        run: { arguments throws(CommandError) in
            try Output.write(try Help.text(for: arguments.places))
            return .done
        })
}
