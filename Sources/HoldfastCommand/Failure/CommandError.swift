internal import CommandLineArguments
internal import Holdfast

/// Why a command failed: a line for people, a code for programs, and an exit code.
package struct CommandError: Error, Sendable {
    package let exit: ExitCode
    /// A stable word for JSON output.
    let code: String
    /// What happened. Never a secret.
    var what: String
    /// What to do about it, where that is not said already.
    var advice: String?
    /// Attempts left, if one was refused.
    var remainingAttempts: Int?
    /// Seconds until the next attempt is possible, rounded up, during a delay.
    var retryAfterSeconds: Int64?
    /// What a key store that cannot be asked now waits for.
    var until: ShareWait?

    init(_ exit: ExitCode, code: String, _ what: String, advice: String? = nil) {
        self.exit = exit
        self.code = code
        self.what = what
        self.advice = advice
    }

    /// What happened and what to do, in one line.
    package var message: String { advice.map { "\(what); \($0)" } ?? what }

    package static func usage(_ message: String) -> CommandError { CommandError(.usage, code: "usage", message) }

    package static func failure(_ code: String, _ message: String) -> CommandError {
        CommandError(.failure, code: code, message)
    }

    /// A signal asked the process to stop while a secret was being typed.
    package static let interrupted = CommandError(.interrupted, code: "interrupted", "interrupted")

    /// As an object for `--json`.
    var json: JSON {
        .object([
            "error": .object([
                "code": .text(code), "message": .text(message),
                "remainingAttempts": remainingAttempts.map { .integer(Int64($0)) } ?? .null,
                "retryAfterSeconds": retryAfterSeconds.map { .integer($0) } ?? .null,
                "until": until.map { .text($0.word) } ?? .null,
            ])
        ])
    }
}

/// The command line's own errors as this command's.
func usage<Result>(_ work: @autoclosure () throws(UsageError) -> Result) throws(CommandError) -> Result {
    do { return try work() } catch { throw .usage(error.description) }
}
