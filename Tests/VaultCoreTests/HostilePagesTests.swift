import Foundation
import Synchronization
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultFolders
@testable import VaultHeader
@testable import VaultStorage

// iOS starts no process for a test.
#if !os(iOS)
/// A vault's database that somebody altered while it lay locked. LMDB would write over memory that is not its own.
@Suite struct HostilePagesTests {
    /// What can be wrong with a page, each in a place of its own.
    enum Craft: String, CaseIterable, Codable {
        case longMain, longRoot, longBranch, longLeaf, longNeighbour, longLastLeaf, upperBehindTheEnd, dirtyFlag
        case nodeBehindTheEnd, hugeKey, hugeValue, keysOutOfOrder, leafServesTwice, childBehindTheEnd
        case overflowCount, overflowOfAnother, overflowIsALeaf, treeDepth, treeEntries, lastPageTooLow
        case freeCount, freePageInUse, freeMetaPage, freePageTwice, freeOutOfOrder, freePageBehindTheEnd,
            freeOfTheFuture
        case freeLeafLong
    }

    /// Records of every kind, and free pages; nothing of LMDB is open when it returns.
    static func filled() throws -> TestHome {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.write { session in
            for number in 0..<600 { try unsafe session.put(pattern(300).span.bytes, for: "n\(number)") }
            for number in 0..<4 { try unsafe session.put(pattern(20_000).span.bytes, for: "large \(number)") }
        }
        for start in stride(from: 0, to: 100, by: 20) {
            try vault.write { session in for number in start..<start + 20 { try session.delete("n\(number)") } }
        }
        try vault.delete("large 0")
        vault.lock()
        return home
    }

    /// Everything that writes, each time in a vault that was just opened.
    private static let writes: [(String, @Sendable (Vault) throws -> Void)] = [
        ("put", { vault in for number in 0..<20 { try vault.put([3], "new \(number)") } }),
        ("replace", { vault in for number in 100..<120 { try vault.put([3], "n\(number)", replacing: true) } }),
        ("delete", { vault in for number in 100..<140 { try vault.delete("n\(number)") } }),
        (
            "batch",
            { vault in
                try vault.write { session in
                    for number in 200..<400 { try session.delete("n\(number)") }
                    for number in 0..<200 { try unsafe session.put(pattern(300).span.bytes, for: "m\(number)") }
                }
            }
        ),
        ("large", { vault in try vault.put(pattern(30_000), "large 1", replacing: true) }),
        (
            "backup",
            { vault in
                let target = try TestHome()
                defer { withExtendedLifetime(target) {} }
                _ = try vault.backup(to: target.path)
            }
        ),
    ]

