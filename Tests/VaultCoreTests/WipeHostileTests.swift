import Cryptography
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
@testable import VaultCore
@testable import VaultHeader
import VaultFormat
@testable import VaultStorage
@testable import VaultWipe

/// A home in which somebody has left things, and apps with targets of their own.
@Suite struct WipeHostileTests {
    /// A place outside the home whose files must survive everything.
    final class Outside {
        let path = NSTemporaryDirectory() + "holdfast-outside-\(UUID().uuidString.prefix(8))"

        init() throws {
            try FileManager.default.createDirectory(atPath: path + "/folder", withIntermediateDirectories: true)
            for name in ["file", "folder/0123456789abcdef0123456789abcdef"] {
                try Data("precious".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var isWhole: Bool {
            ["file", "folder/0123456789abcdef0123456789abcdef"].allSatisfy {
                (try? Data(contentsOf: URL(fileURLWithPath: "\(path)/\($0)"))) == Data("precious".utf8)
            }
        }
    }

    static func journal(_ vault: VaultID, _ items: [WipeItem]) throws -> [UInt8] {
        let sector = try WipeJournal(vault: vault, sequence: 4, items: items).encoded { BLAKE3.hash($0).bytes }
        return sector + sector
    }

    static func plant(_ bytes: [UInt8], _ name: String, in home: TestHome) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: home.file(name)))
    }

