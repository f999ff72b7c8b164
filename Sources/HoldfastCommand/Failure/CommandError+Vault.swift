internal import BetterAuth
internal import Holdfast

extension CommandError {
    init(_ error: VaultError) {
        self.init(CommandError.exit(for: error.code), code: error.code.description, error.reason)
        if let advice = CommandError.advice(error) { message += "; " + advice }
        remainingAttempts = error.remainingAttempts
        retryAfterSeconds = error.retryAfter.map(Format.roundedUpSeconds)
    }

    init(_ error: RecoveryPhraseError) {
        if case .memory(let error) = error {
            self.init(error)
        } else {
            self.init(.refused, code: "malformedPhrase", "\(error)")
        }
    }

    init(_ error: IdentityError) {
        self.init(CommandError.exit(for: error.code), code: error.code.description, error.reason)
    }

    private static func exit(for code: IdentityError.Code) -> ExitCode {
        switch code {
        case .refused, .locked, .chainUnknown, .wrongPhrase, .unknownServerKey, .proofExpired: .refused
        case .damaged, .newerVersion: .damaged
        case .noAccount, .noSession: .notFound
        case .invalidAddress, .invalidContainer: .usage
        default: .failure
        }
    }

    init(_ error: SecretMemoryError) { self.init(.failure, code: "outOfMemory", "\(error)") }

    /// Whatever a call with untyped errors threw.
    init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as VaultError: self.init(error)
        case let error as RecoveryPhraseError: self.init(error)
        case let error as SecretMemoryError: self.init(error)
        case let error as IdentityError: self.init(error)
        default: self.init(.failure, code: "failure", "\(error)")
        }
    }

    private static func exit(for code: VaultError.Code) -> ExitCode {
        switch code {
        case .wrongPasscode, .wrongPhrase, .locked, .assuranceTooLow: .refused
        case .delayed, .attemptsExhausted, .hardwareDestroyed, .wiped: .delayed
        case .damaged, .receiptMismatch, .newerVersion: .damaged
        case .noVault, .recordNotFound: .notFound
        case .invalidName, .reservedCollection: .usage
        case .proofExpired: .refused
        default: exit(for: IdentityError.Code(code.description))  // of an operation that the agent ran
        }
    }

    /// What to do, where the reason does not say it.
    private static func advice(_ error: VaultError) -> String? {
        switch error.code {
        case .noVault where error.reason.hasPrefix("there is no vault"):
            "create one with holdfast init, or say where it is with --home"
        case .keysChanged: "run the command again"
        case .recordExists: "--replace replaces it"
        default: nil
        }
    }
}

/// Runs calls of the vault and turns what they throw into ours.
func vaultCall<R: ~Copyable>(_ body: () throws -> R) throws(CommandError) -> R {
    do { return try body() } catch { throw CommandError(error) }
}
