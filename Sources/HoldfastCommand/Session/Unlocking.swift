internal import CommandLineArguments
internal import Holdfast

/// Finds and opens the vault that a command works on.
enum Unlocking {
    /// Whether the command line asks for the recovery phrase instead of the passcode.
    static func usesPhrase(_ arguments: Arguments) -> Bool {
        arguments[Options.phrase] || arguments[Options.phraseDescriptor] != nil
    }

    /// The vault, still locked.
    static func find(_ arguments: Arguments) throws(CommandError) -> Vault {
        let path = try HomeFolder.path(arguments)
        return try vaultCall { try Vault(at: path) }
    }

    /// The vault, still locked, and its status by the header that was read for that, or what reading it throws.
    static func found(
        _ arguments: Arguments
    ) throws(CommandError) -> (vault: Vault, status: Result<Vault.Status, VaultError>) {
        let path = try HomeFolder.path(arguments)
        return try vaultCall { try Vault.found(at: path) }
    }

    /// The vault, opened with the passcode, with its PIN, or with the phrase, as is asked for.
    /// - Parameters:
    ///   - evenIfDamaged: Whether a database that others changed is opened, to tell what is wrong with it.
    ///   - isForWhole: Whether the command is for the whole vault, so that no agent would do.
    static func open(
        _ arguments: Arguments, evenIfDamaged: Bool = false, isForWhole: Bool = false
    ) throws(CommandError) -> Vault {
        let input = SecretInput(arguments)
        try requireOneSecret(arguments)
        if let vault = try openWithoutAsking(arguments) { return vault }
        // What is wrong with the vault is said before what is missing to open it.
        let vault = try find(arguments)
        if usesPhrase(arguments) {
            try input.requirePhraseSource()
            let phrase = try typedPhrase(arguments, vault)
            try vaultCall { try vault.unlock(phrase: phrase, evenIfDamaged: evenIfDamaged) }
        } else {
            let status = try refuseEarly(vault)
            try input.requireCountedSource(unlockHelps: !isForWhole)
            if isForWhole, !namesSecret(arguments) { input.tellAskedAnyway("the whole vault") }
            try ask(arguments, vault, status) { kind, secret throws(CommandError) in
                try open(vault, kind, secret, evenIfDamaged: evenIfDamaged)
            }
        }
        tellOpened(vault)
        return vault
    }

    /// The phrase, once it is sure that it can open the vault.
    static func typedPhrase(_ arguments: Arguments, _ vault: Vault) throws(CommandError) -> RecoveryPhrase {
        try refuseWithoutPhrase(vault)
        let phrase = try SecretInput(arguments).phrase()
        try refuseIdentityPhrase(phrase, vault)
        return phrase
    }

    /// Shows notices after an unlock.
    static func tellOpened(_ vault: Vault) {
        if vault.leavesHardware { tellUnclaimed() }
        tellOpenItems(vault)
        if (try? vault.isRekeyUnfinished) ?? false {
            Output.remark("A change of keys was interrupted. Run holdfast verify --clean to finish it.")
        }
        if let problem = vault.log.problem {
            Output.note("this unlock could not be written to the security log: \(problem.reason)")
        }
    }

    static func open(
        _ vault: Vault, _ kind: UnlockSecret, _ secret: borrowing SecretBytes, evenIfDamaged: Bool
    ) throws(CommandError) {
        try PassingNote.show("Checking the \(kind.words) ...") { () throws(CommandError) in
            do throws(VaultError) { try vault.unlock(kind, secret, evenIfDamaged: evenIfDamaged) } catch {
                throw kind.isCounted ? notCounted(error) : CommandError(error)
            }
        }
    }

    /// The error; if an attempt could not be spent, it says how to open the vault.
    private static func notCounted(_ error: VaultError) -> CommandError {
        var failure = CommandError(error)
        if error.code == .readOnly || error.code == .permissionDenied {
            failure.what += "; a passcode that cannot be counted is not accepted"
            failure.advice = "--phrase opens the vault for reading"
        }
        return failure
    }

