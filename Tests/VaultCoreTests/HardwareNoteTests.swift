import Foundation
import KeyStores
import SecretMemory
import TestSupport
import Testing
@testable import VaultCore
@testable import VaultHeader
import VaultFormat
@testable import VaultStorage
import VaultWipe

/// What hardware holds for a vault goes when a change fails, and when the vault is destroyed, whoever does that.
@Suite struct HardwareNoteTests {
    private let home: TestHome
    private let chip = CountingChip()
    private let anchor = TestAnchor()
    private let settings: VaultSettings
    private let vault: Vault
    private let phrase: RecoveryPhraseBox

    init() throws {
        home = try TestHome()
        var settings = home.settings
        settings.tier = chip
        settings.anchor = anchor
        self.settings = settings
        let passcode = try secret("right")
        let phrase = try Vault.create(at: home.path, passcode: passcode, settings: settings)
        vault = try Vault(at: home.path, settings: settings)
        try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase)
        self.phrase = RecoveryPhraseBox(phrase)
    }

    private var isHeld: Bool { get throws { try anchor.state(of: HeaderFile.read(in: vault.home).owner) != nil } }

    /// A folder in the way: no note can be written, and so no header either.
    private func obstruct(_ isObstructed: Bool) throws {
        let path = home.file("hardware.pending.part")
        if isObstructed {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func noChangeThatFailsLeavesAShareInTheChip() throws {
        let passcode = try secret("right")
        let new = try secret("new")
        let newPhrase = try Vault.newRecoveryPhrase()
        try obstruct(true)
        let changes: [(String, () throws -> Void)] = [
            ("passcode", { try vault.changePasscode(from: passcode, spending: vault.burnAttempt(), to: new) }),
            (
                "policy",
                { try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.attemptLimit = 4 } }
            ),
            (
                "keys",
                {
                    try vault.rekey(
                        passcode: passcode, spending: vault.burnAttempt(), newPasscode: new, phrase: newPhrase,
                        isNewPhrase: true)
                }
            ),
            ("recovery", { _ = try vault.recover(phrase: phrase.phrase, newPasscode: new) }),
            ("removal", { try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt()) }),
        ]
        for (name, change) in changes {
            #expect(throws: VaultError.self, "\(name)") { try change() }
            #expect(chip.objectCount == 1, "\(name)")
            #expect(try isHeld, "\(name)")
            try vault.unlock("right")
            vault.lock()
        }
        try obstruct(false)
        try vault.changePasscode("right", "new")
        #expect(chip.objectCount == 1)
    }

    @Test func enrollingThatFailsLeavesNothing() throws {
        let passcode = try secret("right")
        try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt())
        #expect(chip.objectCount == 0)
        #expect(try !isHeld)
        try obstruct(true)
        #expect(throws: VaultError.self) {
            try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase.phrase)
        }
        #expect(chip.objectCount == 0)
        #expect(try !isHeld)
        try obstruct(false)
        // The chip goes away in the middle: the generation is held, the share is not made.
        let tier = VanishingChip(chip, anchor)
        var settings = settings
        settings.tier = tier
        let other = try Vault(at: home.path, settings: settings)
        #expect(throws: VaultError.self) {
            try other.enrollHardware(passcode: passcode, spending: other.burnAttempt(), phrase: phrase.phrase)
        }
        anchor.unplug(false)
        #expect(try isHeld, "it could not be asked")
        // Another header is written before the chip is asked again, and its generation is the one that is held.
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.attemptLimit = 4 }
        #expect(try !isHeld)
        try vault.unlock("right")
    }

    @Test func `a chip that is away while rules change after an enrollment was cut off does not lock the vault`() throws
    {
        let passcode = try secret("right")
        try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt())
        var settings = settings
        settings.tier = VanishingChip(chip, anchor)
        let other = try Vault(at: home.path, settings: settings)
        #expect(throws: VaultError.self) {
            try other.enrollHardware(passcode: passcode, spending: other.burnAttempt(), phrase: phrase.phrase)
        }
        #expect(anchor.count == 1, "the next header's generation is held")
        for limit in [4, 6, 5] {
            try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.attemptLimit = limit }
            anchor.unplug(false)
            var attempt = try vault.burnAttempt()
            try attempt.refund()
            anchor.unplug(true)
        }
        anchor.unplug(false)
        try vault.unlock("right")
        #expect(try !isHeld)
    }

    @Test func `a note that another name leads to is still acted on`() throws {
        let key = try noteKey()
        var note = HardwareNote()
        note.shares = [try strayShare()]
        try note.write(in: vault.home, [key])
        let elsewhere = home.path + "-elsewhere"
        try FileManager.default.linkItem(atPath: home.file("hardware.pending"), toPath: elsewhere)
        defer { try? FileManager.default.removeItem(atPath: elsewhere) }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: elsewhere))
        try vault.unlock("right")
        #expect(chip.objectCount == 1)
        #expect(HardwareNote.read(in: vault.home) == nil)
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: elsewhere)) == bytes, "the other name's file is not written to")
    }

    @Test func aWipeThatWasCutOffLetsGoOfTheHardware() throws {
        try vault.eraseKeysOnly()
        #expect(chip.objectCount == 1)
        #expect(errorCode { _ = try Vault(at: home.path, settings: settings) } == .wiped)
        #expect(chip.objectCount == 0)
        #expect(anchor.count == 0)
        #expect(try home.names() == ["wipe-receipt"])
        #expect(try result() == .erased)
    }

    @Test func atTheLimitTheHardwareIsLetGoOf() throws {
        try vault.setSelfDestruct(true)
        for number in 0..<5 {
            home.clock.advance(seconds: 3601)
            #expect(throws: VaultError.self) { try vault.guess(number) }
        }
        #expect(vault.isWiped)
        #expect(chip.objectCount == 0)
        #expect(try result() == .erased)
    }

    @Test func aChipThatDoesNotAnswerIsAskedAgainAndOneThatIsNotThereIsNot() throws {
        let attempt = try vault.burnAttempt()
        let passcode = try secret("right")
        let report = try vault.wipe(passcode: passcode, spending: attempt) { _ throws(VaultError) in chip.unplug(true) }
        #expect(!report.isFinished)
        #expect(report.summary.contains("hardware (failed)"))
        #expect(errorCode { _ = try Vault(at: home.path, settings: settings) } == .wiped)
        #expect(
            try home.names() == [
                "hardware.pending", "header", "receipt.key", "wipe-receipt", "wipe.journal", "wipe.key",
            ])
        chip.unplug(false)
        #expect(errorCode { _ = try Vault(at: home.path, settings: settings) } == .wiped)
        #expect(chip.objectCount == 0)
        #expect(try home.names() == ["wipe-receipt"])
    }

    @Test func whereThereIsNoChipAtAllAWipeEndsWithoutIt() throws {
        try vault.eraseKeysOnly()
        #expect(errorCode { _ = try home.open() } == .wiped)
        #expect(try home.names() == ["wipe-receipt"])
        #expect(try result() == .foreign)
    }

    @Test func aPlanNamesTheHardware() throws {
        let step = try #require(try vault.wipePlan().steps.first { $0.target.description == "hardware" })
        #expect(step.method == .released)
        #expect(try vault.wipe().isFinished)
        #expect(chip.objectCount == 0)
    }

    /// Of the vault's present master key.
    private func noteKey(_ passcode: String = "right") throws -> NoteKey {
        try vault.unlock(passcode)
        defer { vault.lock() }
        return try #require(vault.gate.current).keys.headerKeys.noteKey
    }

    /// A share of this very home that no header names.
    private func strayShare() throws -> HardwareObject {
        let owner = try HeaderFile.read(in: vault.home).owner
        return try chip.makeShare(authorisation: secret([UInt8](repeating: 1, count: 32)), limit: 3, for: owner).object
    }

    @Test func aNoteThatIsNotOursChangesNothing() throws {
        let key = try noteKey()
        var good = HardwareNote()
        good.shares = [try strayShare()]
        try good.write(in: vault.home, [key])
        let bytes = try home.bytes("hardware.pending")
        let refused = home.file("hardware.pending.refused")
        var bad = (0..<bytes.count).map { Array(bytes.prefix($0)) }
        bad += bytes.indices.map { index in bytes.enumerated().map { $0 == index ? $1 ^ 1 : $1 } }
        bad.append(bytes + [0])
        for (number, other) in bad.enumerated() {
            try Data(other).write(to: URL(fileURLWithPath: home.file("hardware.pending")))
            #expect(try HardwareNote.genuine(in: vault.home, [key]) == nil, "\(number)")
            #expect(try home.bytes("hardware.pending.refused") == other, "put aside")
            try FileManager.default.removeItem(atPath: refused)
        }
        // Of another key, and of nobody.
        let stranger = NoteKey(try secret([UInt8](repeating: 3, count: 32)))
        for keys in [[stranger], []] {
            try good.write(in: vault.home, keys)
            try vault.unlock("right")
            #expect(chip.objectCount == 2)
            #expect(HardwareNote.read(in: vault.home) == nil && vault.refusedNote)
        }
        try good.write(in: vault.home, [stranger, key])
        try vault.unlock("right")
        #expect(HardwareNote.read(in: vault.home) == nil)
        #expect(chip.objectCount == 1)
    }

    /// A locked vault acts on nothing.
    @Test func aNoteWaitsForTheUnlock() throws {
        var note = HardwareNote()
        note.shares = [try strayShare()]
        try note.write(in: vault.home, [noteKey()])
        _ = try Vault(at: home.path, settings: settings).status()
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        #expect(chip.objectCount == 2)
        try vault.unlock("right")
        #expect(chip.objectCount == 1)
    }

    /// What waits for the chip waits under both keys while the master key changes.
    @Test func whatIsOwedOutlivesNewKeys() throws {
        let passcode = try secret("right")
        try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt())
        try vault.enrollPIN(secret("2580"), passcode: passcode, spending: vault.burnAttempt())
        chip.unplug(true)
        try vault.removePIN(passcode: passcode, spending: vault.burnAttempt())
        #expect(vault.owesHardware)
        let new = try secret("new")
        let words = try Vault.newRecoveryPhrase()
        try vault.rekey(
            passcode: passcode, spending: vault.burnAttempt(), newPasscode: new, phrase: words, isNewPhrase: true)
        #expect(vault.owesHardware && !vault.refusedNote)
        chip.unplug(false)
        try vault.unlock("new")
        #expect(chip.objectCount == 0 && !vault.owesHardware)
    }

    /// Killed between the note and the header of new keys, on either side of it.
    @Test func aNoteOfARekeyIsHonouredByBothHeaders() throws {
        let (old, before) = (try noteKey(), try home.bytes("header"))
        let passcode = try secret("right")
        try vault.rekey(
            passcode: passcode, spending: vault.burnAttempt(), newPasscode: passcode, phrase: phrase.phrase,
            isNewPhrase: false)
        let (new, after) = (try noteKey(), try home.bytes("header"))
        anchor.forget()
        for (bytes, keys, counts) in [(before, [old, new], true), (after, [old, new], true), (after, [old], false)] {
            try home.write(bytes, to: "header")
            let header = try HeaderFile.read(in: vault.home)
            var note = HardwareNote()
            note.shares = [try strayShare()]
            try note.write(in: vault.home, keys)
            let count = chip.objectCount
            vault.sweepHardware(header, of: header.owner, bytes == before ? old : new)
            #expect(chip.objectCount == (counts ? count - 1 : count))
        }
    }

    private func result() throws -> WipeResult? {
        try home.receipt().items.first { $0.target.description == "hardware" }?.result
    }
}

/// A chip that is gone as soon as it is to make a share, and takes the generation's with it.
private final class VanishingChip: AttemptTier {
    private let chip: CountingChip
    private let anchor: TestAnchor
    let assurance = Assurance.hardwareLimited

    init(_ chip: CountingChip, _ anchor: TestAnchor) {
        self.chip = chip
        self.anchor = anchor
    }

    func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, for owner: HardwareOwner,
        note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare {
        anchor.unplug(true)
        throw KeyStoreError(.unavailable, "gone")
    }

    func redeem(
        _ object: HardwareObject, of vault: VaultID, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> Redemption {
        try chip.redeem(object, of: vault, authorisation: authorisation)
    }

    func destroy(_ object: HardwareObject, of owner: HardwareOwner) throws(KeyStoreError) -> Removal {
        try chip.destroy(object, of: owner)
    }
}
