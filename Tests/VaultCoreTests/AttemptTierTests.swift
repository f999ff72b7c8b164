import Cryptography
import KeyStores
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// A chip that counts as the TPM's PIN_FAIL index does; a real one is tested where its backend is.
final class CountingChip: AttemptTier {
    private struct Object {
        let owner: HardwareOwner
        var authorisation: [UInt8]
        var share: [UInt8]
        var failures = 0
        var limit: Int
    }

    private struct State {
        var objects: [[UInt8]: Object] = [:]
        var next: UInt8 = 1
        var isAbsent = false
        var asked = 0
    }

    private let state = Mutex(State())
    let assurance = Assurance.hardwareLimited

    var objectCount: Int { state.withLock { $0.objects.count } }
    /// How often a share was asked for.
    var asked: Int { state.withLock { $0.asked } }
    func unplug(_ isAbsent: Bool) { state.withLock { $0.isAbsent = isAbsent } }
    func clear() { state.withLock { $0.objects = [:] } }

    private func checkPresence(_ state: State) throws(KeyStoreError) {
        if state.isAbsent { throw KeyStoreError(.unavailable, "the chip is absent") }
    }

    func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, for owner: HardwareOwner,
        note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare {
        let authorisation = authorisation.withBytes { $0.array }
        try note(HardwareObject(name: [state.withLock { $0.next }], data: [1, 2, 3]))
        let share = [UInt8](repeating: 7, count: 31) + [state.withLock { $0.next }]
        let name = try state.withLock { state throws(KeyStoreError) in
            try checkPresence(state)
            let name: [UInt8] = [state.next]
            state.next += 1
            state.objects[name] = Object(
                owner: owner, authorisation: authorisation, share: share, limit: limit)
            return name
        }
        guard let secret = try? secret(share) else { throw KeyStoreError(.outOfMemory, "no memory") }
        return HardwareShare(share: secret, object: HardwareObject(name: name, data: [1, 2, 3]))
    }

