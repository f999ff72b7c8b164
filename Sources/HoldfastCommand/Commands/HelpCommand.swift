internal import CommandLineArguments

extension Command {
    static let help = Command(.help(of: "holdfast", example: "holdfast help passcode change")) {
        arguments throws(CommandError) in
        try Output.write(usage(CommandTable.program.help(for: arguments.places)))
        return .done
    }
}