    /// Spends an attempt; if that is impossible, the error says how to open the vault.
    static func burn(_ vault: Vault) throws(CommandError) -> BurnedAttempt {
        do throws(VaultError) { return try vault.burnAttempt() } catch { throw notCounted(error) }
    }

    /// Tells the user that they entered the identity's phrase instead of the vault's.
    static func refuseIdentityPhrase(_ phrase: borrowing RecoveryPhrase, _ vault: Vault) throws(CommandError) {
        guard vault.isIdentityPhrase(phrase) else { return }
        throw CommandError(
            .refused, code: .wrongPhrase,
            "this is the recovery phrase of your identity; the vault has a different one, on its own sheet")
    }

    /// Says before the user types that this vault has no recovery phrase. If the status cannot be read, the phrase may
    /// repair the vault, so it is asked for.
    static func refuseWithoutPhrase(_ vault: Vault) throws(CommandError) {
        if let status = try? vault.status(), !status.slots.contains(.recoveryPhrase) {
            guard status.slots.contains(.passcode) else {
                let way = (try? asksNobody(vault)) == true ? "opens without asking and " : ""
                throw CommandError(
                    .failure, code: .noRecoveryPhrase, "this vault \(way)has no recovery phrase",
                    advice: Advice.on(.noRecoveryPhrase))
            }
            throw .failure(
                .noRecoveryPhrase,
                "this vault has no recovery phrase; use the passcode" + (status.hasPIN ? " or the PIN" : ""))
        }
    }

    /// Says before the user types that passcodes are refused now.
    /// - Returns: The status that was read for it.
    @discardableResult
    static func refuseEarly(_ vault: Vault) throws(CommandError) -> Vault.Status {
        let status = try vaultCall { try vault.status() }
        try refuseEarly(status)
        return status
    }

    /// As ``refuseEarly(_:)``, where the status is known.
    static func refuseEarly(_ status: Vault.Status) throws(CommandError) {
        guard status.slots.contains(.passcode) || status.hasPIN else {
            var error = CommandError(VaultError(.noPasscode, status.wayWithoutPasscode))
            error.advice = status.adviceWithoutPasscode
            throw error
        }
        if status.isPasscodeClosed {
            throw CommandError(.noAttemptLeft(hasPhrase: status.slots.contains(.recoveryPhrase)))
        }
        if let wait = status.retryAfter {
            var error = CommandError(
                .delayed, code: .delayed,
                "too many wrong passcodes. Try again in \(Format.wait(wait))"
                    + status.destructionWarning)
            error.remainingAttempts = status.remainingAttempts
            error.retryAfterSeconds = Format.roundedUpSeconds(wait)
            if status.slots.contains(.recoveryPhrase) { error.advice = Advice.on(.delayed) }
            throw error
        }
    }

    /// Says before the user types that a change of the vault would be refused.
    /// - Parameter status: Nil to read it.
    /// - Returns: The status.
    @discardableResult
    static func refuseChangeEarly(_ vault: Vault, _ status: Vault.Status? = nil) throws(CommandError) -> Vault.Status {
        try vaultCall { try vault.requireClaimedHardware() }
        guard let status else { return try refuseEarly(vault) }
        try refuseEarly(status)
        return status
    }

    /// Says after an unlock that the shares in hardware were made for another folder.
    static func tellUnclaimed(_ status: Vault.Status) {
        if status.leavesHardware { tellUnclaimed() }
    }

    private static func tellUnclaimed() {
        Output.note(
            "WARNING: the TPM or keyring keeps keys of this vault that were made for another folder. This folder is a copy, "
                + "or another program changed its wipe.key. Until you say which (holdfast hardware claim, holdfast hardware "
                + "leave), the vault's unlock methods and policy cannot be changed, and the TPM does not notice an older "
                + "attempt ledger.")
    }
}
