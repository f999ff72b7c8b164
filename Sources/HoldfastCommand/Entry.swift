internal import SystemCalls

/// From the command line to an exit code.
enum Entry {
    static func run() -> ExitCode {
        var isJSON = false
        do throws(CommandError) {
            let line = try words()
            // Decided before parsing, so that a usage error is an object too.
            isJSON = line.prefix { $0 != "--" }.contains(Options.json.option.spelled)
            return try perform(Parser.parse(line))
        } catch {
            if error.exit != .interrupted { Output.note(error.message) }
            if isJSON { try? Output.write(error.json) }
            return error.exit
        }
    }

    private static func perform(_ outcome: Parser.Outcome) throws(CommandError) -> ExitCode {
        switch outcome {
        case .version: try Output.write("holdfast \(Version.text)\n")
        case .help(let words): try Output.write(try Help.text(for: words))
        case .run(let command, let arguments):
            try Descriptors.check(arguments, of: command)
            do throws(CommandError) {
                return try command.run(arguments)
            } catch {
                if error.code == "wiped" { AgentAccess.endAfterWipe(arguments) }
                throw error
            }
        }
        return .done
    }

    /// The arguments as given. `CommandLine.arguments` repairs invalid UTF-8, which would turn a name into another one.
    private static func words() throws(CommandError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = unsafe CommandLine.unsafeArgv[index] else { break }
            guard let word = unsafe String(validatingCString: pointer) else {
                throw .usage("argument \(index) is not valid UTF-8")
            }
            words.append(word)
        }
        return words
    }
}
