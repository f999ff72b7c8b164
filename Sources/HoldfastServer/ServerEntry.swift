internal import BetterAuthHTTP
internal import CommandLineArguments
internal import SecretMemory
internal import SystemCalls

/// The whole program: from the command line to an exit code.
enum ServerEntry {
    static let version = "0.1.0"

    static func run() -> ServerExit {
        // A file that reaches a limit of its size is an error of the write, not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
        // Before anything is read: a reload that is asked of a server while it starts would end it.
        Signals.hold()
        do {
            switch try ServerTable.program.parse(CommandWords.read()) {
            case .version: ServerOutput.say("holdfast-server \(version)\n")
            case .help(let words): ServerOutput.say(try ServerTable.program.help(for: words))
            case .run(let command, let arguments):
                // What is missing of the machine's libraries ends the program now, not at somebody's request.
                CLibraries.loadForServer()
                if !command.serves { Signals.release() }
                let whole = try Configuration.completed(arguments, of: command.syntax)
                if !command.judges { try Judgement(whole).conclude() }
                return try command.run(whole)
            }
            return .done
        } catch {
            let lines = (error as? Mistakes)?.all.map(\.description)
            for line in lines ?? ["holdfast-server: " + OperatorAdvice.line(for: error)] {
                ServerOutput.complain(line + "\n")
            }
            return OperatorAdvice.mayPass(error) ? .failure : .usage
        }
    }
}

enum ServerOutput {
    static func say(_ text: String) { write(1, text) }

    static func complain(_ text: String) { write(2, text) }

    private static func write(_ descriptor: Int32, _ text: String) {
        var bytes = Array(text.utf8)
        while !bytes.isEmpty {
            let count = unsafe SystemCalls.write(descriptor, bytes, bytes.count)
            guard count > 0 || errno == EINTR else { return }
            bytes.removeFirst(max(count, 0))
        }
    }
}
