import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

/// Another `wipe.key` in the vault's own folder makes it look like a backup, whose changes leave the shares in the chip
/// to the vault. Until the user has said which it is, nothing is changed; and nothing that is planted later undoes the
/// answer.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: planted wipe keys are not tried on a chip"))
struct PlantedKeyTests {
    private let home: HardwareHome

    init() throws { home = try HardwareHome() }

    private func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: "\(home.folder)/\(name)"))
    }

    private func header() throws -> Header { try HeaderFile.read(in: HomeDirectory(path: home.folder)) }

    static func plant(_ kind: String, in folder: String) throws {
        let place = try HomeDirectory(path: folder)
        if kind == "none" { return place.remove("wipe.key") }
        _ = try WipeKeyFile.make(in: place, vault: HeaderFile.read(in: place).vault)
    }

    private func plant(_ kind: String = "another") throws { try PlantedKeyTests.plant(kind, in: home.folder) }

    /// All files but those that every unlocking writes.
    private func contents() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: home.folder)
        where !["ledger", "log", "log.state", "vault.mdb-lock"].contains(name) {
            // A folder of the home counts by its name alone.
            files[name] = (try? Data(contentsOf: URL(fileURLWithPath: "\(home.folder)/\(name)"))) ?? Data()
        }
        return files
    }

    private func phrase() throws -> RecoveryPhrase { try RecoveryPhrase(parsing: secret(Array(home.phrase.utf8))) }

    static let changes = [
        "removePIN", "anotherPIN", "passcode", "keys", "recovery", "limit", "rules", "phrase", "noPhrase",
        "selfDestruct",
    ]
    static let changesUnderTheChip = changes + ["removeHardware", "enrollHardware"]

    private func make(_ change: String, _ vault: Vault, _ decision: HardwareDecision? = nil) throws {
        let passcode = try secret(Array("right".utf8))
        switch change {
        case "removePIN": try vault.removePIN(passcode: passcode, spending: vault.burnAttempt())
        case "anotherPIN":
            try vault.enrollPIN(secret(Array("3691".utf8)), passcode: passcode, spending: vault.burnAttempt())
        case "passcode":
            try vault.changePasscode(
                from: passcode, spending: vault.burnAttempt(), to: secret(Array("new".utf8)))
        case "keys":
            try vault.rekey(
                passcode: passcode, spending: vault.burnAttempt(), newPasscode: secret(Array("new".utf8)),
                phrase: phrase(), isNewPhrase: false)
        case "recovery":
            _ = try vault.recover(phrase: phrase(), newPasscode: secret(Array("new".utf8)), hardware: decision)
        case "limit": try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.attemptLimit = 3 }
        case "rules":
            try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.lockTiming = .never }
        case "phrase":
            try vault.enrollRecoveryPhrase(
                Vault.newRecoveryPhrase(), passcode: passcode, spending: vault.burnAttempt())
        case "noPhrase":
            try vault.removeRecoveryPhrase(passcode: passcode, spending: vault.burnAttempt(), insisting: true)
        case "selfDestruct":
            try vault.changeSelfDestruct(to: true, passcode: passcode, spending: vault.burnAttempt()) {}
        case "removeHardware": try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt())
        case "enrollHardware":
            try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase())
        default: Issue.record("no change \(change)")
        }
    }

    private func code(_ body: () throws -> Void) throws -> VaultError.Code? {
        do { try body() } catch let error as VaultError { return error.code }
        return nil
    }

    private func claim(_ vault: Vault) throws {
        try vault.claimHardware(passcode: secret(Array("right".utf8)), spending: vault.burnAttempt())
    }

    /// What the chip still has for the slots of a header.
    private func left(_ header: Header) throws -> [HardwareObject] {
        let tier = TPMAttemptTier(at: TPMLocation(home.chip.location))
        return try header.slots.compactMap(\.hardwareObject).filter {
            try tier.remaining($0, of: header.vault) ?? 0 > 0
        }
    }

    @Test(arguments: changesUnderTheChip, ["another", "none"])
    func everyChangeIsRefusedAndNothingIsWritten(_ change: String, _ key: String) throws {
        if change != "enrollHardware" { try home.enroll() }
        try home.enrollPIN()
        try plant(key)
        let before = (files: try contents(), indices: try home.indices())
        #expect(try code { try make(change, home.vault()) } == .hardwareUnclaimed)
        #expect(try contents() == before.files)
        #expect(try home.indices() == before.indices)
        try home.unlock()
        #expect(try home.unlock(pin: "2580") == nil)
        #expect(try contents() == before.files, "an unlock puts nothing back by itself")
    }

    /// The attack: plant, wait for the change, put the old header back.
    @Test(arguments: ["removePIN", "anotherPIN", "keys", "recovery", "limit"])
    func anOldPINOpensNothingFromAnOldHeader(_ change: String) throws {
        try home.enrollPIN()
        let old = (bytes: try bytes("header"), header: try header())
        try plant()
        let vault = try home.vault()
        #expect(try code { try make(change, vault) } == .hardwareUnclaimed)
        try claim(vault)
        try make(change, vault)
        #expect(try left(old.header).isEmpty)
        try old.bytes.write(to: URL(fileURLWithPath: home.folder + "/header"))
        #expect(try home.unlock(pin: "2580") == .hardwareDestroyed)
    }

    @Test(arguments: ["passcode", "keys", "recovery", "limit", "rules", "removeHardware"])
    func anOldPasscodeOpensNothingFromAnOldHeader(_ change: String) throws {
        try home.enroll()
        let old = (
            bytes: try bytes("header"), ledger: try bytes("ledger"), header: try header()
        )
        let anchor = TPMGenerationAnchor(at: TPMLocation(home.chip.location))
        try plant()
        let vault = try home.vault()
        #expect(try code { try make(change, vault) } == .hardwareUnclaimed)
        try claim(vault)
        try make(change, vault)
        #expect(try left(old.header).isEmpty)
        let new = try header()
        #expect(new.home == old.header.home)
        let held = try anchor.state(of: new.owner)
        #expect(held?.generation == (change == "removeHardware" ? nil : new.generation), "the chip follows")
        try old.bytes.write(to: URL(fileURLWithPath: home.folder + "/header"))
        try old.ledger.write(to: URL(fileURLWithPath: home.folder + "/ledger"))
        #expect(try code { try home.unlock() } != nil)
    }

    /// Tries that were made while another key lay in the folder are the chip's to know from the claim on.
    @Test func aLedgerFromBeforeTheClaimIsNoticed() throws {
        try home.enroll()
        let ledger = try bytes("ledger")
        try plant()
        let vault = try home.vault()
        for number in 0..<2 {
            let wrong = try secret(Array("wrong \(number)".utf8))
            #expect(try code { try vault.unlock(passcode: wrong, spending: vault.burnAttempt()) } == .wrongPasscode)
        }
        try claim(vault)
        try ledger.write(to: URL(fileURLWithPath: home.folder + "/ledger"))
        #expect(try code { try home.unlock() } == .rollbackSuspected)
    }

    @Test func anotherKeyAfterTheClaimIsAskedAboutAgain() throws {
        try home.enrollPIN()
        let old = try header()
        let vault = try home.vault()
        for _ in 0..<2 {
            try plant()
            #expect(try code { try make("removePIN", vault) } == .hardwareUnclaimed)
            #expect(try home.unlock(pin: "2580") == nil)
            try claim(vault)
            #expect(!vault.leavesHardware)
        }
        try make("removePIN", vault)
        #expect(try left(old).isEmpty)
    }

    /// Whatever is planted once the decision was made: the share that the change revokes goes.
    @Test(arguments: ["makeShare", "destroy"], ["passcode", "limit", "keys", "recovery", "removeHardware"])
    func aKeyPlantedDuringTheChange(_ when: String, _ change: String) throws {
        try home.enroll()
        let old = try header()
        var settings = try home.vault().settings
        let folder = home.folder
        let tier = MeddlingTier(TPMAttemptTier(at: TPMLocation(home.chip.location))) {
            if $0 == when { try? PlantedKeyTests.plant("another", in: folder) }
        }
        settings.tier = tier
        try make(change, Vault(at: home.folder, settings: settings))
        #expect(try left(old).isEmpty)
        #expect(try header().home == old.home)
    }

    /// The decision comes after the chip was asked: what was planted before is seen.
    @Test func aKeyPlantedWhileThePasscodeIsChecked() throws {
        try home.enroll()
        let before = try bytes("header")
        var settings = try home.vault().settings
        let folder = home.folder
        settings.tier = MeddlingTier(TPMAttemptTier(at: TPMLocation(home.chip.location))) {
            if $0 == "redeem" { try? PlantedKeyTests.plant("another", in: folder) }
        }
        let vault = try Vault(at: home.folder, settings: settings)
        #expect(try code { try make("passcode", vault) } == .hardwareUnclaimed)
        #expect(try bytes("header") == before)
    }

    /// The PIN went while the chip was away, so that its share waits in a note: a planted key does not make anybody
    /// forget it.
    @Test func whatIsOwedIsNotForgotten() throws {
        try home.enrollPIN()
        let old = (bytes: try bytes("header"), header: try header())
        var settings = try home.vault().settings
        let tier = MeddlingTier(TPMAttemptTier(at: TPMLocation(home.chip.location))) { _ in }
        settings.tier = tier
        let vault = try Vault(at: home.folder, settings: settings)
        tier.refusesToDestroy = true
        try make("removePIN", vault)
        #expect(vault.owesHardware)
        tier.refusesToDestroy = false
        try plant()
        try home.unlock()
        #expect(try vault.owesHardware && left(old.header).count == 1)
        #expect(try code { try make("passcode", vault) } == .hardwareUnclaimed)
        try claim(vault)
        #expect(try !vault.owesHardware && left(old.header).isEmpty)
        try old.bytes.write(to: URL(fileURLWithPath: home.folder + "/header"))
        #expect(try home.unlock(pin: "2580") == .hardwareDestroyed)
    }

    /// Neither an edited header nor a planted key, nor both, keep out who has the phrase.
    @Test(arguments: [HardwareDecision.claim, .leave])
    func anEditedHeaderBesideAPlantedKey(_ decision: HardwareDecision) throws {
        try home.enroll()
        try home.enrollPIN()
        let old = try header()
        var edited = old
        edited.policy.attemptLimit = 9
        let copy = try edited.encoded { BLAKE3.hash($0).bytes }
        try Data(copy + copy).write(to: URL(fileURLWithPath: home.folder + "/header"))
        try plant()
        let vault = try home.vault()
        #expect(try code { try make("recovery", vault) } == .hardwareUnclaimed)
        try make("recovery", vault, decision)
        #expect(vault.isUnlocked && !vault.leavesHardware)
        #expect(try left(old).isEmpty == (decision == .claim))
    }

    // MARK: A real copy

    private func backup() throws -> Vault {
        try home.enroll()
        try home.enrollPIN()
        _ = try home.vault().backup(to: home.root + "/backup")
        return try Vault(at: home.root + "/backup", settings: home.vault().settings)
    }

    @Test func aBackupBecomesAVaultOfItsOwn() throws {
        let copy = try backup()
        let live = try header()
        #expect(try code { try make("passcode", copy) } == .hardwareUnclaimed)
        let taken = try copy.leaveHardware(
            passcode: secret(Array("right".utf8)), spending: copy.burnAttempt())
        #expect(taken.pinWasRemoved && !copy.leavesHardware)
        #expect(try left(live).count == 2, "the vault's own shares")
        try make("passcode", copy)
        let own = try HeaderFile.read(in: copy.home)
        #expect(own.home != live.home && own.pinSlot == nil)
        try copy.unlock(passcode: secret(Array("new".utf8)), spending: copy.burnAttempt())
        try home.unlock()
        #expect(try home.unlock(pin: "2580") == nil)
        let report = try copy.wipe(passcode: secret(Array("new".utf8)), spending: copy.burnAttempt()) { _ in }
        #expect(report.isFinished)
        #expect(report.receipt?.items.first { $0.target.description == "hardware" }?.result == .erased)
        #expect(try left(live).count == 2)
        try home.unlock()
        #expect(try home.unlock(pin: "2580") == nil)
    }

    /// A file tier's backup names nothing in hardware: nobody is asked anything.
    @Test func aPlainBackupIsChangedWithoutAWord() throws {
        _ = try home.vault().backup(to: home.root + "/backup")
        let copy = try Vault(at: home.root + "/backup", settings: home.vault().settings)
        #expect(!copy.leavesHardware)
        try make("passcode", copy)
        try copy.unlock(passcode: secret(Array("new".utf8)), spending: copy.burnAttempt())
        try make("anotherPIN", home.vault())
        try home.unlock()
    }

    // MARK: The end

    @Test func aWipeSaysBeforeAndAfterWhatStays() throws {
        try home.enroll()
        try plant()
        let vault = try home.vault()
        #expect(try vault.wipeWarnings().first?.contains("claim the hardware first") == true)
        let report = try vault.wipe(passcode: secret(Array("right".utf8)), spending: vault.burnAttempt()) { _ in }
        #expect(report.receipt?.items.first { $0.target.description == "hardware" }?.result == .foreign)
        #expect(try home.indices() == 2)
    }

    @Test(arguments: [false, true]) func aWipeAfterTheClaimOrBesideAPlantedKeyTakesAll(_ plantsLate: Bool) throws {
        try home.enroll()
        try home.enrollPIN()
        let vault = try home.vault()
        if !plantsLate {
            try plant()
            try claim(vault)
        }
        let report = try vault.wipe(passcode: secret(Array("right".utf8)), spending: vault.burnAttempt()) { _ in
            if plantsLate { try? plant() }
        }
        #expect(report.receipt?.items.first { $0.target.description == "hardware" }?.result == .erased)
        #expect(try home.indices() == 0)
    }
}

