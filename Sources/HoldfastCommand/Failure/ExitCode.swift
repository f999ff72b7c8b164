/// The exit codes of the process; the numbers are documented and do not change.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case failure = 1
    case usage = 2
    case refused = 3
    case delayed = 4
    case damaged = 5
    case notFound = 6
    case notAllowed = 7
    case programFailed = 126
    case noProgram = 127
    case interrupted = 130
    case readerGone = 141

    /// For help and the man page.
    package var meaning: String {
        switch self {
        case .done: "done"
        case .failure: "failure: the reason is on standard error"
        case .usage: "incorrect usage; nothing was done"
        case .refused: "locked, or a wrong passcode, PIN or recovery phrase"
        case .delayed: "attempts are delayed or exhausted, or the vault was destroyed"
        case .damaged: "damaged, or written by a newer version"
        case .notFound: "no such entry, or no vault"
        case .notAllowed: "refused for another reason than a wrong secret: by a rule, a prompt, a sensor or a server"
        case .programFailed: "run: the program cannot be started"
        case .noProgram: "run: there is no such program"
        case .interrupted: "interrupted by a signal; the operation was not completed"
        case .readerGone: "the reader of the output went away before everything was written"
        }
    }
}
