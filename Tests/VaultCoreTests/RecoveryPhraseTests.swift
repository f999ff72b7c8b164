import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// The vault's phrase is issued anew, and taken away only from who insists.
@Suite struct RecoveryPhraseTests {
    let home: TestHome
    let phrase: RecoveryPhraseBox
    let vault: Vault

    init() throws {
        home = try TestHome()
        phrase = try home.create()
        vault = try home.open()
    }

    private func remove(_ passcode: String = "right", insisting: Bool = true) throws {
        try vault.removeRecoveryPhrase(
            passcode: secret(passcode), spending: vault.burnAttempt(), insisting: insisting)
    }

    private func issue(_ passcode: String = "right") throws -> RecoveryPhraseBox {
        let new = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        try vault.enrollRecoveryPhrase(new.phrase, passcode: secret(passcode), spending: vault.burnAttempt())
        return new
    }

    private func opens(_ phrase: RecoveryPhraseBox) -> VaultError.Code? {
        do throws(VaultError) { try vault.unlock(phrase: phrase.phrase) } catch { return error.code }
        vault.lock()
        return nil
    }

    @Test func nobodyWhoDoesNotInsistLosesThePhrase() throws {
        let before = try home.bytes("header")
        #expect(errorCode { try remove(insisting: false) } == .lastWayIn)
        #expect(try home.bytes("header") == before)
        #expect(try vault.status().remainingAttempts == 5, "an attempt was spent for it")
        #expect(opens(phrase) == nil)
    }

    @Test func `a phrase that was taken away opens nothing of what comes later`() throws {
        try vault.unlock("right")
        try vault.put([1], "name")
        let old = try home.bytes("header")
        try remove()
        #expect(try vault.isRekeyUnfinished && vault.get("name") == [1])
        try vault.finishRekey()
        try vault.put([2], "later")
        vault.lock()
        let new = try home.bytes("header")
        try home.write(old, to: "header")
        let attacked = try home.open()
        do throws(VaultError) {
            try attacked.unlock(phrase: phrase.phrase)
            #expect(errorCode { _ = try attacked.get("later") } != nil)
        } catch {}  // the database is not of these keys
        try home.write(new, to: "header")
        try vault.unlock("right")
        #expect(try vault.get("later") == [2])
    }

    @Test func withoutItThePasscodeIsTheOnlyWayIn() throws {
        try vault.unlock("right")
        try vault.put([1], "name")
        vault.lock()
        #expect(errorCode { try remove("wrong") } == .wrongPasscode)
        #expect(opens(phrase) == nil, "a wrong passcode removed the phrase")
        try remove()
        #expect(try vault.status().slots == [.passcode])
        #expect(opens(phrase) == .noRecoveryPhrase)
        let recovered = errorCode { _ = try vault.recover(phrase: phrase.phrase, newPasscode: secret("new")) }
        let isKnown = vault.isVaultPhrase(phrase.phrase)
        #expect(recovered == .noRecoveryPhrase && !isKnown)
        #expect(errorCode { try remove() } == .noRecoveryPhrase)
        #expect(try vault.status().remainingAttempts == 5)
        try vault.unlock("right")
        #expect(try vault.get("name") == [1])
        let events = try vault.logged()
        #expect(events.count { $0 == "recoveryPhraseRemoved" } == 1, "\(events)")
    }

    @Test func aNewOneCountsAndTheOldOneDoesNot() throws {
        #expect(errorCode { _ = try issue("wrong") } == .wrongPasscode)
        #expect(opens(phrase) == nil)
        let second = try issue()
        #expect(opens(phrase) == .wrongPhrase)
        #expect(opens(second) == nil)
        try remove()
        let third = try issue()
        #expect(opens(second) == .wrongPhrase)
        _ = try vault.recover(phrase: third.phrase, newPasscode: secret("new"))
        vault.lock()
        try vault.unlock("new")
        let events = try vault.logged()
        #expect(events.count { $0 == "recoveryPhraseIssued" } == 2, "\(events)")
    }

    @Test func newKeysBringAPhraseWhereThereIsNone() throws {
        try remove()
        let passcode = try secret("right")
        #expect(
            errorCode {
                try vault.rekey(
                    passcode: passcode, spending: vault.burnAttempt(), newPasscode: passcode, phrase: phrase.phrase,
                    isNewPhrase: false)
            } == .noRecoveryPhrase)
        let new = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        try vault.rekey(
            passcode: passcode, spending: vault.burnAttempt(), newPasscode: passcode, phrase: new.phrase,
            isNewPhrase: true)
        vault.lock()
        #expect(opens(new) == nil)
    }

    @Test func whoHasNoAttemptLeftIsToldThatNothingOpens() throws {
        try remove()
        for _ in 0..<5 {
            home.clock.advance(seconds: 100_000)
            _ = try vault.burnAttempt()  // never checked
        }
        home.clock.advance(seconds: 100_000)
        do {
            try vault.unlock("right")
            Issue.record("it opened")
        } catch {
            #expect((error as? VaultError)?.code == .noWayLeft)
        }
    }
}

extension AttemptTierTests {
    @Test func underTheChipWithoutAPhraseOnlyForWhoInsists() throws {
        let passcode = try secret("right")
        _ = try Vault.create(at: home.path, passcode: passcode, settings: settings)
        let vault = try Vault(at: home.path, settings: settings)
        let before = try home.bytes("header")
        #expect(
            errorCode {
                try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), insisting: false)
            } == .lastWayIn)
        #expect(try home.bytes("header") == before && chip.objectCount == 0)
        #expect(try vault.status().remainingAttempts == 5)
        try vault.removeRecoveryPhrase(passcode: passcode, spending: vault.burnAttempt(), insisting: true)
        try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), insisting: true)
        try vault.unlock("right")
        vault.lock()
        chip.clear()
        #expect(errorCode { try vault.unlock("right") } == .hardwareDestroyed)
    }
}
