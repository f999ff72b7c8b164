package import Cryptography
package import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultWipe
public import VaultStorage

/// Proof that the strongest secret of this vault was entered moments ago, while it is unlocked.
///
/// Made here and nowhere else, after the secret was checked against the vault's master key. It allows one change, once:
/// passed on to it, it is used up. Dropped, it allowed nothing. It is worth nothing after a minute, after the
/// vault was locked, after its keys were changed, and for another vault.
///
/// A PIN makes none: it opens and does nothing else. An unlocked vault alone makes none: the person in front of it may
/// not be its owner.
public struct Proof: ~Copyable, Sendable {
    /// What was given.
    package enum Way: Sendable, Hashable, CaseIterable {
        /// The passcode, at the cost of an attempt.
        case passcode
        /// The vault's recovery phrase.
        case recoveryPhrase
        /// The device's owner, confirmed for this very change.
        case owner
        /// Nobody: the vault opens without asking, and the device cannot ask its owner.
        case nobody
    }

    /// What was given.
    package let way: Way
    /// The opening of the vault that it belongs to: gone once that is over.
    private weak let opening: UnlockedVault?
    private let made: BootInstant
    /// Unwrapped by what was given: what a change of the slots wraps anew.
    private let master: SecretBytes

    init(_ way: Way, _ opening: UnlockedVault, at made: BootInstant, master: consuming SecretBytes) {
        self.way = way
        self.opening = opening
        self.made = made
        self.master = master
    }

    /// - Throws: `proofExpired`.
    fileprivate consuming func use(for present: UnlockedVault, at now: BootInstant) throws(VaultError) {
        guard let opening, opening === present else { throw .proofOver }
        guard now.bootID == made.bootID, now.milliseconds >= made.milliseconds,
            now.milliseconds - made.milliseconds <= Vault.proofMilliseconds
        else { throw .proofTooOld }
    }

    /// As ``use(for:at:)``, for a change that wraps the master key anew.
    consuming func redeem(for present: UnlockedVault, at now: BootInstant) throws(VaultError) -> SecretBytes {
        let copy = try secretMemory(master.copy(lifetime: .longLived))
        try use(for: present, at: now)
        return copy
    }
}

extension Vault {
    fileprivate static let proofMilliseconds: UInt64 = 60_000

    /// How old a proof may be when it is used: time of this boot, sleep included.
    package static let proofLifetime = Duration.milliseconds(proofMilliseconds)

    /// Proves with the passcode that the owner is there. The vault must be open, and stays so whatever the outcome.
    /// - Parameters:
    ///   - passcode: What the user typed.
    ///   - attempt: Spent on it: a wrong one counts like any other.
    /// - Throws: `locked`; `keysChanged` where the header is not the one that was opened, with the attempt left spent;
    ///   as ``verify(passcode:spending:)``.
    package func prove(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) -> Proof {
        guard let opening = gate.current else {
            try? attempt.refund()
            throw .locked
        }
        // A header with another passcode in it, put in the place of ours, would prove nothing about our vault.
        guard opening.keys.headerKeys.authenticates(attempt.header.header) else { throw .keysChanged }
        let verified = try verify(passcode, spending: &attempt)
        note(Success(.confirmed, after: attempt.budgetBefore), verified.keys)
        return Proof(.passcode, opening, at: settings.clock.now(), master: try verified.master.copied())
    }

    /// As ``prove(passcode:spending:)``, with the vault's recovery phrase, whose attempts are not counted.
    /// - Throws: `locked`, `wrongPhrase`, `noRecoveryPhrase`, `damaged`, `keysChanged`, `wiped`.
    package func prove(phrase: borrowing RecoveryPhrase) throws(VaultError) -> Proof {
        try Wipe.finishIfBegun(in: home, settings)
        guard let opening = gate.current else { throw .locked }
        let header = try HeaderFile.read(in: home)
        guard opening.keys.headerKeys.authenticates(header) else { throw .keysChanged }
        let master = try unwrap(phrase, header)
        let keys = try open(header, master: master, proving: .keyBound)
        note(Success(.confirmed, after: budget(header)), keys)
        return Proof(.recoveryPhrase, opening, at: settings.clock.now(), master: master)
    }

    /// Opens the vault with the passcode, and proves with the same check that the owner is there.
    /// - Throws: As ``unlock(passcode:spending:evenIfDamaged:)``.
    package func unlockProving(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, evenIfDamaged: Bool = false
    ) throws(VaultError) -> Proof {
        let master = try unlocking(passcode, spending: attempt, evenIfDamaged: evenIfDamaged)
        guard let opening = gate.current else { throw .locked }
        return Proof(.passcode, opening, at: settings.clock.now(), master: master)
    }

    /// As ``unlockProving(passcode:spending:evenIfDamaged:)``, with the vault's recovery phrase.
    /// - Throws: As ``unlock(phrase:evenIfDamaged:)``.
    package func unlockProving(
        phrase: borrowing RecoveryPhrase, evenIfDamaged: Bool = false
    ) throws(VaultError) -> Proof {
        let master = try unlocking(phrase, evenIfDamaged: evenIfDamaged)
        guard let opening = gate.current else { throw .locked }
        return Proof(.recoveryPhrase, opening, at: settings.clock.now(), master: master)
    }

    /// Uses a proof up, for the one change that its owner wants. It is gone afterwards, accepted or not.
    /// - Throws: `locked`; `proofExpired` for one that is too old, of another vault, or from before the last lock;
    ///   `proofTooWeak` for one that would not change the vault's own rules, such as a finger where there is a
    ///   passcode; `movedElsewhere`.
    package func redeem(_ proof: consuming Proof) throws(VaultError) {
        guard let present = gate.current else { throw .locked }
        let way = proof.way
        try proof.use(for: present, at: settings.clock.now())
        let header = try HeaderFile.read(in: home)
        guard present.keys.headerKeys.authenticates(header) else { throw .movedElsewhere }
        // Nobody is proved only where the device cannot ask: whoever made the proof looked.
        let facts = RequiredProof.Facts(header, canAskOwner: way == .owner)
        guard RequiredProof(facts).ways.contains(way) else { throw .proofTooWeak }
    }
}

extension VaultError.Code {
    /// A proof is older than a minute, or belongs to another opening of the vault; nothing was changed.
    public static let proofExpired = VaultError.Code(.proofExpired)
}

extension VaultError {
    fileprivate static let proofTooOld = VaultError(
        .proofExpired, "more than a minute went by since the passcode or the phrase was given; nothing was changed")
    fileprivate static let proofOver = VaultError(
        .proofExpired,
        "the vault was locked or got other keys since the passcode or the phrase was given; nothing was "
            + "changed")
}
