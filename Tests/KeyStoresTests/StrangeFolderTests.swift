import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage
import VaultWipe

/// A folder that somebody left, looked at on the machine of a vault of which they know everything but what only its
/// home has: they have a backup of it, and so its header. Nothing of that vault, and nothing of any other program, goes
/// from the chip.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: strange folders are not tried on a chip"))
struct StrangeFolderTests {
    private static let foreign = "0x1800077"

    private let victim: HardwareHome
    private let strange: String
    /// The victim's, as the backup has it.
    private let header: Header

    init() throws {
        victim = try HardwareHome()
        try victim.enroll()
        try victim.enrollPIN()
        // An index of a program that has nothing to do with us; its owner may write it, as most are.
        let chip = victim.chip
        try #require(
            chip.tool(
                "tpm2_nvdefine", "-C", "o", "-s", "32", "-a", "ownerread|ownerwrite|authread",
                StrangeFolderTests.foreign
            )
            .status == 0)
        let content = Data(repeating: 7, count: 32)
        try content.write(to: URL(fileURLWithPath: chip.folder + "/content"))
        try #require(
            chip.tool("tpm2_nvwrite", "-C", "o", "-i", chip.folder + "/content", StrangeFolderTests.foreign).status == 0
        )
        strange = victim.root + "/strange"
        _ = try victim.vault().backup(to: strange)
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: strange + "/header")))
        header = try Header(parsing: Array(bytes[..<Header.copySize])) { BLAKE3.hash($0).bytes }
        #expect(try victim.indices() == 4)
    }

    /// Everything that the victim's header names, and the other program's index.
    private func note() throws -> HardwareNote {
        var note = HardwareNote(of: header)
        #expect(note.shares.count == 2 && note.anchors.count == 1)
        let public_ = try victim.chip.tool("tpm2_nvreadpublic", StrangeFolderTests.foreign).output
        let digits = try #require(
            public_.split(separator: "\n").first { $0.contains("name:") }?.split(separator: " ").last)
        let name = try #require(Hexadecimal.decode(digits))
        for home in [header.home, [UInt8](repeating: 0, count: 32)] {
            let parts: [[UInt8]] = [
                [UInt8](repeating: 0, count: 34), [UInt8](repeating: 0, count: 32), home, [], [],
            ]
            var data: [UInt8] = [1, 0x77, 0, 0x80, 0x01]
            for part in parts { data += [UInt8(part.count), 0] + part }
            note.shares.append(HardwareObject(name: name, data: data))
        }
        return note
    }

    private func plant(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(strange)/\(name)"))
    }

    private func settings() -> VaultSettings {
        var settings = VaultSettings.costsForTests()
        settings.tier = TPMAttemptTier(at: TPMLocation(victim.chip.location))
        settings.anchor = TPMGenerationAnchor(at: TPMLocation(victim.chip.location))
        return settings
    }

    private func expectNothingLost(_ place: Comment) throws {
        #expect(try victim.indices() == 4, place)
        #expect(throws: Never.self, place) { try victim.unlock() }
        #expect(try victim.unlock(pin: "2580") == nil, place)
        #expect(try victim.chip.tool("tpm2_nvread", "-C", "o", StrangeFolderTests.foreign).status == 0, place)
    }

    /// With no wipe key, the backup's own, or one that the folder's maker made.
    @Test(arguments: ["none", "the backup's", "his own"], [1, 2])
    func aPlantedMark(_ key: String, copies: Int) throws {
        let home = try HomeDirectory(path: strange)
        var mark = WipeMark(vault: header.vault, cause: .owner, begun: 1)
        switch key {
        case "none": try FileManager.default.removeItem(atPath: strange + "/wipe.key")
        case "his own": mark = try WipeKeyFile.make(in: home, vault: header.vault).mark(.owner)
        default: mark = try WipeKeyFile.loadOrMake(in: home, vault: header.vault).mark(.owner)
        }
        let bytes = mark.encoded { BLAKE3.hash($0).bytes }
        let rest = try header.encoded { BLAKE3.hash($0).bytes }
        try plant(copies == 2 ? bytes + bytes : bytes + rest, "header")
        try note().write(in: home, [])
        for _ in 0..<2 {
            _ = try? Vault(at: strange, settings: settings())
            try? Wipe.finish(at: strange)
        }
        try expectNothingLost("mark of \(key), \(copies)")
    }

    @Test func aPlantedNote() throws {
        let home = try HomeDirectory(path: strange)
        try note().write(in: home, [])
        let vault = try Vault(at: strange, settings: settings())
        _ = try vault.status()
        #expect(try victim.indices() == 4, "looked at")
        // The passcode is the victim's, and the folder a backup: opened, it acts on no note that it did not write.
        try vault.unlock(passcode: secret("right"), spending: vault.burnAttempt())
        try expectNothingLost("opened")
        #expect(!home.exists("hardware.pending") && home.exists("hardware.pending.refused"))
    }

    /// A whole vault under the victim's id, whose passcode its maker tells: there the note is genuine.
    @Test func aVaultOfTheSameName() throws {
        let other = victim.root + "/other"
        _ = try Vault.create(at: other, passcode: secret("told"), settings: .costsForTests())
        let home = try HomeDirectory(path: other)
        let vault = try Vault(at: other, settings: settings())
        try vault.unlock(passcode: secret("told"), spending: vault.burnAttempt())
        let key = try #require(vault.gate.current).keys.headerKeys.noteKey
        vault.lock()
        try note().write(in: home, [key])
        try vault.unlock(passcode: secret("told"), spending: vault.burnAttempt())
        #expect(!home.exists("hardware.pending"), "what is another's is not waited for")
        try expectNothingLost("opened")
        // Its end is its own.
        try note().write(in: home, [key])
        let report = try vault.wipe(passcode: secret("told"), spending: vault.burnAttempt()) { _ in }
        #expect(report.isFinished)
        try expectNothingLost("destroyed")
    }

    @Test func aBackupDestroyedByItsOwner() throws {
        let vault = try Vault(at: strange, settings: settings())
        let plan = try vault.wipePlan()
        #expect(plan.steps.first { $0.target.description == "hardware" }?.method == .left)
        #expect(plan.warnings.count == 1)
        let report = try vault.wipe(passcode: secret("right"), spending: vault.burnAttempt()) { _ in }
        #expect(report.isFinished, "\(report.summary)")
        #expect(report.receipt?.items.first { $0.target.description == "hardware" }?.result == .foreign)
        try expectNothingLost("the backup was destroyed")
        // The vault itself takes everything along, and nothing of the other program.
        #expect(try victim.vault().wipePlan().warnings.count == 1)
        let own = try victim.vault()
        #expect(try own.wipe(passcode: secret("right"), spending: own.burnAttempt()) { _ in }.isFinished)
        #expect(try victim.indices() == 1)
    }

    @Test func aBackupDestroyedByItsRules() throws {
        let own = try victim.vault()
        try own.changeSelfDestruct(
            to: true, passcode: secret("right"), spending: own.burnAttempt()
        ) {}
        let copy = victim.root + "/copy"
        _ = try own.backup(to: copy)
        let vault = try Vault(at: copy, settings: settings())
        for _ in 0..<5 { _ = try? vault.countFailedBiometrics() }
        #expect(vault.isWiped)
        try expectNothingLost("the backup destroyed itself")
    }

    /// Called a copy and changed, a backup becomes a home of its own: the shares of the one it came from stay, its own
    /// go with it.
    @Test func aBackupThatIsChanged() throws {
        let passcode = Array("right".utf8)
        let vault = try Vault(at: strange, settings: settings())
        _ = try vault.leaveHardware(passcode: secret(passcode), spending: vault.burnAttempt())
        try vault.changePasscode(from: secret(passcode), spending: vault.burnAttempt(), to: secret("new"))
        #expect(try victim.indices() == 6, "a share and a generation of its own")
        #expect(throws: Never.self) { try victim.unlock() }
        #expect(try victim.unlock(pin: "2580") == nil)
        try vault.unlock(passcode: secret("new"), spending: vault.burnAttempt())
        #expect(try vault.wipePlan().steps.contains { $0.method == .released })
        #expect(try vault.wipe(passcode: secret("new"), spending: vault.burnAttempt()) { _ in }.isFinished)
        try expectNothingLost("the changed backup was destroyed")
    }

    /// Somebody types into a copied folder: the tries are the chip's to count, and nothing else is written there.
    @Test func triesInAStrangeFolderDoNotMoveTheGeneration() throws {
        let anchor = TPMGenerationAnchor(at: TPMLocation(victim.chip.location))
        let before = try anchor.state(of: header.owner)
        let vault = try Vault(at: strange, settings: settings())
        for _ in 0..<2 {
            _ = try? vault.unlock(passcode: secret("wrong"), spending: vault.burnAttempt())
        }
        #expect(try anchor.state(of: header.owner) == before)
        try expectNothingLost("typed into")
    }

    /// Whoever takes the key away takes nothing from the vault: the user is asked what the folder is.
    @Test func aHomeThatLostItsWipeKey() throws {
        let path = victim.folder + "/wipe.key"
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try FileManager.default.removeItem(atPath: path)
        #expect(try victim.vault().wipePlan().steps.contains { $0.method == .left }, "said before")
        let own = try victim.unlock()
        #expect(own.leavesHardware)
        try own.claimHardware(passcode: secret("right"), spending: own.burnAttempt())
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try own.wipe(passcode: secret("right"), spending: own.burnAttempt()) { _ in }.isFinished)
        #expect(try victim.indices() == 1)
    }

    /// Everything of the home, its key too: that is the home, in another place, and its end is said to be the other's
    /// too.
    @Test func aCopyOfTheWholeFolderWarns() throws {
        let copy = victim.folder + "-copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try FileManager.default.copyItem(atPath: victim.folder, toPath: copy)
        #expect(try Vault(at: copy, settings: settings()).wipePlan().warnings.count == 2)
    }
}
