package import SecretMemory
internal import Synchronization
package import VaultCore
internal import VaultFormat
internal import VaultLog
package import VaultStorage
internal import VaultHeader

/// A change of a vault's self-destruct that is under way: ``AppLock/begin(_:passcode:countdown:)`` makes it.
///
/// Runs what a pure state machine decides with the vault's own passcode. What is pending lives here only: with this
/// object or its process it is gone. Safe to use from any thread.
public final class SelfDestructSwitch: Sendable {
    private let vault: Vault
    private let machine: Mutex<SelfDestruct>

    /// - Parameters:
    ///   - vault: Whose rules are changed.
    ///   - countdown: Brought between 30 seconds and 24 hours; the vault's own rules may ask for more, never for less.
    package init(vault: Vault, countdown: Duration = .seconds(30)) {
        self.vault = vault
        let (seconds, attoseconds) = countdown.components
        let longest = Int64(SelfDestruct.longestCountdown / 1000)
        let milliseconds =
            UInt64(min(max(0, seconds), longest)) * 1000 + UInt64(max(0, attoseconds) / 1_000_000_000_000_000)
        machine = Mutex(SelfDestruct(countdown: milliseconds))
    }

    /// What is pending, if anything is.
    public var pending: SelfDestructChange? {
        send(.tick)
        return machine.withLock { $0.pending }
    }

    /// Time left of the countdown, zero when the last authentication is due; nil if no countdown is running.
    public var remaining: Duration? {
        send(.tick)
        let now = vault.settings.clock.now()
        return machine.withLock { machine in
            if case .authenticatingAgain = machine.state { return .zero }
            return machine.remaining(at: now).map { .milliseconds($0) }
        }
    }

    /// The whole countdown.
    public var countdown: Duration { .milliseconds(machine.withLock { $0.countdown }) }

    /// Authenticates the user and makes the change wait for ``confirm()``.
    /// - Throws: `exists` when it is so already or another change is pending; as ``VaultCore/Vault/burnAttempt()`` and
    ///   ``VaultCore/Vault/verify(passcode:spending:)``, with nothing pending then.
    package func begin(_ change: SelfDestruct.Change, passcode: borrowing SecretBytes) throws(VaultError) {
        try begin(change) { () throws(VaultError) in try vault.verify(passcode: passcode, spending: vault.burnAttempt())
        }
    }

    /// As ``begin(_:passcode:)``, for a vault without a passcode.
    /// - Parameter proof: Used up.
    package func begin(_ change: SelfDestruct.Change, proving proof: consuming Proof) throws(VaultError) {
        var carried: Proof? = consume proof
        try begin(change) { () throws(VaultError) in
            guard let proof = carried.take(), proof.way != .nobody else { throw .proofTooWeak }
            try vault.redeem(proof)
        }
    }

    private func begin(
        _ change: SelfDestruct.Change, _ authenticate: () throws(VaultError) -> Void
    ) throws(VaultError) {
        let policy = try vault.status().policy
        guard policy.selfDestruct != (change == .enable) else {
            throw VaultError(.exists, "self-destruct is \(change == .enable ? "on" : "off") already")
        }
        // Not authenticated yet, but what proves the owner is bound to these very rules, or to their keys.
        machine.withLock { $0.lengthen(to: UInt64(policy.selfDestructCountdown) * 1000) }
        guard case .authenticate(let prompt)? = send(.request(change)).first else {
            throw VaultError(.exists, "another change of self-destruct is pending")
        }
        do throws(VaultError) { try authenticate() } catch {
            send(.refused(prompt))
            throw error
        }
        guard send(.authenticated(prompt)) == [.askConfirmation(change)] else { throw SelfDestructSwitch.over }
    }

    /// The user was warned and confirmed: the countdown begins.
    /// - Throws: `notPending` when no change waits for it.
    package func confirm() throws(VaultError) {
        guard case .startCountdown? = send(.confirm).first else { throw SelfDestructSwitch.over }
        vault.log.append(.selfDestruct(.armed))
    }

    /// Authenticates the user again and writes the change.
    /// - Throws: `delayed` while the countdown runs; `notPending` when the change was cancelled or has expired;
    ///   otherwise as ``VaultCore/Vault/burnAttempt()`` and writing. A wrong passcode ends the change.
    /// - Returns: The key that a wipe's receipt will be verified with, while self-destruct is on.
    package func finish(passcode: borrowing SecretBytes) throws(VaultError) -> Vault.WipeReceiptKey? {
        try finish { isOn, approve throws(VaultError) in
            try vault.changeSelfDestruct(to: isOn, passcode: passcode, spending: vault.burnAttempt(), approve: approve)
        }
    }

    /// As ``finish(passcode:)``, for a vault without a passcode.
    /// - Parameter proof: Used up.
    package func finish(proving proof: consuming Proof) throws(VaultError) -> Vault.WipeReceiptKey? {
        var carried: Proof? = consume proof
        return try finish { isOn, approve throws(VaultError) in
            guard let proof = carried.take() else { throw .proofTooWeak }
            return try vault.changeSelfDestruct(to: isOn, proving: proof, approve: approve)
        }
    }

    /// Whether the countdown is over.
    /// - Throws: `delayed`, `notPending`.
    package func requireDue() throws(VaultError) { _ = try due() }

    private func due() throws(VaultError) -> (change: SelfDestruct.Change, prompt: UInt64) {
        send(.tick)
        let now = vault.settings.clock.now()
        let (state, left) = machine.withLock { ($0.state, $0.remaining(at: now)) }
        guard case .authenticatingAgain(let change, let prompt) = state else {
            guard let left else { throw SelfDestructSwitch.over }
            throw VaultError(
                .delayed, "the countdown runs for \(seconds(left)) more", retryAfter: .milliseconds(left))
        }
        return (change, prompt)
    }

    private func finish(
        _ write: (_ isOn: Bool, _ approve: () throws(VaultError) -> Void) throws(VaultError) -> Vault.WipeReceiptKey?
    ) throws(VaultError) -> Vault.WipeReceiptKey? {
        let (change, prompt) = try due()
        do throws(VaultError) {
            return try write(change == .enable) { () throws(VaultError) in
                // Checked at the last moment, so that a cancel during the key derivation is respected.
                guard send(.authenticated(prompt)) == [.apply(change)] else { throw SelfDestructSwitch.over }
            }
        } catch {
            if error.code == .wrongPasscode || error.code == .wiped { send(.refused(prompt)) }
            throw error
        }
    }

    /// Ends what is pending with nothing changed.
    /// - Returns: Whether there was anything.
    @discardableResult
    package func cancel() -> Bool { send(.cancel) == [.end(.cancelled)] }

    /// As ``cancel()``, because the app left the foreground.
    @discardableResult
    package func leave() -> Bool { send(.leave) == [.end(.left)] }

    @discardableResult
    private func send(_ event: SelfDestruct.Event) -> [SelfDestruct.Effect] {
        let now = vault.settings.clock.now()
        let (isArmed, effects) = machine.withLock { machine in
            let isArmed = machine.isArmed
            return (isArmed, machine.handle(event, at: now))
        }
        if isArmed, case .end? = effects.first { vault.log.append(.selfDestruct(.cancelled)) }
        return effects
    }

    private static let over = VaultError(
        .notPending, "no change of self-destruct is pending: it was cancelled, or waited too long; nothing was changed")
}
