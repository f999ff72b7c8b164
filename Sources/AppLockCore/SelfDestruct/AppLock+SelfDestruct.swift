public import SecretMemory
public import VaultCore

extension AppLock {
    /// Starts the countdown of a change that was begun; leaving or locking the app gives it up with nothing changed.
    /// - Throws: As ``SelfDestructSwitch/confirm()``.
    public func confirm(_ change: SelfDestructSwitch) throws(VaultError) {
        try change.confirm()
        selfDestructChangeBegan { change.leave() }
    }

    /// Ends the countdown with a fresh authentication and writes the change.
    /// - Throws: As ``SelfDestructSwitch/finish(passcode:)``; a `delayed` one is still pending.
    public func finish(
        _ change: SelfDestructSwitch, passcode: borrowing SecretBytes
    ) throws(VaultError) -> Vault.WipeReceiptKey? {
        defer { if change.pending == nil { selfDestructChangeEnded() } }
        return try change.finish(passcode: passcode)
    }

    /// Ends it with nothing changed.
    public func cancel(_ change: SelfDestructSwitch) {
        change.cancel()
        selfDestructChangeEnded()
    }
}
