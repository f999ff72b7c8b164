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
