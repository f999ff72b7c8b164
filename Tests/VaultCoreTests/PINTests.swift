import Cryptography
import Foundation
import KeyStores
import SecretMemory
import TestSupport
import Testing
import VaultFormat
import VaultLog
import VaultStorage

@testable import VaultCore
@testable import VaultHeader

/// A PIN under a chip that counts, beside the passcode: what opens, what is counted where, and what ends it. Against a
/// real chip: KeyStoresTests.
@Suite struct PINTests {
    let home: TestHome
    let chip = CountingChip()
    let settings: VaultSettings

    init() throws {
        home = try TestHome()
        var settings = home.settings
        settings.tier = chip
        self.settings = settings
    }

    func create() throws -> (vault: Vault, phrase: RecoveryPhraseBox) {
        let phrase = try Vault.create(at: home.path, passcode: secret("right"), settings: settings)
        let vault = try Vault(at: home.path, settings: settings)
        try enroll("2580", vault)
        return (vault, RecoveryPhraseBox(phrase))
    }

    func enroll(_ pin: String, _ vault: Vault, passcode: String = "right") throws {
        try vault.enrollPIN(secret(pin), passcode: secret(passcode), spending: vault.burnAttempt())
    }

    func open(_ vault: Vault, pin: String) throws {
        try vault.unlock(pin: secret(pin), spending: vault.burnAttempt())
    }

    func header() throws -> Header {
        try Header(parsing: Array(home.bytes("header")[..<Header.copySize])) { BLAKE3.hash($0).bytes }
    }

    @Test func opensTheVaultAndProvesWhatTheChipProves() throws {
        let (vault, _) = try create()
        #expect(try vault.status().hasPIN)
        #expect(try vault.status().pinAssurance == .hardwareLimited)
        #expect(try vault.status().slots == [.passcode, .recoveryPhrase, .pin])
        try open(vault, pin: "2580")
        #expect(vault.assurance == .hardwareLimited)
        try vault.put([1], "name")
        vault.lock()
        try vault.unlock("right")
        #expect(vault.assurance == .keyBound, "the passcode is under no chip")
        #expect(try vault.get("name") == [1])
        let events = try vault.securityLog().entries.map(\.event.name)
        #expect(events.contains("pinEnrolled"))
    }

    @Test func `a PIN, too, forgets a log key whose segment rotated away`() throws {
        let (vault, phrase) = try create()
        try vault.rekey(
            passcode: secret("right"), spending: vault.burnAttempt(), newPasscode: secret("right"),
            phrase: phrase.phrase, isNewPhrase: false)
        try vault.finishRekey()
        try enroll("2580", vault)
        #expect(try #require(vault.gate.current).keys.keybag.logEpochs == [2, 1])
        vault.lock()
        try FileManager.default.removeItem(atPath: home.path + "/log.old")
        try open(vault, pin: "2580")
        #expect(try #require(vault.gate.current).keys.keybag.logEpochs == [2])
    }

    @Test func aCopyWithoutTheChipDoesNotOpenWithThePIN() throws {
        _ = try create()
        let elsewhere = try home.open()
        #expect(try elsewhere.status().hasPIN && elsewhere.status().pinAssurance == nil)
        #expect(errorCode { try open(elsewhere, pin: "2580") } == .hardwareUnavailable)
        #expect(try elsewhere.status().remainingAttempts == 5)
        try elsewhere.unlock("right")
    }

    @Test func wrongOnesAreCountedByChipAndLedgerAndTheLimitEndsThePINOnly() throws {
        let (vault, _) = try create()
        for number in 0..<5 {
            home.clock.advance(seconds: 3600)
            #expect(errorCode { try open(vault, pin: "wrong \(number)") } == .wrongPasscode)
            #expect(try vault.status().remainingAttempts == 4 - number)
        }
        home.clock.advance(seconds: 3600)
        #expect(errorCode { try open(vault, pin: "2580") } == .hardwareDestroyed)
        try vault.unlock("right")
        vault.lock()
        #expect(errorCode { try open(vault, pin: "2580") } == .hardwareDestroyed, "no passcode gives it back")
        try enroll("3691", vault)
        try open(vault, pin: "3691")
        #expect(chip.objectCount == 1)
    }

