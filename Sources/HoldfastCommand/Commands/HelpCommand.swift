extension Command {
    static let help = Command(
        "help", summary: "show help for a command",
        details: ["Shows the help of a command, as holdfast COMMAND --help does, or the list of all commands."],
        places: [Place(name: "COMMAND", kind: .command, help: "The words that name it.", isRest: true)], options: [],
        run: { arguments throws(CommandError) in
            try Output.write(try Help.text(for: arguments.places))
            return .done
        })
}