    @Test func whatLMDBMustNotTouchIsDamage() async throws {
        await #expect(processExitsWith: .success) {
            let home = try HostilePagesTests.filled()
            let good = try home.bytes("vault.mdb")
            for craft in Craft.allCases {
                let bad = try PageForge(good).crafted(craft)
                for (name, write) in HostilePagesTests.writes {
                    try home.write(bad, to: "vault.mdb")
                    let vault = try home.open()
                    var code: VaultError.Code?
                    do {
                        try vault.unlock("right")
                        mustHold(isDamaged(vault), "\(craft)")
                        try write(vault)
                    } catch let error as VaultError { code = error.code }
                    mustHold(code == .damaged, "\(craft) \(name): \(code.map { "\($0)" } ?? "done")")
                    vault.lock()
                    mustHold(try home.bytes("vault.mdb") == bad, "\(craft) \(name) wrote")
                }
            }
            try home.write(good, to: "vault.mdb")
            let vault = try home.open()
            try vault.unlock("right")
            try HostilePagesTests.writes[0].1(vault)
            mustHold(try vault.verify().isIntact, "the good file")
        }
    }

    @Test func newKeysAreNotWrittenIntoAForgedTree() async throws {
        await #expect(processExitsWith: .success) {
            let home = try HostilePagesTests.filled()
            try home.write(PageForge(home.bytes("vault.mdb")).crafted(.longLeaf), to: "vault.mdb")
            let vault = try home.open()
            try vault.unlock("right")
            let code = errorCode {
                _ = try vault.rekeyForTest("right", to: "next")
                try vault.finishRekey()
            }
            mustHold(code == .damaged)
        }
    }

    /// What is not on the page that was forged is still read: nothing is lost that was there.
    @Test func readsGoOn() async throws {
        await #expect(processExitsWith: .success) {
            let home = try HostilePagesTests.filled()
            try home.write(PageForge(home.bytes("vault.mdb")).crafted(.freePageInUse), to: "vault.mdb")
            let vault = try home.open()
            try vault.unlock("right")
            mustHold(errorCode { try vault.put([1], "new") } == .damaged)
            mustHold(errorCode { try vault.put([1], "new") } == .damaged)
            for number in 100..<600 { mustHold(try vault.get("n\(number)") == pattern(300)) }
            let report = try vault.verify()
            mustHold(!report.arePagesWhole && report.damagedRecords == 0 && report.records == 503)
        }
    }

    /// The manifest of a backup has no key: whoever alters the database makes the manifest right again.
    @Test(arguments: [Craft.longLeaf, .freePageInUse])
    func aForgedBackupIsNotRestored(craft: Craft) async throws {
        await #expect(processExitsWith: .success) { [craft] in
            let home = try HostilePagesTests.filled()
            let backup = try TestHome()
            _ = try home.open().backup(to: backup.path)
            // A backup has no free pages; the home's own file serves as well.
            try backup.write(PageForge(home.bytes("vault.mdb")).crafted(craft), to: "vault.mdb")
            let folder = try HomeDirectory(path: backup.path)
            let entries = try ["header", "vault.mdb", "open.pub"].map { try FileCopy.digest($0, in: folder) }
            let old = try BackupManifest(parsing: backup.bytes("backup.manifest"), checksum: HeaderFile.checksum)
            let manifest = BackupManifest(
                vault: old.vault,
                entries: old.entries.map { entry in entries.first { $0.path == entry.path } ?? entry })
            try backup.write(manifest.encoded(checksum: HeaderFile.checksum), to: "backup.manifest")
            let restored = try TestHome()
            mustHold(errorCode { _ = try Vault.restore(from: backup.path, to: restored.path) } == .damaged)
            mustHold(!FileManager.default.fileExists(atPath: restored.path))
        }
    }

    /// Another process that writes between two writes may have found the file altered: everything is looked at again.
    @Test func aForeignCommitIsLookedAtAgain() async throws {
        await #expect(processExitsWith: .success) {
            let home = try HostilePagesTests.filled()
            let vault = try home.open()
            try vault.unlock("right")
            try vault.put([1], "one")
            let database = try DatabaseEnvironment.acquire(.protected, in: vault.home)
            let checked = database.environment.checkedState.load(ordering: .relaxed)
            try vault.put([1], "two")
            mustHold(database.environment.checkedState.load(ordering: .relaxed) == checked + 1)
            // As if the state had come from elsewhere.
            database.environment.checkedState.store(checked, ordering: .relaxed)
            try home.write(PageForge(home.bytes("vault.mdb")).crafted(.longLeaf), to: "vault.mdb")
            mustHold(errorCode { try vault.put([1], "three") } == .damaged)
        }
    }
}

/// Ends the child with words that the test which started it repeats.
private func mustHold(_ holds: Bool, _ words: String = "", sourceLocation: SourceLocation = #_sourceLocation) {
    if holds { return }
    Issue.record("\(words)", sourceLocation: sourceLocation)
    exit(EXIT_FAILURE)
}

private func isDamaged(_ vault: Vault) -> Bool {
    do throws(VaultError) {
        try DatabaseEnvironment.acquire(.protected, in: vault.home).checkPages()
        return false
    } catch { return error.code == .damaged }
}
#endif
