internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import QRReading
internal import SystemCalls

/// From the command line to an exit code.
package enum Entry {
    /// The whole process.
    /// - Returns: Its exit code.
    package static func start() -> Int32 {
        prepare()
        return QRReading.serve() ?? TerminalGuard.serve() ?? run().rawValue
    }

    /// What a program does before it opens a file.
    package static func prepare() {
        ProcessHardening.apply()
        Descriptors.fillStandardOnes()
        // A reader that went away is an error of the write: what is open is closed in order, as for any other.
        signal(SIGPIPE, SIG_IGN)
    }

    static func run() -> ExitCode {
        var isJSON = false
        do throws(CommandError) {
            let line = try ProgramNames.words + usage(CommandWords.read())
            // Decided before parsing, so that a usage error is an object too.
            isJSON = line.prefix { $0 != "--" }.contains(Options.json.option.spelled)
            guard !line.isEmpty else {
                // What a script with an empty word runs has not done anything.
                try Output.write(usage(CommandTable.program.help(for: [])))
                return .usage
            }
            return try perform(usage(CommandTable.program.parse(line)))
        } catch {
            if ![.interrupted, .readerGone].contains(error.exit) { Output.note(error.message) }
            if isJSON { try? Output.write(error.json) }
            return error.exit
        }
    }

    private static func perform(_ outcome: ParsedLine<Command>) throws(CommandError) -> ExitCode {
        switch outcome {
        case .version: try Output.write("holdfast \(Version.text)\(Version.note)\n")
        case .help(let words): try Output.write(usage(CommandTable.program.help(for: words)))
        case .run(let command, let arguments):
            try Descriptors.check(arguments, of: command.syntax)
            let arguments = try Defaults.completing(arguments, of: command.syntax)
            if let successor = command.syntax.successor {
                Output.remark("This command is now called \(successor); these words still work.")
            }
            do throws(CommandError) {
                return try command.run(arguments)
            } catch {
                if error.code == .wiped { AgentAccess.endAfterWipe(arguments) }
                throw error.fitting(arguments).fitting(command.syntax)
            }
        }
        return .done
    }
}