    /// A success by one secret sets the ledger back, not the chip's count of the other one: the owner is told the
    /// smaller.
    @Test func theChipsCountIsToldWhereItIsTheSmallerOne() throws {
        let (vault, _) = try create()
        for number in 0..<3 { _ = errorCode { try open(vault, pin: "wrong \(number)") } }
        home.clock.advance(seconds: 3600)
        try vault.unlock("right")
        vault.lock()
        #expect(try vault.status().remainingAttempts == 5)
        do {
            try open(vault, pin: "wrong 4")
            Issue.record("opened")
        } catch let error as VaultError {
            #expect(error.code == .wrongPasscode && error.remainingAttempts == 1)
            #expect(error.reason.contains("wrong PIN; 1 attempt remains at the chip"))
        }
        try open(vault, pin: "2580")
        vault.lock()
        #expect(errorCode { try open(vault, pin: "wrong 5") } == .wrongPasscode)
        try open(vault, pin: "2580")
    }

    @Test func theSameWrongOneIsNotAskedOfTheChipAgain() throws {
        let (vault, _) = try create()
        for _ in 0..<3 { #expect(errorCode { try open(vault, pin: "9999") } == .wrongPasscode) }
        #expect(chip.asked == 1)
        #expect(try vault.status().remainingAttempts == 4)
    }

    @Test func itsWrongOnesDestroyTheVaultWhereTheRulesSaySo() throws {
        let (vault, _) = try create()
        try vault.changeSelfDestruct(to: true, passcode: secret("right"), spending: vault.burnAttempt()) {}
        for number in 0..<4 {
            home.clock.advance(seconds: 3600)
            #expect(errorCode { try open(vault, pin: "wrong \(number)") } == .wrongPasscode)
        }
        home.clock.advance(seconds: 3600)
        #expect(errorCode { try open(vault, pin: "wrong 5") } == .wiped)
        #expect(chip.objectCount == 0, "the chip's share went with the rest")
    }

    @Test func aChangeOfTheRulesNeedsThePasscodeOnlyAndKeepsThePIN() throws {
        let (vault, _) = try create()
        let before = try header()
        try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { $0.lockTiming = .never }
        try open(vault, pin: "2580")
        #expect(chip.objectCount == 1)
        let after = try header()
        #expect(before.pinSlot?.salt == after.pinSlot?.salt && before.pinSlot?.wrappedKey != after.pinSlot?.wrappedKey)
        // The rules as they were are none that the slot is bound to.
        var mixed = after
        mixed.policy = before.policy
        try home.write(mixed.encoded { BLAKE3.hash($0).bytes } + mixed.encoded { BLAKE3.hash($0).bytes }, to: "header")
        vault.lock()
        #expect(errorCode { try open(vault, pin: "2580") } == .damaged)
    }

    @Test func anotherLimitEndsThePIN() throws {
        let (vault, _) = try create()
        try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { $0.attemptLimit = 3 }
        #expect(try !vault.status().hasPIN)
        #expect(chip.objectCount == 0)
        #expect(errorCode { try open(vault, pin: "2580") } == .noPIN)
        #expect(try vault.status().remainingAttempts == 3)
        try vault.unlock("right")
        #expect(try vault.securityLog().entries.map(\.event.name).contains("pinRemoved"))
    }

    /// The wrapping key that is kept for a change of the rules must not lead from the old keys to the new ones.
    @Test func anotherPasscodeKeepsItAndNewKeysEndIt() throws {
        let (vault, phrase) = try create()
        try vault.changePasscode("right", "new")
        try open(vault, pin: "2580")
        vault.lock()
        try vault.rekey(
            passcode: secret("new"), spending: vault.burnAttempt(), newPasscode: secret("new"), phrase: phrase.phrase,
            isNewPhrase: false)
        vault.lock()
        #expect(errorCode { try open(vault, pin: "2580") } == .noPIN)
        #expect(chip.objectCount == 0)
        try vault.unlock("new")
        #expect(try vault.securityLog().entries.map(\.event.name).contains("pinRemoved"))
    }

    /// It could be searched for wherever the passcode can. The chip is not asked: that would cost a try.
    @Test func `a passcode that is the PIN is refused, and neither chip nor ledger counts it`() throws {
        let (vault, _) = try create()
        try enroll("quokka-5521", vault)
        let before = try home.bytes("header")
        #expect(errorCode { try vault.changePasscode("right", "quokka-5521") } == .invalidPasscode)
        #expect(try home.bytes("header") == before && chip.asked == 0)
        #expect(try vault.status().remainingAttempts == 5)
        try vault.changePasscode("right", "quokka-5522")
        // Also after the slot was wrapped anew for other rules, and beside a passcode that was changed.
        try vault.changePolicy(passcode: secret("quokka-5522"), spending: vault.burnAttempt()) {
            $0.lockTiming = .after(seconds: 600)
        }
        #expect(errorCode { try vault.changePasscode("quokka-5522", "quokka-5521") } == .invalidPasscode)
        try open(vault, pin: "quokka-5521")
        vault.lock()
        // A PIN that there was before is none any more.
        try enroll("2580", vault, passcode: "quokka-5522")
        try vault.changePasscode("quokka-5522", "quokka-5521")
    }

    @Test func aRecoveryEndsIt() throws {
        let (vault, phrase) = try create()
        #expect(try vault.recover(phrase: phrase.phrase, newPasscode: secret("new")).pinWasRemoved)
        #expect(try !vault.status().hasPIN)
        #expect(try vault.securityLog().entries.map(\.event.name).contains("pinRemoved"))
        #expect(chip.objectCount == 0)
        #expect(try !vault.recover(phrase: phrase.phrase, newPasscode: secret("new")).pinWasRemoved)
    }

    @Test func anotherPINReplacesItAndRemovingItLeavesNothing() throws {
        let (vault, _) = try create()
        try enroll("1470", vault)
        #expect(chip.objectCount == 1)
        #expect(errorCode { try open(vault, pin: "2580") } == .wrongPasscode)
        try open(vault, pin: "1470")
        vault.lock()
        try vault.removePIN(passcode: secret("right"), spending: vault.burnAttempt())
        #expect(chip.objectCount == 0)
        #expect(try !vault.status().hasPIN)
        #expect(
            errorCode { try vault.removePIN(passcode: secret("right"), spending: vault.burnAttempt()) } == .noPIN)
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test(arguments: [
        "", "123", "0000", "aaaaaaaa", "1234", "4321", "abcdef", "right", String(repeating: "01", count: 33),
    ])
    func whatCannotBeAPIN(_ pin: String) throws {
        let (vault, _) = try create()
        #expect(errorCode { try enroll(pin, vault) } == .invalidPasscode)
        #expect(try vault.status().remainingAttempts == 5)
        try open(vault, pin: "2580")
    }

    /// A run is one from its first character to its last.
    @Test(arguments: ["1239", "1112", "4320", "0123456780", "2134"])
    func whatOnlyLooksLikeARun(_ pin: String) throws {
        let (vault, _) = try create()
        try enroll(pin, vault)
        try open(vault, pin: pin)
        #expect(vault.isUnlocked)
    }

    @Test func neitherAWrongPasscodeNorAMissingChipChangesAnything() throws {
        let (vault, _) = try create()
        #expect(errorCode { try enroll("1470", vault, passcode: "wrong") } == .wrongPasscode)
        chip.unplug(true)
        #expect(errorCode { try enroll("1470", vault) } == .hardwareUnavailable)
        chip.unplug(false)
        let plain = try home.open()
        #expect(errorCode { try enroll("1470", plain) } == .hardwareUnavailable)
        try open(vault, pin: "2580")
        #expect(chip.objectCount == 1)
    }

    /// Anyone with the PIN opens the vault, and can do nothing that the passcode is asked for.
    @Test func opensNothingButTheVault() throws {
        let (vault, _) = try create()
        #expect(errorCode { try vault.unlock("2580") } == .wrongPasscode)
        #expect(errorCode { try vault.changePasscode("2580", "new") } == .wrongPasscode)
        #expect(errorCode { try open(vault, pin: "right") } == .wrongPasscode)
    }

    @Test func passcodeAndPINEachHaveAShareUnderTheChip() throws {
        let (vault, phrase) = try create()
        try vault.enrollHardware(passcode: secret("right"), spending: vault.burnAttempt(), phrase: phrase.phrase)
        #expect(chip.objectCount == 2)
        for _ in 0..<2 {
            try open(vault, pin: "2580")
            vault.lock()
            try vault.unlock("right")
            vault.lock()
            try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { policy in
                policy.lockTiming = policy.lockTiming == .never ? .immediately : .never
            }
        }
        #expect(chip.objectCount == 2)
        try vault.removeHardware(passcode: secret("right"), spending: vault.burnAttempt())
        #expect(chip.objectCount == 1)
        try open(vault, pin: "2580")
    }

    /// What is kept for a change of the rules is authenticated: moved to another slot, or changed, it wraps nothing.
    @Test func aChangedSlotIsDamageAndCostsNothing() throws {
        let (vault, _) = try create()
        let genuine = try header()
        let index = try #require(genuine.slots.firstIndex { $0.kind == .pin })
        for place in [0, 1, 3, 6, 40, genuine.slots[index].kindData.count - 1] {
            var changed = genuine
            changed.slots[index].kindData[place] ^= 1
            let copy = try changed.encoded { BLAKE3.hash($0).bytes }
            try home.write(copy + copy, to: "header")
            let code = errorCode { try open(vault, pin: "2580") }
            #expect(code == .damaged || code == .hardwareUnavailable, "byte \(place): \(String(describing: code))")
            #expect(try vault.status().remainingAttempts == 5)
        }
    }
}
