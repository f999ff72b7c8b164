#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import Testing
import VaultCore
import VaultStorage

/// Somebody without a key puts back, moves and removes what lies in the database, with another program than ours.
@Suite struct RollbackTests {
    private static let python = "/usr/bin/python3"
    private static let canEdit = (try? Child(["-c", "import lmdb"], command: python).wait()) == .exited(0)

    /// `edit` sees `entries`, the database as a dictionary of bytes, and changes it.
    private static func script(_ edit: String) -> String {
        """
        import json, lmdb, sys
        environment = lmdb.open(sys.argv[1], subdir=False, map_size=1 << 30, max_dbs=1)
        main, tree = environment.open_db(None), environment.open_db(b"records", create=False)
        with environment.begin(tree, write=True) as transaction:
            # The root record alone lies in the main tree.
            place = lambda key: main if key == bytes(1) else tree
            entries = {**dict(transaction.cursor()), bytes(1): transaction.get(bytes(1), db=main)}
            before = dict(entries)
            known = json.load(open(sys.argv[2])) if len(sys.argv) > 2 else {}
            known = {bytes.fromhex(key): bytes.fromhex(value) for key, value in known.items()}
            records = sorted(key for key in entries if len(key) == 32)
        \(edit.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
            for key in before.keys() - entries.keys():
                transaction.delete(key, db=place(key))
            for key, value in entries.items():
                transaction.put(key, value, db=place(key))
        environment.close()
        """
    }

    private static func edit(_ home: SmallHome, _ edit: String, snapshot: String? = nil) throws {
        let arguments = ["-c", script(edit), home.path("vault.mdb")] + (snapshot.map { [$0] } ?? [])
        let child = try Child(arguments, command: python)
        _ = try child.rest()
        #expect(child.wait() == .exited(0), "\(edit)")
        // The other program's table of readers is not ours.
        try? FileManager.default.removeItem(atPath: home.path("vault.mdb-lock"))
    }

    /// Every entry, for putting back later.
    private static func snapshot(_ home: SmallHome) throws -> String {
        let path = home.scratch["snapshot"]
        // Ends before the transaction does: looking must not count as a change.
        let save = """
            with open('\(path)', 'w') as file: json.dump({key.hex(): value.hex() for key, value in entries.items()}, file)
            import os; os._exit(0)
            """
        try edit(home, save)
        return path
    }

    private static func unlocked(_ home: SmallHome) throws -> Vault {
        let vault = try home.open()
        try vault.unlock(phrase: Known.phrase(0))
        return vault
    }

    /// Edited by a program without keys: refused, unless it is only looked at.
    private static func inspected(_ home: SmallHome) throws -> Vault {
        let vault = try home.open()
        #expect(code { try vault.unlock(phrase: Known.phrase(0)) } == .damaged)
        try vault.unlock(phrase: Known.phrase(0), evenIfDamaged: true)
        #expect(code { try vault.perform(Operation([.delete(Place("notes", "second"))])) } == .damaged)
        return vault
    }

    private static let noEditor: Comment = "SKIPPED: \(python) has no module lmdb (Debian: python3-lmdb)"

    @Test(.enabled(if: canEdit, noEditor))
    func `a removed record is missed`() throws {
        for number in 0..<SmallVault.records.count + 1 {
            let home = try SmallHome()
            try RollbackTests.edit(home, "del entries[records[\(number)]]")
            let found = try RollbackTests.inspected(home).verify()
            #expect(found.isRolledBack && !found.isIntact)
            #expect(UInt64(found.records) + 1 == found.expectedRecords)
        }
    }

    @Test(.enabled(if: canEdit, noEditor))
    func `an older value of one record is noticed`() throws {
        let home = try SmallHome()
        let old = try RollbackTests.snapshot(home)
        let vault = try RollbackTests.unlocked(home)
        let place = Place("notes", "second")
        try vault.perform(Operation([.set(place, Content(seed: 77, size: 700))]))
        #expect(try vault.verify().isIntact)
        vault.lock()
        // All but the root record are as they were.
        try RollbackTests.edit(home, "for key in records: entries[key] = known[key]", snapshot: old)
        let found = try RollbackTests.inspected(home).verify()
        #expect(found.isRolledBack && !found.isIntact)
        #expect(found.damagedRecords == 0, "each is genuine by itself")
    }

    @Test(.enabled(if: canEdit, noEditor))
    func `an older root record is noticed`() throws {
        let home = try SmallHome()
        let old = try RollbackTests.snapshot(home)
        let vault = try RollbackTests.unlocked(home)
        try vault.perform(Operation([.delete(Place("notes", "second"))]))
        vault.lock()
        try RollbackTests.edit(home, "entries[bytes(1)] = known[bytes(1)]", snapshot: old)
        #expect(try RollbackTests.inspected(home).verify().isRolledBack)
    }

    @Test(.enabled(if: canEdit, noEditor))
    func `records that changed places are refused`() throws {
        let home = try SmallHome()
        let swap = "a, b = records[0], records[1]\nentries[a], entries[b] = entries[b], entries[a]"
        try RollbackTests.edit(home, swap)
        let vault = try RollbackTests.inspected(home)
        let all = SmallVault.records.merging([SmallVault.last: SmallVault.lastContent]) { $1 }
        let outcomes = all.keys.map { place in code { _ = try vault.bytes(at: place) } }
        #expect(outcomes.filter { $0 == .damaged }.count == 2)
        #expect(outcomes.filter { $0 == nil }.count == all.count - 2)
        #expect(try vault.verify().damagedRecords == 2)
    }

    @Test(.enabled(if: canEdit, noEditor))
    func `a strange entry and a lost root record are damage`() throws {
        let home = try SmallHome()
        let good = try home.bytes("vault.mdb")
        try RollbackTests.edit(home, "entries[b'k' * 32] = entries[records[0]]")
        #expect(try RollbackTests.inspected(home).verify().damagedRecords == 1)
        try Data(good).write(to: URL(fileURLWithPath: home.path("vault.mdb")))
        try RollbackTests.edit(home, "del entries[bytes(1)]")
        #expect(code { _ = try RollbackTests.unlocked(home) } == .damaged)
    }

    /// Header and database are not tied together by anything that changes with each write: the file tier has nothing to
    /// anchor that in. What is read then is genuine and of one moment.
    @Test func `an older database as a whole is the vault of that moment`() throws {
        let home = try SmallHome()
        let old = try home.bytes("vault.mdb")
        let vault = try RollbackTests.unlocked(home)
        try vault.perform(Operation([.set(Place("notes", "second"), Content(seed: 78, size: 10))]))
        vault.lock()
        try Data(old).write(to: URL(fileURLWithPath: home.path("vault.mdb")))
        let earlier = try RollbackTests.unlocked(home)
        #expect(SmallHome.wrong(earlier) == [])
        #expect(try earlier.verify().isIntact)
    }

    @Test func `a database from before a rekey is refused`() throws {
        let home = try SmallHome()
        let old = try home.bytes("vault.mdb")
        let vault = try home.open()
        try vault.rekey(
            passcode: Known.passcode(0), spending: vault.burnAttempt(), newPasscode: Known.passcode(1),
            phrase: Known.phrase(0), isNewPhrase: false)
        try vault.finishRekey()
        vault.lock()
        try Data(old).write(to: URL(fileURLWithPath: home.path("vault.mdb")))
        let outcome = code { _ = try RollbackTests.unlocked(home) }
        #expect(outcome == .rollbackSuspected)
    }
}
#endif
