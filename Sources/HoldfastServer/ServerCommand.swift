internal import BetterAuthHTTP
internal import BetterAuthPostgres
internal import BetterAuthServer
internal import SystemCalls

/// The command: chooses what to do and says in its exit code how that went. 0: done. 1: it failed. 2: the command line
/// cannot be used. 3: a check found faults.
enum ServerCommand {
    static let usage = """
        usage: holdfast-server serve    --listen HOST:PORT --database FILE|postgres://... [--redis redis://...] [OPTIONS]
               holdfast-server app      --listen HOST:PORT (--keys URL --trust ID | --access-key KEY...) [OPTIONS]
               holdfast-server keys     --listen HOST:PORT --hsm URL --trust ID
               holdfast-server hsm      --listen HOST:PORT --folder FOLDER --sign-token-file FILE --admin-token-file FILE
               holdfast-server rotate-keys --keys-file FILE [--keys-in file|tpm] [--publish-seconds N]
               holdfast-server migrate  --database FILE|postgres://...
               holdfast-server check    --database FILE
               holdfast-server vacuum   --database FILE
               holdfast-server help | version

        The options are in holdfast-server(1).

        """

    static let version = "0.1.0"

    static func run(_ words: [String]) -> Int32 {
        do {
            guard !words.contains("--help") else {
                say(usage)
                return 0
            }
            switch words.first {
            case "serve": return try Serve(Array(words.dropFirst())).run()
            case "app": return try AppCommand(Array(words.dropFirst())).run()
            case "keys": return try KeysCommand(Array(words.dropFirst())).run()
            case "hsm": return try HSMCommand(Array(words.dropFirst())).run()
            case "rotate-keys": return try Maintenance.rotateKeys(Array(words.dropFirst()))
            case "migrate": return try Maintenance.migrate(Array(words.dropFirst()))
            case "check": return try Maintenance.check(Array(words.dropFirst()))
            case "vacuum": return try Maintenance.vacuum(Array(words.dropFirst()))
            case "help", "-h":
                say(usage)
                return 0
            case "version", "--version":
                say("holdfast-server \(version)\n")
                return 0
            default:
                complain(usage)
                return 2
            }
        } catch {
            complain("holdfast-server: \(OperatorAdvice.line(for: error))\n")
            return error is UsageError ? 2 : 1
        }
    }

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
