internal import CommandLineArguments

extension Command {
    static let help = Command(.help(of: "holdfast", example: "holdfast help passcode change")) {
        arguments throws(CommandError) in
        try Output.write(usage(CommandTable.program.help(for: arguments.places)))
        return .done
    }

    /// For `make man`.
    static let manual = Command(
        "manual", summary: "print what the manual page has of the command table",
        details: ["Prints the parts of the manual page that scripts/man puts into it."], example: "holdfast manual",
        options: []
    ) { _ throws(CommandError) in
        try Output.write(CommandTable.program.manual)
        return .done
    }
}