/// A chip beside which a program of the user is at work.
private final class MeddlingTier: AttemptTier {
    private let chip: TPMAttemptTier
    private let meddle: @Sendable (String) -> Void
    private let isStubborn = Mutex(false)

    init(_ chip: TPMAttemptTier, _ meddle: @escaping @Sendable (String) -> Void) {
        self.chip = chip
        self.meddle = meddle
    }

    var refusesToDestroy: Bool {
        get { isStubborn.withLock { $0 } }
        set { isStubborn.withLock { $0 = newValue } }
    }

    var assurance: Assurance { chip.assurance }

    func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, for owner: HardwareOwner,
        note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare {
        meddle("makeShare")
        return try chip.makeShare(authorisation: authorisation, limit: limit, for: owner, note: note)
    }

    func redeem(
        _ object: HardwareObject, of vault: VaultID, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> Redemption {
        meddle("redeem")
        return try chip.redeem(object, of: vault, authorisation: authorisation)
    }

    func remaining(_ object: HardwareObject, of vault: VaultID) throws(KeyStoreError) -> Int? {
        try chip.remaining(object, of: vault)
    }

    func destroy(_ object: HardwareObject, of owner: HardwareOwner) throws(KeyStoreError) -> Removal {
        meddle("destroy")
        if refusesToDestroy { throw KeyStoreError(.unavailable, "the chip is away") }
        return try chip.destroy(object, of: owner)
    }
}
