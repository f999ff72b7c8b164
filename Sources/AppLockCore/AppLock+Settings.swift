public import SecretMemory
package import VaultCore
package import VaultFormat
public import VaultStorage
internal import VaultHeader

extension AppLock {
    /// Switches the app lock on or off; the passcode is asked for this alone, and the header keeps it.
    /// - Throws: What checking the passcode and writing the header throw. Nothing is changed then: put the switch back
    ///   and show the error.
    public func setEnabled(_ isEnabled: Bool, passcode: borrowing SecretBytes) throws(VaultError) {
        var settings = machine.settings
        settings.isEnabled = isEnabled
        try change(to: settings, passcode: passcode)
    }

    /// Changes how long the app may be away before it locks.
    /// - Throws: As ``setEnabled(_:passcode:)``.
    package func setTiming(_ timing: LockTiming, passcode: borrowing SecretBytes) throws(VaultError) {
        var settings = machine.settings
        settings.timing = timing
        try change(to: settings, passcode: passcode)
    }

    /// As ``setTiming(_:passcode:)``, for a vault without a passcode.
    /// - Parameters:
    ///   - timing: How long the app may be away.
    ///   - proof: ``prove(_:)``; it is used up.
    /// - Throws: As ``changePolicy(proving:_:)``.
    package func setTiming(_ timing: LockTiming, proving proof: consuming Proof) async throws(VaultError) {
        try await changePolicy(proving: proof) { policy throws(VaultError) in policy.lockTiming = timing }
    }

    /// Says what locks at once, whatever the timing, from now on and until the process ends: an app keeps the user's
    /// choice and says it again when the vault is open.
    /// - Throws: `locked`: what a shut lock does is not changed.
    public func setTriggers(_ triggers: LockTriggers) throws(VaultError) {
        guard vault.isUnlocked, !machine.isShut else { throw .locked }
        var settings = machine.settings
        settings.triggers = triggers
        run(.settingsChanged(settings))
    }

    private func change(to settings: LockSettings, passcode: borrowing SecretBytes) throws(VaultError) {
        let number = try ask(.settingsRequested(settings))
        do throws(VaultError) {
            let attempt = try vault.burnAttempt()
            try vault.changePolicy(passcode: passcode, spending: attempt, renewingOwner: true) {
                policy throws(VaultError) in
                policy.isLockEnabled = settings.isEnabled
                policy.lockTiming = settings.timing
            }
        } catch {
            run(.authenticationEnded(number, outcome(of: error)))
            throw error
        }
        noteOwner()
        run(.authenticationEnded(number, .unlocked(by: .passcode)))
    }

    /// Begins a prompt for a change.
    /// - Throws: `locked` where the lock is shut or the app out of sight, `delayed`, `busy` while another prompt is up.
    func ask(_ event: LockMachine.Event) throws(VaultError) -> UInt64 {
        let before = machine.lastPrompt
        let wasBusy = machine.prompt != nil
        run(event)
        if let prompt = machine.prompt, machine.lastPrompt != before { return prompt.number }
        if wasBusy { throw VaultError(.busy, "another prompt is up") }
        if let until = machine.delayedUntil, let wait = until.milliseconds(since: clock.now()), wait > 0 {
            throw VaultError(
                .delayed, "the next attempt is possible in \(seconds(wait))", retryAfter: .milliseconds(wait))
        }
        throw .locked
    }
}

extension AppLock {
    /// A change of self-destruct is pending from now on: it is given up as soon as the app is left or locked.
    /// - Parameter drop: Ends it with nothing changed; called at once where the app is shut or out of sight.
    package func selfDestructChangeBegan(orElse drop: @escaping @Sendable () -> Void) {
        dropSelfDestructChange = drop
        run(.selfDestructChangeBegan)
    }

    /// The change was made, or given up by its owner.
    package func selfDestructChangeEnded() {
        dropSelfDestructChange = nil
        run(.selfDestructChangeEnded)
    }
}

extension LockEffect {
    /// What the security log says about keys that go, where this effect tells why.
    var lockedBecause: LogLockReason? {
        switch self {
        case .record(.locked(let reason)): reason.logged
        case .record(.wipeBegan), .record(.wiped): .wipe
        default: nil
        }
    }
}

extension LockReason {
    /// What the security log calls it.
    var logged: LogLockReason {
        switch self {
        case .background: .background
        case .minimised: .minimised
        case .idle: .idle
        case .systemLock: .system
        case .userSwitch: .userSwitch
        case .lidClosed: .lidClosed
        case .suspend: .suspend
        case .panic: .panic
        case .reboot, .clockWentBack: .clock
        case .launch, .forced, .keysGone: .requested
        }
    }
}
