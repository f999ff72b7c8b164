import Foundation
import TestSupport
import Testing

@testable import VaultCore
@testable import VaultStorage

/// Builds from before the first release had records and root record in one tree: their databases are told from damaged
/// ones.
@Suite(.enabled(if: Decryptor.python != nil, Decryptor.missing))
struct UnreleasedLayoutTests {
    /// Writes a database anew as such a build would have.
    private static func makeOld(_ path: String) throws {
        let code = """
            import lmdb, os, sys
            path, new = sys.argv[1], sys.argv[1] + '.new'
            environment = lmdb.open(path, subdir=False, lock=False, readonly=True, max_dbs=1)
            main, records = environment.open_db(None), environment.open_db(b'records', create=False)
            with environment.begin(records) as t, lmdb.open(new, subdir=False, lock=False).begin(write=True) as o:
                o.put(b'\\0', t.get(b'\\0', db=main))
                for key, value in t.cursor(): o.put(key, value)
            os.replace(new, path)
            """
        try Decryptor.interpret(code, path)
    }

    @Test(arguments: [0, 3, 200])
    func aDatabaseWithTheRecordsInTheMainTreeIsNamedAndNotCalledDamaged(records: Int) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<records { try vault.put(pattern(300), "name \(number)") }
        vault.lock()
        try UnreleasedLayoutTests.makeOld(home.file("vault.mdb"))
        let before = try home.bytes("vault.mdb")
        let error = #expect(throws: VaultError.self) { try vault.unlock("right") }
        #expect(error?.code == .newerVersion && error?.reason.contains("before the first release") == true)
        #expect(errorCode { try vault.unlock("right") } == .newerVersion)
        #expect(try vault.status().remainingAttempts == 5)
        let backup = try TestHome()
        #expect(errorCode { _ = try vault.backup(to: backup.path) } == .newerVersion)
        #expect(try home.bytes("vault.mdb") == before)
        let read = try Decryptor.run(home.path, .passcode("right"), "list")
        #expect(read.status == 5 && read.errors.contains("before the first release"))
    }

    @Test func aTreeOfRecordsThatWasTakenAwayIsDamage() throws {
        for edit in ["t.drop(records)", "t.drop(records); t.put(b'k' * 32, b'value', db=main)"] {
            let home = try TestHome()
            let vault = try home.unlocked()
            for number in 0..<3 { try vault.put([UInt8(number)], "name \(number)") }
            vault.lock()
            try Decryptor.editDatabase(home.file("vault.mdb"), edit, old: home.file("vault.mdb"))
            #expect(errorCode { try vault.unlock("right") } == .damaged, "\(edit)")
        }
    }

    @Test func anOpenCompartmentOfSuchABuildIsNamedToo() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        try vault.open.put([1, 2, 3], "item")
        vault.open.close()
        try UnreleasedLayoutTests.makeOld(home.file("open.mdb"))
        #expect(errorCode { _ = try vault.open.get("item") } == .newerVersion)
        #expect(errorCode { try vault.open.put([1], "other") } == .newerVersion)
        // An unlock never fails over it, and throws nothing away.
        try vault.unlock("right")
        #expect(vault.open.lastMigration?.isSetAside == true)
        #expect(home.exists("open.mdb.damaged"))
    }
}
