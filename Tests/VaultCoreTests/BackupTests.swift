import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

@Suite struct BackupTests {
    @Test func aBackupIsAHomeAndRestoresExactly() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        try vault.put(pattern(3000), "inline")
        try vault.stream(pattern(Vault.largestInlineValue + 5), "file")
        vault.lock()
        let backup = try TestHome()
        let report = try vault.backup(to: backup.path)
        #expect(report.files == 4)
        try vault.unlock("right")
        try vault.put([1], "after the backup")

        let itself = try backup.open()
        try itself.unlock("right")
        #expect(try itself.get("inline") == pattern(3000))
        itself.lock()

        let restored = try TestHome()
        #expect(try Vault.restore(from: backup.path, to: restored.path) == report)
        let again = try restored.open()
        try again.unlock("right")
        #expect(try again.get("inline") == pattern(3000))
        #expect(try again.readAll("file") == pattern(Vault.largestInlineValue + 5))
        #expect(errorCode { _ = try again.get("after the backup") } == .recordNotFound)
        #expect(try again.verify().isIntact)
        again.lock()
        try again.unlock(phrase: phrase.phrase)
    }

    @Test func nothingIsOverwritten() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        #expect(errorCode { _ = try vault.backup(to: backup.path) } == .exists)
        #expect(errorCode { _ = try vault.backup(to: home.path) } == .exists)
        #expect(errorCode { _ = try Vault.restore(from: backup.path, to: home.path) } == .exists)
        try vault.put([1], "still works")
        #expect(errorCode { _ = try Vault.restore(from: home.path, to: backup.path + "2") } == .noBackup)
        #expect(!FileManager.default.fileExists(atPath: backup.path + "2"))
    }

    @Test func `a manifest that is larger than its files allow is refused before it is read`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<12 { try vault.stream(pattern(Vault.largestInlineValue + number), "file \(number)") }
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let restored = try TestHome()
        let manifest = try backup.bytes("backup.manifest")
        // Sparse: it takes no room on the disk, and all of the memory that it is read into.
        try #require(unsafe truncate(backup.file("backup.manifest"), 1 << 30) == 0)
        let error = #expect(throws: VaultError.self) {
            _ = try Vault.restore(from: backup.path, to: restored.path)
        }
        #expect(error?.code == .damaged && error?.reason.contains("too large for the files") == true, "\(error as Any)")
        try backup.write(manifest, to: "backup.manifest")
        _ = try Vault.restore(from: backup.path, to: restored.path)
    }

    @Test func achangedBackupIsRefusedAndLeavesNothing() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Vault.largestInlineValue + 5), "file")
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let file = "files/" + (try FileManager.default.contentsOfDirectory(atPath: backup.file("files"))[0])
        let restored = try TestHome()
        for name in ["header", "vault.mdb", file, "backup.manifest"] {
            let good = try backup.bytes(name)
            for variant in 0..<3 {
                var bad = good
                switch variant {
                case 0: bad[bad.count / 2] ^= 1
                case 1: bad.removeLast()
                default: bad.append(10)
                }
                try backup.write(bad, to: name)
                #expect(
                    errorCode("\(name) \(variant)") { _ = try Vault.restore(from: backup.path, to: restored.path) }
                        == .damaged)
                #expect(!FileManager.default.fileExists(atPath: restored.path))
            }
            try backup.write(good, to: name)
        }
        _ = try Vault.restore(from: backup.path, to: restored.path)
    }

    @Test func aBackupWhileOthersWriteIsConsistent() async throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Vault.largestInlineValue + 5), "file")
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<40 {
                    try? vault.put(pattern(2000, seed: UInt8(number)), "n\(number)")
                    if number % 8 == 0 {
                        try? vault.stream(
                            pattern(Vault.largestInlineValue + number, seed: UInt8(number)), "file", replacing: true)
                    }
                }
            }
            group.addTask {
                for _ in 0..<4 {
                    do {
                        let backup = try TestHome()
                        _ = try vault.backup(to: backup.path)
                        let copy = try backup.open()
                        try copy.unlock("right")
                        #expect(try copy.verify().isIntact)
                    } catch { Issue.record(error) }
                }
            }
        }
        _ = try vault.removeOrphanedFiles()
        #expect(try vault.verify().isIntact)
        #expect(try vault.verify().orphanedFiles == 0)
    }
}
