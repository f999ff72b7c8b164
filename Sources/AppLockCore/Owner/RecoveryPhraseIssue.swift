public import Cryptography
public import VaultCore
public import VaultStorage

/// A recovery phrase that the user is shown and that opens nothing yet.
///
/// ```swift
/// let issue = try await app.lock.issueRecoveryPhrase()
/// issue.phrase.withText { words in show(words) }
/// try await issue.confirm()                              // the user pressed "I wrote it down"
/// ```
///
/// Dropped without ``confirm(_:)``, it was never the vault's.
public final class RecoveryPhraseIssue: Sendable {
    /// The 24 words.
    public let phrase: RecoveryPhrase
    private let lock: AppLock

    init(_ phrase: consuming RecoveryPhrase, _ lock: AppLock) {
        self.phrase = phrase
        self.lock = lock
    }

    /// The user has written the words down: from now on they open the vault. The device's owner confirms it, where the device can
    /// ask; the time for that begins now and not when the words were shown.
    /// - Throws: As ``AppLock/requireOwner(_:phrase:hardware:)``; `proofTooWeak` where the vault has a passcode.
    public func confirm(_ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) {
        try await lock.enroll(self, prompts)
    }

    /// As ``confirm(_:)``, for a vault with a passcode.
    /// - Parameter proof: ``AppLock/prove(passcode:)`` or, for another phrase in place of one, ``AppLock/prove(phrase:)``.
    public func confirm(proving proof: consuming Proof) async throws(VaultError) {
        try await lock.enroll(self, proving: proof)
    }
}
