internal import BetterAuth
package import Holdfast

extension CommandError {
    package init(_ error: VaultError) {
        self.init(
            CommandError.exit(for: error.code), code: error.code.description, error.reason,
            advice: CommandError.advice(on: error.code))
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
        self.init(
            CommandError.exit(for: error.code), code: error.code.description, error.reason,
            advice: error.code.kind.flatMap { Advice.on($0) })
    }

    /// Of an operation on the identity that the agent did: its code is one of the identity's where there is one.
    init(ofIdentity error: VaultError) {
        let code = IdentityError.Code(word: error.code.description)
        guard code.kind != nil else {
            self.init(error)
            return
        }
        self.init(IdentityError(code, error.reason))
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

    init(_ error: SecretMemoryError) { self.init(VaultError(error)) }

    /// Any error of a call with untyped throws.
    package init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as VaultError: self.init(error)
        case let error as RecoveryPhraseError: self.init(error)
        case let error as SecretMemoryError: self.init(error)
        case let error as IdentityError: self.init(error)
        default: self.init(VaultError(any: error))
        }
    }

    private static func exit(for code: VaultError.Code) -> ExitCode {
        switch code {
        case .wrongPasscode, .wrongPhrase, .locked, .assuranceTooLow: .refused
        case .delayed, .attemptsExhausted, .noWayLeft, .hardwareDestroyed, .wiped: .delayed
        case .damaged, .receiptMismatch, .newerVersion: .damaged
        case .noVault, .noBackup, .recordNotFound: .notFound
        case .invalidName, .reservedCollection, .isItem, .invalidItem: .usage
        case .proofExpired: .refused
        case .malformedPhrase: .refused
        default: exit(for: IdentityError.Code(word: code.description))  // of an operation that the agent ran
        }
    }

    /// The agent passes on codes of the identity as well.
    private static func advice(on code: VaultError.Code) -> String? {
        if let kind = code.kind { return Advice.on(kind) }
        return IdentityError.Code(word: code.description).kind.flatMap { Advice.on($0) }
    }
}

/// Runs a call of the vault and converts its errors.
func vaultCall<R: ~Copyable>(_ body: () throws -> R) throws(CommandError) -> R {
    do { return try body() } catch { throw CommandError(error) }
}
