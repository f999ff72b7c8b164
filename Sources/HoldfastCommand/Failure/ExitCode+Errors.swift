internal import BetterAuth
internal import Holdfast

extension ExitCode {
    /// Of a vault's error. A code without an exit code does not compile; one of an agent that is newer is a failure.
    init(_ code: VaultError.Code) {
        // The agent passes on codes of the identity as well.
        self = code.kind.map(ExitCode.of) ?? ExitCode(code.identity)
    }

    /// Of an identity's error.
    init(_ code: IdentityError.Code) { self = code.kind.map(ExitCode.of) ?? .failure }

    private static func of(_ code: VaultError.Code.Kind) -> ExitCode {
        switch code {
        case .wrongPasscode, .wrongPhrase, .malformedPhrase, .locked: .refused
        case .assuranceTooLow, .proofExpired, .proofTooWeak, .passcodeNeeded, .notAllowed, .notConfirmed, .cancelled,
            .ownerLockedOut, .levelLowered, .levelContradicted:
            .notAllowed
        case .delayed, .attemptsExhausted, .noWayLeft, .hardwareDestroyed, .wiped: .delayed
        case .damaged, .receiptMismatch, .newerVersion: .damaged
        case .noVault, .noBackup, .recordNotFound, .vaultMissing: .notFound
        case .invalidName, .reservedCollection, .isItem, .invalidItem: .usage
        case .exists, .noRecoveryPhrase, .noPIN, .noPasscode, .lastWayIn, .notPending, .rollbackSuspected,
            .hardwareUnavailable,
            .hardwareFull, .hardwareUnclaimed, .keysChanged, .otherVault, .keysWornOut, .hardLinked, .recordExists,
            .invalidPasscode, .invalidPolicy, .stepNotInPolicy, .tooLarge, .readOnly, .diskFull, .permissionDenied,
            .quotaExceeded, .unconfirmed, .noPublicKey, .busy, .inputOutput, .outOfMemory, .cryptography, .unexpected,
            .timedOut, .ownerUnavailable, .ownerNotEnrolled, .ownerBusy, .shareUnavailable, .shareLost,
            .stillMoving, .movedElsewhere, .notRecoverable, .agentUnavailable, .agentRunning, .agentProtocol:
            .failure
        }
    }

    private static func of(_ code: IdentityError.Code.Kind) -> ExitCode {
        switch code {
        case .locked, .wrongPhrase: .refused
        case .refused, .chainUnknown, .unknownServerKey, .proofExpired: .notAllowed
        case .damaged, .newerVersion: .damaged
        case .noAccount, .noSession: .notFound
        case .invalidAddress, .invalidContainer: .usage
        case .accountExists, .unreachable, .notTheServer, .invalidReply, .undecided, .keyUnavailable, .keysLost,
            .storage, .tooLarge, .invalidData, .cryptography, .outOfMemory, .unexpected, .otherServer:
            .failure
        }
    }
}

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
    case partly = 8
    case found = 9
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
        case .partly: "import, export: done, but not all of it unchanged"
        case .found: "health: passwords were found that should be changed"
        case .programFailed: "run: the program cannot be started"
        case .noProgram: "run: there is no such program"
        case .interrupted: "interrupted by a signal; the operation was not completed"
        case .readerGone: "the reader of the output went away before everything was written"
        }
    }
}
