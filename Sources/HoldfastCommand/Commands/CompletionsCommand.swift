internal import CommandLineArguments

extension Command {
    static let completions = Command(.completions(of: "holdfast")) { arguments throws(CommandError) in
        try Output.write(CommandTable.program.completions(for: arguments[place: 0]))
        return .done
    }
}