    @Test(arguments: [false, true])
    func aPlantedJournalAloneErasesNothing(selfDestruct: Bool) throws {
        let home = try TestHome()
        let vault = try home.filled()
        if selfDestruct { try vault.setSelfDestruct(true) }
        let items = try ["keys", "ledger", "records", "files"].map {
            WipeItem(try #require(WipeTargetID($0)), .pending, count: 0)
        }
        try WipeHostileTests.plant(WipeHostileTests.journal(vault.id, items), "wipe.journal", in: home)
        try WipeHostileTests.plant(Array("holdfast wipe receipt 1\n".utf8), "wipe-receipt", in: home)
        for _ in 0..<3 {
            let again = try home.open()
            try again.unlock("right")
            #expect(try again.get("record 3") == pattern(300, seed: 3))
            #expect(try again.verify().isIntact)
        }
    }

    /// Signed by whoever put it there, with less in it than there is to erase.
    @Test(arguments: [false, true])
    func aPlantedReceiptEndsNoWipe(namesEverything: Bool) throws {
        let home = try TestHome()
        let vault = try home.filled()
        let made = try vault.setSelfDestruct(true)
        try vault.open.put([1], "note")
        vault.open.close()
        try vault.eraseKeysOnly()
        let mark = try #require(HeaderFile.marks(in: home.bytes("header")).first)
        let key = try ReceiptKey.generate(.wipe)
        var items: [WipeItem] = []
        if namesEverything {
            // Nothing is left to erase then, but the receipt would be somebody else's.
            for target in HomeTarget.all { _ = try target.erase(in: vault.home) }
            items = [WipeItem(try #require(WipeTargetID(HomeTarget.keys)), .erased)]
            items += HomeTarget.all.map { WipeItem($0.id, .absent) }
        }
        let receipt = WipeReceipt(
            vault: mark.vault, cause: mark.cause, begun: mark.begun, ended: mark.begun, items: items, strangers: 0,
            keyOrigin: .enabled, key: key.publicBytes)
        try WipeHostileTests.plant(receipt.signed(by: key).encoded, "wipe-receipt", in: home)
        #expect(errorCode { _ = try home.open() } == .wiped)
        #expect(try home.names() == ["wipe-receipt"])
        #expect(try home.receipt(key: made?.publicKey).items.count == HomeTarget.all.count + 2)
    }

    static let linked = [
        "ledger", "vault.mdb", "vault.mdb-lock", "log", "log.state", "open.key", "open.pub", "open.mdb", "receipt.key",
        "wipe.journal", "wipe-receipt", ".wipe-receipt.part", "backup.manifest",
    ]

    @Test(arguments: linked)
    func aPlantedLinkIsRemovedAndNotFollowed(name: String) throws {
        for isHard in [false, true] {
            let outside = try Outside()
            let home = try TestHome()
            let vault = try home.filled()
            let right = try secret("right")
            // Planted while the wipe is about to begin, so that nothing before stumbles over it.
            let report = try vault.wipe(passcode: right, spending: vault.burnAttempt()) { _ throws(VaultError) in
                do {
                    try? FileManager.default.removeItem(atPath: home.file(name))
                    if isHard {
                        try FileManager.default.linkItem(atPath: "\(outside.path)/file", toPath: home.file(name))
                    } else {
                        try FileManager.default.createSymbolicLink(
                            atPath: home.file(name), withDestinationPath: "\(outside.path)/file")
                    }
                } catch { throw VaultError(.inputOutput, "\(error)") }
            }
            #expect(report.isFinished, "\(report.summary)")
            #expect(outside.isWhole, "\(name), hard: \(isHard)")
            #expect(try home.names() == ["wipe-receipt"])
            _ = try home.receipt()
        }
    }

    @Test func aLinkInPlaceOfTheFilesFolderIsNotFollowed() throws {
        let outside = try Outside()
        let home = try TestHome()
        let vault = try home.filled()
        try FileManager.default.removeItem(atPath: home.file("files"))
        try FileManager.default.createSymbolicLink(
            atPath: home.file("files"), withDestinationPath: "\(outside.path)/folder")
        #expect(try vault.wipe().isFinished)
        #expect(outside.isWhole)
        #expect(try home.names() == ["wipe-receipt"])

        let other = try TestHome()
        let second = try other.filled()
        try FileManager.default.createSymbolicLink(
            atPath: other.file("files/0123456789abcdef0123456789abcdef"),
            withDestinationPath: "\(outside.path)/folder/0123456789abcdef0123456789abcdef")
        try FileManager.default.createSymbolicLink(
            atPath: other.file("files/link"), withDestinationPath: "\(outside.path)/folder")
        #expect(try second.wipe().isFinished)
        #expect(outside.isWhole)
        #expect(try other.names() == ["wipe-receipt"])
    }

    @Test func aLinkInPlaceOfTheHeaderIsNoVaultToErase() throws {
        let home = try TestHome()
        _ = try home.filled()
        let other = try TestHome()
        let victim = try other.filled()
        try victim.setSelfDestruct(true)
        let before = try other.bytes("header")
        try FileManager.default.removeItem(atPath: home.file("header"))
        try FileManager.default.createSymbolicLink(
            atPath: home.file("header"), withDestinationPath: other.file("header"))
        #expect(errorCode { _ = try home.open() } == .damaged)
        #expect(try other.bytes("header") == before)
        try victim.unlock("right")
    }

    @Test func whatIsNotTheVaultsIsLeftAloneAndCounted() throws {
        let home = try TestHome()
        let vault = try home.filled()
        try WipeHostileTests.plant(Array("mine".utf8), "notes.txt", in: home)
        try FileManager.default.createDirectory(atPath: home.file("pictures"), withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: home.file("files/sub"), withIntermediateDirectories: false)
        try WipeHostileTests.plant(Array("mine".utf8), "files/sub/inner", in: home)
        try FileManager.default.createDirectory(atPath: home.file("log.old"), withIntermediateDirectories: false)
        let plan = try vault.wipePlan()
        #expect(plan.strangers == ["notes.txt", "pictures"])
        #expect(try vault.wipe().isFinished)
        #expect(try home.names() == ["files", "log.old", "notes.txt", "pictures", "wipe-receipt"])
        #expect(try home.bytes("files/sub/inner") == Array("mine".utf8))
        let receipt = try home.receipt()
        #expect(receipt.strangers == 2)
        #expect(receipt.items.first { $0.target.description == "files" }?.result == .foreign)
        #expect(receipt.items.first { $0.target.description == "files" }?.count == 1)
        #expect(receipt.items.first { $0.target.description == "log" }?.result == .foreign)
    }

    @Test func thePlanChangesNothingAndNamesEverything() throws {
        let home = try TestHome()
        let vault = try home.filled()
        try vault.setSelfDestruct(true)
        let before = try home.names().map { ($0, try? home.bytes($0)) }
        let plan = try vault.wipePlan()
        #expect(
            plan.steps.map(\.target.description) == [
                "keys", "ledger", "open-keys", "log-state", "records", "files", "log",
            ])
        #expect(
            plan.steps.map(\.method) == [
                .overwritten, .overwritten, .overwritten, .overwritten, .removed, .removed, .removed,
            ])
        #expect(plan.steps[5].files == 1 && plan.steps[5].bytes > UInt64(Vault.largestInlineValue))
        #expect(plan.steps[0].bytes == 16_384)
        #expect(plan.strangers == [])
        let after = try home.names().map { ($0, try? home.bytes($0)) }
        #expect(before.elementsEqual(after) { $0 == $1 })
        try WipeHostileTests.plant([UInt8](repeating: 7, count: 16_384), "wipe.journal", in: home)
        let error = #expect(throws: VaultError.self) { _ = try vault.wipePlan() }
        #expect(error?.code == .damaged)
        #expect(error?.reason.contains("wipe.journal") == true)
        #expect(try vault.wipeWarnings().isEmpty, "told whatever the journal says: it stops no wipe")
    }

    static let badJournals: [(String, [UInt8])] = [
        ("noise", pattern(16_384)), ("zeros", [UInt8](repeating: 0, count: 16_384)), ("short", pattern(100)),
        ("empty", []), ("long", pattern(1 << 20)),
    ]

    @Test(arguments: badJournals)
    func aDamagedJournalStopsNothing(what: String, bytes: [UInt8]) throws {
        let home = try TestHome()
        let vault = try home.filled()
        try WipeHostileTests.plant(bytes, "wipe.journal", in: home)
        try home.open().unlock("right")
        #expect(try vault.wipe().isFinished)
        #expect(try home.names() == ["wipe-receipt"])
    }

    private static func mark(of vault: Vault) throws -> [UInt8] {
        let key = try WipeKeyFile.loadOrMake(in: vault.home, vault: vault.id)
        return try key.mark(.owner).encoded { BLAKE3.hash($0).bytes }
    }

    @Test func theMarkInEitherCopyBeginsTheWipeAndATornOneDoesNot() throws {
        for copy in 0..<2 {
            let home = try TestHome()
            let vault = try home.filled()
            let mark = try WipeHostileTests.mark(of: vault)
            var header = try home.bytes("header")
            header.replaceSubrange(copy * 8192..<copy * 8192 + 8192, with: mark)
            try home.write(header, to: "header")
            #expect(errorCode { _ = try vault.status() } == .wiped)
            #expect(errorCode { _ = try home.open() } == .wiped)
            #expect(try home.names() == ["wipe-receipt"])
        }
        let home = try TestHome()
        let vault = try home.filled()
        let mark = try WipeHostileTests.mark(of: vault)
        var header = try home.bytes("header")
        header.replaceSubrange(0..<4096, with: mark[..<4096])
        try home.write(header, to: "header")
        try home.open().unlock("right")
    }

    /// Of nobody, or of another home of the same vault.
    @Test(arguments: [false, true])
    func aPlantedMarkErasesNothing(isOfABackup: Bool) throws {
        for copies in [[0], [1], [0, 1]] {
            let home = try TestHome()
            let vault = try home.filled()
            var mark = WipeMark(vault: try vault.id, cause: .owner, begun: 1).encoded { BLAKE3.hash($0).bytes }
            if isOfABackup {
                let copy = try TestHome()
                _ = try vault.backup(to: copy.path)
                mark = try WipeHostileTests.mark(of: copy.open())
            }
            vault.lock()
            let names = try home.names()
            var header = try home.bytes("header")
            for copy in copies { header.replaceSubrange(copy * 8192..<copy * 8192 + 8192, with: mark) }
            try home.write(header, to: "header")
            #expect(!vault.isWiped)
            if copies.count == 2 {
                // Of the header nothing is left; the rest waits for a header from a backup.
                let error = #expect(throws: VaultError.self) { _ = try home.open() }
                #expect(error?.code == .damaged && error?.reason.contains("did not begin") == true)
                #expect(try home.bytes("header") == header)
            } else {
                try home.open().unlock("right")
                #expect(try home.bytes("header") != header, "it was repaired from the other copy")
            }
            #expect(try home.names() == names)
        }
    }

    /// Killed after the header's name went: what the mark was told by is all that is left.
    @Test func aLeftOverWipeKeyGoesWithTheNextStart() throws {
        let home = try TestHome()
        let vault = try home.filled()
        let key = try home.bytes("wipe.key")
        #expect(try vault.wipe().isFinished)
        #expect(try home.names() == ["wipe-receipt"])
        try WipeHostileTests.plant(key, "wipe.key", in: home)
        #expect(errorCode { _ = try home.open() } == .wiped)
        #expect(try home.names() == ["wipe-receipt"])
    }

    /// Without a wipe key the rules still destroy; so do the passcode and the phrase.
    @Test func aWipeNeedsNoWipeKeyToBegin() throws {
        let home = try TestHome()
        let vault = try home.filled()
        try vault.setSelfDestruct(true)
        vault.lock()
        try FileManager.default.removeItem(atPath: home.file("wipe.key"))
        for _ in 0..<5 { _ = try? vault.countFailedBiometrics() }
        #expect(vault.isWiped)
        #expect(try home.names() == ["wipe-receipt"])
    }

    @Test func aReceiptWithoutItsHeaderIsADestroyedVaultAndNothingElse() throws {
        let home = try TestHome()
        let vault = try home.filled()
        _ = try vault.wipe()
        let receipt = try home.bytes("wipe-receipt")
        // Beside a vault it is only a file.
        let other = try TestHome()
        _ = try other.filled()
        try WipeHostileTests.plant(receipt, "wipe-receipt", in: other)
        try other.open().unlock("right")
        // Where the header was lost, a forged or damaged one does not make a destroyed vault of it.
        try FileManager.default.removeItem(atPath: other.file("header"))
        var changed = receipt
        changed[60] ^= 1
        try other.write(changed, to: "wipe-receipt")
        #expect(errorCode { _ = try other.open() } == .damaged)
    }

    // MARK: Targets of apps
}

extension WipeReceipt {
    func key(matches report: Vault.WipeReport) -> Bool { publicKey == report.receipt?.publicKey }
}
