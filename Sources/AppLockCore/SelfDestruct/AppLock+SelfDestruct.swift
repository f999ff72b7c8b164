public import SecretMemory
public import VaultCore
internal import VaultFormat
public import VaultStorage

extension AppLock {
    /// Authenticates the owner and makes a change of self-destruct wait for ``confirm(_:)``.
    ///
    /// ```swift
    /// let change = try await lock.begin(.enable, passcode: passcode)   // 1. authenticate
    /// try await lock.confirm(change)                                   // 2. after "this destroys the vault when ..."
    /// while let left = change.remaining, left > .zero { ... }          // 3. show the countdown; cancel(_:) stops it
    /// let key = try await lock.finish(change, passcode: passcode)      // 4. authenticate; show the receipt's key
    /// ```
    /// - Parameters:
    ///   - change: What is wanted.
    ///   - passcode: The passcode; an attempt is spent on it.
    ///   - countdown: Brought between 30 seconds and 24 hours; the vault's own rules may ask for more, never for less.
    /// - Throws: `locked`; `exists` when self-destruct is so already; as ``prove(passcode:)``.
    public func begin(
        _ change: SelfDestructChange, passcode: borrowing SecretBytes, countdown: Duration = .seconds(30)
    ) throws(VaultError) -> SelfDestructSwitch {
        guard vault.isUnlocked else { throw .locked }
        let pending = SelfDestructSwitch(vault: vault, countdown: countdown)
        try pending.begin(change, passcode: passcode)
        return pending
    }

    /// As ``begin(_:passcode:countdown:)``, for a vault without a passcode.
    /// - Parameters:
    ///   - change: What it is to become.
    ///   - proof: ``prove(_:)`` for this alone; ``finish(_:proving:)`` wants another one.
    ///   - countdown: As for ``begin(_:passcode:countdown:)``.
    /// - Throws: `locked`, `exists`, `proofExpired`; `invalidPolicy` where the vault opens without asking, so that
    ///   there is nothing to guess; `proofTooWeak` where it has a passcode.
    public func begin(
        _ change: SelfDestructChange, proving proof: consuming Proof, countdown: Duration = .seconds(30)
    ) throws(VaultError) -> SelfDestructSwitch {
        guard vault.isUnlocked else { throw .locked }
        let protection = try vault.protection()
        guard !protection.ways.contains(.passcode) else { throw .proofTooWeak }
        guard protection.level != .device else {
            throw VaultError(.invalidPolicy, "a vault that opens without asking has nothing to guess")
        }
        let pending = SelfDestructSwitch(vault: vault, countdown: countdown)
        try pending.begin(change, proving: proof)
        return pending
    }

    /// Starts the countdown of a change that was begun; leaving or locking the app gives it up with nothing changed.
    /// - Throws: `notPending` when no change waits for it.
    public func confirm(_ change: SelfDestructSwitch) throws(VaultError) {
        try change.confirm()
        selfDestructChangeBegan { change.leave() }
    }

    /// Ends the countdown with a fresh authentication and writes the change.
    /// - Throws: `delayed` while the countdown runs, with the change still pending; `notPending` when it was cancelled
    ///   or has expired; as ``prove(passcode:)``. A wrong passcode ends the change.
    /// - Returns: The key that a wipe's receipt will be verified with, while self-destruct is on.
    public func finish(
        _ change: SelfDestructSwitch, passcode: borrowing SecretBytes
    ) throws(VaultError) -> Vault.WipeReceiptKey? {
        defer { if change.pending == nil { selfDestructChangeEnded() } }
        return try change.finish(passcode: passcode)
    }

    /// As ``finish(_:passcode:)``, for a vault without a passcode.
    /// - Parameters:
    ///   - change: What ``begin(_:proving:countdown:)`` gave.
    ///   - proof: Another one than that of the beginning.
    public func finish(
        _ change: SelfDestructSwitch, proving proof: consuming Proof
    ) throws(VaultError) -> Vault.WipeReceiptKey? {
        defer { if change.pending == nil { selfDestructChangeEnded() } }
        return try change.finish(proving: proof)
    }

    /// Ends it with nothing changed.
    public func cancel(_ change: SelfDestructSwitch) {
        change.cancel()
        selfDestructChangeEnded()
    }
}
