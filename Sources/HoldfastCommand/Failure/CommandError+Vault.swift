internal import BetterAuth
internal import CommandLineArguments
package import Holdfast

extension CommandError {
    package init(_ error: VaultError) {
        self.init(
            ExitCode(error.code), code: error.code, error.reason,
            advice: error.until.map { Advice.on($0) } ?? CommandError.advice(on: error.code))
        until = error.until
        remainingAttempts = error.remainingAttempts
        retryAfterSeconds = error.retryAfter.map(Format.roundedUpSeconds)
    }

    init(_ error: RecoveryPhraseError) {
        if case .memory(let error) = error {
            self.init(error)
        } else {
            self.init(.refused, code: .malformedPhrase, "\(error)")
        }
    }

    init(_ error: IdentityError) {
        self.init(
            ExitCode(error.code), code: .identity(error.code), error.reason,
            advice: error.code.kind.flatMap { Advice.on($0) })
    }

    /// Of an operation on the identity that the agent did: its code is one of the identity's where there is one.
    init(ofIdentity error: VaultError) {
        let code = error.code.identity
        guard code.kind != nil else {
            self.init(error)
            return
        }
        self.init(IdentityError(code, error.reason))
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

    /// With the advice that fits the vault of a command line, where it depends on what opens that. The vault may be
    /// locked, so what its header says is not proved.
    func fitting(_ arguments: Arguments) -> CommandError {
        guard let kind = code.kind, advice == Advice.on(kind),
            Advice.on(kind, whereOpenBy: []) != nil || Advice.on(kind, whereOpenBy: [.recoveryPhrase]) != nil,
            let status = try? Unlocking.find(arguments).status()
        else { return self }
        var error = self
        error.advice = Advice.on(kind, whereOpenBy: status.slots) ?? advice
        return error
    }

    /// Without what the command that failed cannot do: one text serves many commands, and not all of them have its
    /// option.
    func fitting(_ syntax: CommandSyntax) -> CommandError {
        guard let advice else { return self }
        let clauses = advice.split(separator: "; ")
        let fitting = clauses.filter { clause in
            // Behind `holdfast COMMAND` an option is that command's.
            let words = clause.prefix(upTo: clause.firstRange(of: "holdfast ")?.lowerBound ?? clause.endIndex)
                .split(whereSeparator: { " ,.".contains($0) })
            return words.allSatisfy { !$0.hasPrefix("--") || syntax.option(named: String($0.dropFirst(2))) != nil }
        }
        guard fitting.count < clauses.count else { return self }
        var error = self
        error.advice = fitting.isEmpty ? nil : fitting.joined(separator: "; ")
        if error.advice == nil, code == .recordExists {
            error.advice = "choose another name"
        }
        return error
    }

    /// The agent passes on codes of the identity as well.
    private static func advice(on code: VaultError.Code) -> String? {
        if let kind = code.kind { return Advice.on(kind) }
        return code.identity.kind.flatMap { Advice.on($0) }
    }
}

/// Runs a call of the vault and converts its errors.
func vaultCall<R: ~Copyable>(_ body: () throws -> R) throws(CommandError) -> R {
    do { return try body() } catch { throw CommandError(error) }
}