    func redeem(
        _ object: HardwareObject, of vault: VaultID, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> Redemption {
        let authorisation = authorisation.withBytes { $0.array }
        let answer: (share: [UInt8]?, left: Int)? = try state.withLock { state throws(KeyStoreError) in
            try checkPresence(state)
            state.asked += 1
            if let other = state.objects[object.name]?.owner.vault, other != vault {
                throw KeyStoreError(.damaged, "another vault's")
            }
            guard var found = state.objects[object.name], found.failures < found.limit else { return nil }
            let isRight = found.authorisation == authorisation
            found.failures = isRight ? 0 : found.failures + 1
            state.objects[object.name] = found
            return (isRight ? found.share : nil, found.limit - found.failures)
        }
        guard let answer else { return .destroyed }
        guard let bytes = answer.share, let share = try? secret(bytes) else {
            return .wrongSecret(remaining: answer.left)
        }
        return .share(share)
    }

    func destroy(_ object: HardwareObject, of owner: HardwareOwner) throws(KeyStoreError) -> Removal {
        try state.withLock { state throws(KeyStoreError) in
            try checkPresence(state)
            if let found = state.objects[object.name], found.owner != owner { return .anothers }
            state.objects[object.name] = nil
            return .gone
        }
    }
}

@Suite struct AttemptTierTests {
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
        let passcode = try secret("right")
        let phrase = try Vault.create(at: home.path, passcode: passcode, settings: settings)
        let vault = try Vault(at: home.path, settings: settings)
        try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase)
        return (vault, RecoveryPhraseBox(phrase))
    }

    @Test func theShareIsNeededAndTheRightPasscodeGetsIt() throws {
        let (vault, phrase) = try create()
        try vault.unlock("right")
        try vault.put([1], "name")
        #expect(errorCode { try home.open().unlock("right") } == .hardwareUnavailable)
        #expect(try vault.status().remainingAttempts == 5, "an attempt that could not be checked was counted")
        let elsewhere = try home.open()
        try elsewhere.unlock(phrase: phrase.phrase)
        #expect(try elsewhere.get("name") == [1])
    }

    @Test func theChipCountsWrongPasscodesAndTheLedgerToo() throws {
        let (vault, _) = try create()
        for number in 0..<3 { #expect(errorCode { try vault.unlock("wrong \(number)") } == .wrongPasscode) }
        #expect(chip.asked == 3)
        #expect(try vault.status().remainingAttempts == 2)
        home.clock.advance(seconds: 3600)
        try vault.unlock("right")
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func theSameWrongPasscodeIsNotAskedOfTheChipAgain() throws {
        let (vault, _) = try create()
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        #expect(chip.asked == 1)
        #expect(try vault.status().remainingAttempts == 4)
    }

    @Test func aChipThatIsGoneCountsNothingAndAClearedOneNeedsThePhrase() throws {
        let (vault, phrase) = try create()
        chip.unplug(true)
        for number in 0..<8 {
            #expect(errorCode { try vault.unlock("wrong \(number)") } == .hardwareUnavailable)
        }
        #expect(try vault.status().remainingAttempts == 5)
        chip.unplug(false)
        try vault.unlock("right")
        chip.clear()
        #expect(errorCode { try vault.unlock("right") } == .hardwareDestroyed)
        #expect(try vault.status().remainingAttempts == 5)
        let new = try secret("new")
        #expect(try !vault.recover(phrase: phrase.phrase, newPasscode: new).hardwareWasDropped)
        vault.lock()
        try vault.unlock("new")
        #expect(chip.objectCount == 1)
    }

    @Test func enrollingNeedsThePhraseAndCanBeTakenBack() throws {
        let (vault, phrase) = try create()
        let passcode = try secret("right")
        try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt())
        #expect(chip.objectCount == 0)
        try home.open().unlock("right")
        let other = try Vault.newRecoveryPhrase()
        let code = errorCode {
            try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: other)
        }
        #expect(code == .wrongPhrase)
        #expect(chip.objectCount == 0)
        let plain = try home.open()
        #expect(
            errorCode {
                try plain.enrollHardware(passcode: passcode, spending: plain.burnAttempt(), phrase: phrase.phrase)
            } == .hardwareUnavailable)
        #expect(try vault.status().remainingAttempts == 5)
        #expect(try home.open().status().slots.count == 2)
    }

    @Test func aRecoveryElsewhereDropsTheChipAndSaysSo() throws {
        let (_, phrase) = try create()
        let elsewhere = try home.open()
        let new = try secret("new")
        #expect(try elsewhere.recover(phrase: phrase.phrase, newPasscode: new).hardwareWasDropped)
        try home.open().unlock("new")
    }

    @Test func aNewPasscodeOrPolicyHasANewShareAndEndsTheOld() throws {
        let (vault, _) = try create()
        try vault.changePasscode("right", "new")
        #expect(chip.objectCount == 1)
        let passcode = try secret("new")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.attemptLimit = 3 }
        #expect(chip.objectCount == 1)
        for number in 0..<3 {
            home.clock.advance(seconds: 3600)
            #expect(errorCode { try vault.unlock("wrong \(number)") } == .wrongPasscode)
        }
        home.clock.advance(seconds: 3600)
        #expect(errorCode { try vault.unlock("new") } == .hardwareDestroyed, "the chip's limit is the policy's")
    }

    @Test func anOldHomeGivesNoFreshAttemptsAtTheChip() throws {
        let (vault, _) = try create()
        let ledger = try home.bytes("ledger")
        for number in 0..<12 {
            _ = errorCode { try vault.unlock("wrong \(number)") }
            try home.write(ledger, to: "ledger")  // the file tier's weakness
        }
        #expect(errorCode { try vault.unlock("right") } == .hardwareDestroyed)
    }
}
