import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat
import VaultCore
import VaultHeader
import VaultLog
import VaultStorage

/// That the owner is there: made of the right secret alone, used once, good for a minute and for one opening of one
/// vault.
@Suite struct ProofTests {
    private let home: TestHome
    private let phrase: RecoveryPhraseBox
    private let vault: Vault

    init() throws {
        home = try TestHome()
        phrase = try home.create()
        vault = try home.open()
        try vault.unlock("right")
    }

    private func prove(_ passcode: String, _ vault: Vault) throws -> Proof {
        let passcode = try secret(passcode)
        return try vault.prove(passcode: passcode, spending: vault.burnAttempt())
    }

    @Test func theRightSecretMakesOneAndUsesItUp() throws {
        let byPasscode = try prove("right", vault)
        #expect(byPasscode.way == .passcode)
        try vault.redeem(byPasscode)
        let byPhrase = try vault.prove(phrase: phrase.phrase)
        #expect(byPhrase.way == .recoveryPhrase)
        try vault.redeem(byPhrase)
        let names = try vault.securityLog().entries.map(\.event.name)
        #expect(names.count { $0 == "confirmed" } == 2, "\(names)")
    }

    @Test func openingMayProveToo() throws {
        let other = try home.open()
        let passcode = try secret("right")
        let proof = try other.unlockProving(passcode: passcode, spending: other.burnAttempt())
        try other.redeem(proof)
        other.lock()
        try other.redeem(try other.unlockProving(phrase: phrase.phrase))
        other.lock()
        let wrong = try secret("wrong")
        #expect(
            errorCode { _ = try other.unlockProving(passcode: wrong, spending: other.burnAttempt()) } == .wrongPasscode)
        #expect(!other.isUnlocked)
    }

    @Test func aWrongPasscodeCountsAndLeavesTheVaultOpen() throws {
        #expect(errorCode { _ = try prove("wrong", vault) } == .wrongPasscode)
        #expect(try vault.status().refusedAttempts == 1)
        #expect(vault.isUnlocked)
        _ = try prove("right", vault)
        #expect(try vault.status().refusedAttempts == 0)
        let stranger = try TestHome().create()
        #expect(errorCode { _ = try vault.prove(phrase: stranger.phrase) } == .wrongPhrase)
    }

    @Test func aMinuteAndNotLonger() throws {
        let fresh = try prove("right", vault)
        home.clock.advance(seconds: 60)
        try vault.redeem(fresh)
        let old = try prove("right", vault)
        let later = home.clock.now()
        home.clock.set(BootInstant(bootID: later.bootID, milliseconds: later.milliseconds + 60_001))
        expectExpired(old)
        let ahead = try prove("right", vault)
        home.clock.set(later)
        expectExpired(ahead, "a clock that went back")
        let before = try prove("right", vault)
        home.clock.reboot()
        expectExpired(before, "another boot")
    }

    private func expectExpired(_ proof: consuming Proof, _ what: Comment? = nil) {
        do throws(VaultError) {
            try vault.redeem(proof)
            Issue.record(what ?? "it was taken")
        } catch { #expect(error.code == .proofExpired, what) }
    }

    @Test func aLockEndsIt() throws {
        let proof = try prove("right", vault)
        vault.lock()
        try vault.unlock("right")
        expectExpired(proof)
        vault.lock()
        #expect(errorCode { _ = try prove("right", vault) } == .locked)
        #expect(errorCode { _ = try vault.prove(phrase: phrase.phrase) } == .locked)
        #expect(try vault.status().remainingAttempts == 5, "nothing was spent on it")
    }

    @Test func newKeysEndIt() throws {
        let proof = try prove("right", vault)
        let passcode = try secret("right")
        try vault.rekey(
            passcode: passcode, spending: vault.burnAttempt(), newPasscode: passcode, phrase: phrase.phrase,
            isNewPhrase: false)
        expectExpired(proof)
    }

    /// The same vault, opened twice: what was proved to the one does not count for the other.
    @Test func itIsOfOneOpeningAlone() throws {
        let other = try home.open()
        try other.unlock("right")
        expectExpired(try prove("right", other), "of another object")
        let strange = try TestHome()
        expectExpired(try prove("right", strange.unlocked()), "of another vault")
    }

    /// A program that can write to the home puts a header of the same vault there, with a passcode of its own.
    @Test func aHeaderInThePlaceOfOursProvesNothing() throws {
        let copy = try TestHome()
        try FileManager.default.copyItem(atPath: home.path, toPath: copy.path)
        let changed = try copy.open()
        let right = try secret("right")
        let his = try secret("his")
        try changed.rekey(
            passcode: right, spending: changed.burnAttempt(), newPasscode: his, phrase: phrase.phrase,
            isNewPhrase: false)
        try home.write(copy.bytes("header"), to: "header")
        #expect(errorCode { _ = try prove("his", vault) } == .keysChanged)
        #expect(errorCode { _ = try vault.prove(phrase: phrase.phrase) } == .keysChanged)
    }
}

/// What authorises a chip to use a key of the identity.
@Suite struct IdentityAuthorisationTests {
    private func bytes(_ vault: Vault, _ epoch: UInt32, _ id: UInt8) throws -> [UInt8] {
        try vault.identityAuthorisation(epoch: epoch, key: [UInt8](repeating: id, count: Vault.identityKeyIDSize))
            .withBytes { $0.array }
    }

    @Test func itFollowsFromTheKeybagAndTheKey() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let epoch = try vault.identityEpoch
        let first = try bytes(vault, epoch, 1)
        #expect(first.count == 32)
        #expect(try bytes(vault, epoch, 2) != first)
        let again = try home.open()
        #expect(errorCode { _ = try bytes(again, epoch, 1) } == .locked)
        #expect(errorCode { _ = try again.identityEpoch } == .locked)
        try again.unlock("right")
        #expect(try bytes(again, epoch, 1) == first)
        #expect(errorCode { _ = try bytes(again, epoch + 7, 1) } == .keysChanged)
        let other = try TestHome().unlocked()
        #expect(try bytes(other, other.identityEpoch, 1) != first)
    }

    /// A key in the chip was made under the old keys: it signs until the identity has others.
    @Test func newKeysOfTheVaultLeaveWhatIsStillNeeded() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        let epoch = try vault.identityEpoch
        let first = try bytes(vault, epoch, 1)
        let passcode = try secret("right")
        try vault.rekey(
            passcode: passcode, spending: vault.burnAttempt(), newPasscode: passcode, phrase: phrase.phrase,
            isNewPhrase: false)
        #expect(try bytes(vault, epoch, 1) == first)
        let credentials = try secret("an identity")
        try vault.identityRecord.replace(with: credentials)
        try vault.finishRekey()
        #expect(try bytes(vault, epoch, 1) == first)
        #expect(try vault.identityEpoch == epoch + 1)
        try vault.forgetOldIdentityKeys()
        #expect(errorCode { _ = try bytes(vault, epoch, 1) } == .keysChanged)
        vault.lock()
        try vault.unlock("right")
        #expect(try vault.identityEpoch == epoch + 1 && vault.securityLog().isIntact)
    }

    /// A vault without an identity keeps earlier nothing for one.
    @Test func newKeysOfAVaultWithoutAnIdentityLeaveNothing() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        let passcode = try secret("right")
        try vault.rekey(
            passcode: passcode, spending: vault.burnAttempt(), newPasscode: passcode, phrase: phrase.phrase,
            isNewPhrase: false)
        try vault.finishRekey()
        #expect(errorCode { _ = try bytes(vault, 1, 1) } == .keysChanged)
    }
}
