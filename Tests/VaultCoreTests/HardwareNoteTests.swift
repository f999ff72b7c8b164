import Foundation
import KeyStores
import SecretMemory
import Testing
@testable import VaultCore
import VaultFormat

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
        try vault.enrolHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase)
        self.phrase = RecoveryPhraseBox(phrase)
    }

    private var isHeld: Bool { get throws { try anchor.state(of: vault.id) != nil } }

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
            try vault.enrolHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase.phrase)
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
            try other.enrolHardware(passcode: passcode, spending: other.burnAttempt(), phrase: phrase.phrase)
        }
        anchor.unplug(false)
        #expect(try isHeld, "it could not be asked")
        // Another header is written before the chip is asked again, and its generation is the one that is held.
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.attemptLimit = 4 }
        #expect(try !isHeld)
        try vault.unlock("right")
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
        #expect(try home.names() == ["hardware.pending", "header", "receipt.key", "wipe-receipt", "wipe.journal"])
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

    @Test func aNoteThatIsNotOursChangesNothing() throws {
        let good = HardwareNote(of: try HeaderFile.read(in: vault.home))
        try good.write(in: vault.home)
        let bytes = try home.bytes("hardware.pending")
        for count in 0..<bytes.count {
            try home.write(Array(bytes.prefix(count)), to: "hardware.pending")
            #expect(HardwareNote.read(in: vault.home) == HardwareNote(), "\(count) bytes")
        }
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            try home.write(other, to: "hardware.pending")
            #expect(HardwareNote.read(in: vault.home) == HardwareNote(), "byte \(index)")
        }
        try home.write(bytes, to: "hardware.pending")
        #expect(HardwareNote.read(in: vault.home) == good)
        try vault.unlock("right")
        #expect(HardwareNote.read(in: vault.home) == nil)
        #expect(chip.objectCount == 1)
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
        authorisation: borrowing SecretBytes, limit: Int, note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare {
        anchor.unplug(true)
        throw KeyStoreError(.unavailable, "gone")
    }

    func redeem(_ object: HardwareObject, authorisation: borrowing SecretBytes) throws(KeyStoreError) -> Redemption {
        try chip.redeem(object, authorisation: authorisation)
    }

    func destroy(_ object: HardwareObject) throws(KeyStoreError) { try chip.destroy(object) }
}
