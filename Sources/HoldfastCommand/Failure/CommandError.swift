internal import CommandLineArguments
package import Holdfast

/// Why a command failed: a line for people, a code for programs, and an exit code.
package struct CommandError: Error, Sendable {
    /// The library's codes, the identity's and the command's own in one open set; each is a stable word in JSON output.
    package typealias Code = VaultError.Code

    package let exit: ExitCode
    /// One of the library's, of the identity's or of the command's own (``CommandError/Code``).
    let code: Code
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

    init(_ exit: ExitCode, code: Code, _ what: String, advice: String? = nil) {
        self.exit = exit
        self.code = code
        self.what = what
        self.advice = advice
    }

    /// What happened and what to do, in one line.
    package var message: String { advice.map { "\(what); \($0)" } ?? what }

    package static func usage(_ message: String) -> CommandError { CommandError(.usage, code: .usage, message) }

    package static func failure(_ code: Code, _ message: String) -> CommandError {
        CommandError(.failure, code: code, message)
    }

    /// A signal asked the process to stop while a secret was being typed.
    package static let interrupted = CommandError(.interrupted, code: .interrupted, "interrupted")

    /// As an object for `--json`.
    var json: JSON {
        .object([
            "error": .object([
                "code": .text(code.description), "message": .text(message),
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
