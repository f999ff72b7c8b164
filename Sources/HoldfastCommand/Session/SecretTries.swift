internal import CommandLineArguments
internal import Holdfast

/// A secret that the vault counts, asked for on the terminal until it is right, or until the vault's attempts are too
/// few to continue without a thought: a command alone never spends the last two.
struct SecretTries: ~Copyable {
    /// Wrong ones that one command asks for.
    private static let most = 3
    /// Attempts that must remain for another question.
    private static let reserve = 3

    private let vault: Vault
    private let terminal: Terminal
    private var wrong = 0
    /// What was refused last: entered once more, it costs no attempt.
    private var refused: SecretBytes?

    /// - Throws: A usage error without a terminal.
    init(_ vault: Vault) throws(CommandError) {
        guard let terminal = Terminal() else { throw .usage("there is no terminal to ask on") }
        self.vault = vault
        self.terminal = terminal
    }

    /// Asks and uses what was entered.
    /// - Parameters:
    ///   - isEmptyAnAnswer: Whether Enter alone means that the user wants to be asked for something else.
    ///   - use: Spends an attempt.
    /// - Returns: Nil for Enter alone, where that is an answer.
    /// - Throws: What `use` throws, once nothing more is asked; `cancelled` at an end of input.
    mutating func ask<R: ~Copyable>(
        for kind: UnlockSecret, _ status: Vault.Status, prompt: String, isEmptyAnAnswer: Bool = false,
        _ use: (borrowing SecretBytes) throws(CommandError) -> R
    ) throws(CommandError) -> R? {
        try warn(kind, status)
        refused = nil
        var left = status.remainingAttempts
        while true {
            let typed = try terminal.readSecret(prompt: prompt, capacity: SecretInput.longestPasscode)
            if typed.count == 0 {
                if isEmptyAnAnswer { return nil }
                continue
            }
            if isRefused(typed) {
                try terminal.write("This \(kind.words) was just refused, and was not counted again.\n")
                continue
            }
            // Others may have spent attempts while this waited.
            if let now = try? vault.status(), now.remainingAttempts < left {
                left = now.remainingAttempts
                if left == 1 {
                    try warn(kind, now)
                    continue
                }
            }
            do throws(CommandError) { return try use(typed) } catch {
                left = error.remainingAttempts ?? left
                guard isAskedAgain(after: error) else { throw error }
                Output.note(error.what)
            }
            refused = consume typed
        }
    }

    private func isRefused(_ typed: borrowing SecretBytes) -> Bool {
        switch refused {
        case .some(let refused): refused.isEqual(to: typed)
        case .none: false
        }
    }

    private mutating func isAskedAgain(after error: CommandError) -> Bool {
        guard error.code == .wrongPasscode else { return false }
        wrong += 1
        return wrong < SecretTries.most && error.retryAfterSeconds == nil
            && (error.remainingAttempts ?? 0) >= SecretTries.reserve
    }

    /// Says before the user types that there are few attempts, and has them say yes before the last one.
    private func warn(_ kind: UnlockSecret, _ status: Vault.Status) throws(CommandError) {
        let chip = vault.remainingAtChip(kind == .pin ? .pin : .passcode) ?? .max
        switch min(status.remainingAttempts, chip) {
        case 2: try terminal.write("2 attempts remain.\n")
        case 1:
            let end = chip < status.remainingAttempts ? status.endAtChip(kind) : status.endOfAttempts
            try terminal.write(
                Escaping.wrapped("This is the last attempt: a wrong \(kind.words) \(end).", to: terminal.columns))
            try Confirmation.wait("Type y or yes to go on: ", for: "yes", on: terminal)
        default: break
        }
    }
}

extension Vault.Status {
    /// What the last wrong passcode or PIN of the vault's own count does.
    fileprivate var endOfAttempts: String {
        let isWhole = remainingAttempts + refusedAttempts == policy.attemptLimit
        if policy.selfDestruct, isWhole { return "destroys this vault and everything in it" }
        // Attempts that were lost on the way close the passcode.
        guard isWhole else { return "closes the vault: then \(restWithoutPasscode)" }
        return hasRecoveryPhrase
            ? "leaves one attempt an hour, and the recovery phrase" : "leaves one attempt an hour"
    }

    /// What the last one of the chip's count does.
    fileprivate func endAtChip(_ kind: UnlockSecret) -> String {
        kind == .pin
            ? "ends the PIN at the TPM: then only the passcode works"
            : "ends it at the TPM: then \(restWithoutPasscode)"
    }
}

extension Unlocking {
    /// Asks for the passcode and uses it. On the terminal a wrong one is asked for again as far as ``SecretTries``
    /// goes; of a descriptor there is one.
    /// - Parameters:
    ///   - status: Nil to read it.
    ///   - note: What the terminal shows meanwhile.
    ///   - use: Spends an attempt.
    static func withPasscode<R: ~Copyable>(
        _ input: SecretInput, _ vault: Vault, _ status: Vault.Status? = nil, prompt: String = "Passcode: ",
        note: String = "Checking the passcode ...",
        _ use: (borrowing SecretBytes) throws(CommandError) -> R
    ) throws(CommandError) -> R {
        if input.namesPasscode {
            let passcode = try input.passcode()
            return try PassingNote.show(note) { () throws(CommandError) in try use(passcode) }
        }
        return try Silence.hold { () throws(CommandError) in
            let status = if let status { status } else { try vaultCall { try vault.status() } }
            tellOfPasscode(input, vault, status)
            input.tellAskedAnyway("the passcode itself")
            var tries = try SecretTries(vault)
            let result = try tries.ask(for: .passcode, status, prompt: prompt) { passcode throws(CommandError) in
                try PassingNote.show(note) { () throws(CommandError) in try use(passcode) }
            }
            switch consume result {
            case .some(let result): return result
            case .none: throw .failure(.cancelled, "nothing was entered")
            }
        }
    }

    /// The passcode, checked at once where it is typed, so that what is asked for or shown behind it is not in vain.
    /// - Parameter evenOfDescriptor: Whether one of a descriptor is checked as well.
    static func checkedPasscode(
        _ input: SecretInput, _ vault: Vault, prompt: String = "Passcode: ", evenOfDescriptor: Bool = false
    ) throws(CommandError) -> SecretBytes {
        if input.namesPasscode, !evenOfDescriptor { return try input.passcode() }
        return try withPasscode(input, vault, prompt: prompt) { passcode throws(CommandError) in
            try vaultCall {
                try vault.verify(passcode: passcode, spending: vault.burnAttempt())
                return try passcode.copy()
            }
        }
    }
}
