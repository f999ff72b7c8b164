import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

@Suite struct HeaderTests {
    @Test func theSecondCopyServesWhenTheFirstIsDamaged() throws {
        let home = try TestHome()
        _ = try home.create()
        let good = try home.bytes("header")
        for copy in 0..<2 {
            try home.flip("header", at: copy * Header.copySize + 4000)
            let vault = try home.open()
            try vault.unlock("right")
            #expect(try home.bytes("header") == good, "repaired by the unlock")
        }
    }

    @Test func bothCopiesAreRewrittenByAChange() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        let before = try home.bytes("header")
        try vault.changePasscode("right", "new")
        let after = try home.bytes("header")
        #expect(after[..<Header.copySize] == after[Header.copySize...])
        #expect(after != before)
        // The first copy alone was written: it wins, and the second one is brought up.
        try home.write(Array(after[..<Header.copySize]) + Array(before[Header.copySize...]), to: "header")
        #expect(errorCode { try vault.unlock("right") } == .wrongPasscode)
        try vault.unlock("new")
        #expect(try home.bytes("header") == after)
    }

    @Test func anEditedPolicyStopsEvenTheRightPasscodeAndThePhraseRestoresIt() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        try vault.put([1, 2, 3], "kept")
        vault.lock()
        try home.editHeader { $0.policy.attemptLimit = 10 }
        #expect(errorCode { try vault.unlock("right") } == .damaged)
        #expect(try vault.status().remainingAttempts == 10, "the right passcode costs nothing")
        #expect(errorCode { try vault.unlock(phrase: phrase.phrase) } == .damaged)
        let new = try secret("new")
        let recovery = try vault.recover(phrase: phrase.phrase, newPasscode: new)
        #expect(recovery.headerWasAltered)
        #expect(try vault.status().policy == .standard)
        #expect(try vault.get("kept") == [1, 2, 3])
        vault.lock()
        try vault.unlock("new")
    }

    @Test func anEditedEpochOrGenerationIsFound() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        try home.editHeader { $0.generation += 1 }
        #expect(errorCode { try vault.unlock("right") } == .damaged)
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func weakOrExcessiveCostsAreRefusedBeforeTheWork() throws {
        let home = try TestHome()
        _ = try home.create()
        let shipped = try Vault(at: home.path, settings: VaultSettings(limits: .shipped, clock: home.clock))
        #expect(errorCode { try shipped.unlock("right") } == .damaged)
        #expect(try shipped.status().remainingAttempts == 5)
        try home.editHeader { header in
            guard var slot = header.passcodeSlot else { return }
            slot.derivation = DerivationParameters(passes: 64, memoryKiB: 4 << 20)
            header.set(slot)
        }
        let vault = try home.open()
        #expect(errorCode { try vault.unlock("right") } == .damaged)
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func aNewerVersionIsNamedAndNothingIsTouched() throws {
        let home = try TestHome()
        _ = try home.create()
        var copy = Array(try home.bytes("header")[..<Header.copySize])
        copy[8] = 2
        let covered = Array(copy[..<(Header.copySize - 32)])
        copy = covered + covered.withRawSpan { HeaderFile.checksum($0) }
        try home.write(copy + copy, to: "header")
        #expect(errorCode { _ = try home.open() } == .newerVersion)
        // One newer copy is enough: the older one must not overwrite it.
        try home.write(copy + [UInt8](repeating: 0, count: Header.copySize), to: "header")
        #expect(errorCode { _ = try home.open() } == .newerVersion)
        #expect(Array(try home.bytes("header")[..<Header.copySize]) == copy)
    }

    @Test func aMissingHeaderOrDatabaseIsNamed() throws {
        let home = try TestHome()
        #expect(errorCode { _ = try home.open() } == .noVault)
        _ = try home.create()
        try FileManager.default.moveItem(atPath: home.file("vault.mdb"), toPath: home.file("elsewhere"))
        let vault = try home.open()
        #expect(errorCode { try vault.unlock("right") } == .damaged)
        #expect(!FileManager.default.fileExists(atPath: home.file("vault.mdb")), "no empty database is made")
        try FileManager.default.moveItem(atPath: home.file("elsewhere"), toPath: home.file("vault.mdb"))
        try FileManager.default.removeItem(atPath: home.file("header"))
        #expect(errorCode { _ = try home.open() } == .damaged)
    }

    @Test func aHeaderThatIsALinkIsRefused() throws {
        let home = try TestHome()
        _ = try home.create()
        try FileManager.default.moveItem(atPath: home.file("header"), toPath: home.file("real"))
        try FileManager.default.createSymbolicLink(atPath: home.file("header"), withDestinationPath: "real")
        #expect(errorCode { _ = try home.open() } == .damaged)
    }
}

extension TestHome {
    /// Edits the header as an attacker can: with a right checksum, but without the MAC key.
    func editHeader(_ change: (inout Header) -> Void) throws {
        var header = try HeaderFile.decide(bytes("header"), HomeDirectory(path: path)).header
        change(&header)
        let copy = try header.encoded(checksum: HeaderFile.checksum)
        try write(copy + copy, to: "header")
    }
}

@Suite struct PlantedFileTests {
    @Test(arguments: ["header", "ledger", "vault.mdb"])
    func aPipeInPlaceOfAFileIsDamageNotAHang(name: String) throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        try FileManager.default.removeItem(atPath: home.file(name))
        #expect(unsafe mkfifo(home.file(name), 0o600) == 0)
        #expect(errorCode { try vault.unlock("right") } == .damaged)
        #expect(!vault.isUnlocked)
    }
}
