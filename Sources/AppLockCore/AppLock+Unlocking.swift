public import Cryptography
public import SecretMemory
public import VaultCore
public import VaultFormat
public import VaultStorage
internal import VaultHeader

extension AppLock {
    /// Opens the vault with a secret as the user entered it: spends an attempt if it is counted, derives the key, and
    /// tells the lock how it went.
    /// - Parameters:
    ///   - kind: Which secret this is. A PIN (``enrollPIN(_:passcode:)``) opens the vault and allows no change.
    ///   - secret: UTF-8, as entered.
    /// - Throws: `wrongPasscode` with the attempts that remain; `delayed` and `attemptsExhausted`; `wiped` if it was
    ///   the last one and self-destruct is on; `damaged` if the secret is right and the vault is not; `exists` if it is
    ///   open already; `readOnly`, `busy`, `rollbackSuspected`, `hardwareUnavailable`, `invalidPasscode`. For a PIN
    ///   also `noPIN`, and `hardwareDestroyed` if the chip no longer answers for it; for a recovery phrase also
    ///   `wrongPhrase`, `noRecoveryPhrase`, and `malformedPhrase` for text that is not a phrase. The vault stays locked
    ///   then.
    public func unlock(_ kind: UnlockSecret, _ secret: borrowing SecretBytes) throws(VaultError) {
        let prompt = try beginPrompt(kind.isCounted ? .authenticate : .authenticateUncounted)
        do throws(VaultError) { try vault.unlock(kind, secret) } catch { throw refused(prompt, error) }
        if kind == .passcode { noteOwner() }
        try opened(prompt, by: .secret(kind))
    }

    /// Opens the vault with its phrase and gives it a new passcode; all attempts are back. A vault that opened without
    /// asking asks for it from now on, which is also the way back where the device has lost the share.
    /// - Parameters:
    ///   - phrase: The vault's phrase.
    ///   - newPasscode: 1 to 1,024 bytes.
    ///   - hardware: Whether the folder is the vault itself or a copy; asked for only where that cannot be told.
    /// - Throws: `wrongPhrase`, `invalidPasscode`, `damaged`, `hardwareUnclaimed`, and what writing throws; the lock
    ///   stays shut then.
    public func recover(
        phrase: borrowing RecoveryPhrase, newPasscode: borrowing SecretBytes, hardware: HardwareDecision? = nil
    ) throws(VaultError) -> Vault.Recovery {
        let prompt = try beginPrompt(.authenticateUncounted)
        let recovery: Vault.Recovery
        do throws(VaultError) {
            recovery = try vault.recover(phrase: phrase, newPasscode: newPasscode, hardware: hardware)
        } catch { throw refused(prompt, error) }
        if recovery.asksNow {
            adoptSettings()
            tellProtection()
        }
        try opened(prompt, by: .recoveryPhrase)
        return recovery
    }

    /// The user cancelled the current prompt, if there is one.
    public func cancelPrompt() {
        guard let prompt = machine.prompt else { return }
        run(.authenticationEnded(prompt.number, .cancelled))
    }
}

extension AppLock {
    /// A prompt that is up: its number, nil where the lock is off and asks nothing, and the emergencies before it.
    struct RunningPrompt {
        let number: UInt64?
        let emergencies: UInt64
    }

    /// Asks the machine for a prompt, unless one that it started automatically is already shown.
    func beginPrompt(_ event: LockMachine.Event) throws(VaultError) -> RunningPrompt {
        let count = emergencies.count
        run(event)
        switch machine.state {
        case .authenticating(let number): return RunningPrompt(number: number, emergencies: count)
        case .disabled where vault.isUnlocked, .unlocked: throw VaultError(.exists, "the vault is unlocked already")
        case .disabled: return RunningPrompt(number: nil, emergencies: count)
        case .delayed(let until):
            let wait = until.milliseconds(since: clock.now()) ?? 0
            throw VaultError(
                .delayed, "the next attempt is possible in \(seconds(wait))", retryAfter: .milliseconds(wait))
        case .locked: throw VaultError(.locked, "the app is not in the foreground")
        case .wiping, .wiped: throw VaultError(.locked, "everything in this vault is being destroyed")
        }
    }

    /// The vault was opened; whether the lock is, the machine decides.
    /// - Parameter method: By what; nil where nobody was asked.
    func opened(_ prompt: RunningPrompt, by method: UnlockMethod?) throws(VaultError) {
        if emergencies.count != prompt.emergencies {
            vault.lock()
            end(prompt.number, .cancelled)
            throw .locked
        }
        if let number = prompt.number {
            run(.authenticationEnded(number, .unlocked(by: method)))
        } else {
            publish(.unlocked(by: method))
        }
        adoptSettings()
        guard vault.isUnlocked else { throw .locked }
    }

    func refused(_ prompt: RunningPrompt, _ error: VaultError) -> VaultError {
        end(prompt.number, outcome(of: error))
        return error
    }

    private func end(_ number: UInt64?, _ outcome: AuthenticationOutcome) {
        if let number { run(.authenticationEnded(number, outcome)) } else { publish(.notUnlocked(outcome)) }
    }

    /// The settings that were read at the start were not authenticated; these are.
    func adoptSettings() {
        guard fixed != .all, let policy = vault.authenticatedPolicy else { return }
        var settings = machine.settings
        settings.timing = policy.lockTiming
        if fixed == .none { settings.isEnabled = policy.isLockEnabled }
        run(.settingsChanged(settings))
    }

    /// What an error of the vault means to the machine. Unknown ones are never a yes and never counted.
    func outcome(of error: VaultError) -> AuthenticationOutcome {
        switch error.code {
        case .wiped: .wipeRequired
        case .wrongPasscode where isWipeDue, .attemptsExhausted where isWipeDue, .noWayLeft where isWipeDue:
            .wipeRequired
        case .wrongPasscode:
            .wrongSecret(retryAfter: error.retryAfter ?? .zero, remaining: error.remainingAttempts)
        case .wrongPhrase, .malformedPhrase: .wrongSecret(retryAfter: .zero, remaining: nil)
        case .delayed: .delayed(error.retryAfter ?? .zero)
        case .notConfirmed: .biometricFailed
        case .cancelled: .cancelled
        case .ownerLockedOut: .systemLockout
        case .ownerBusy: .hardwareBusy
        default: .unavailable
        }
    }

    /// Whether the vault was destroyed, or its ledger has the limit's wrong secrets while self-destruct is on.
    var isWipeDue: Bool {
        if vault.isWiped { return true }
        guard let status = try? vault.status() else { return false }
        return status.policy.selfDestruct && status.refusedAttempts >= status.policy.attemptLimit
    }
}
