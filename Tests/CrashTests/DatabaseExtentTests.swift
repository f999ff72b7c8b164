#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import Testing
import VaultCore
import VaultStorage

/// LMDB does not write pages at the end of its file that a transaction took and gave back.
@Suite struct DatabaseExtentTests {
    @Test func `a database that ends in pages never written is whole`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(0)
        let kept = Operation([.set(Place("c", "kept"), Content(seed: 1, size: 10))])
        try vault.perform(kept)
        let passing = Place("c", "passing")
        try vault.perform(Operation([.set(passing, Content(seed: 2, size: 150_000)), .delete(passing)]))
        vault.lock()

        // The vault makes the file whole after each write; this is how a kill before that leaves it.
        let file = URL(fileURLWithPath: "\(scratch.home)/vault.mdb")
        let whole = try Data(contentsOf: file)
        let used = try #require(whole.lastIndex { $0 != 0 }) / 4096 + 1
        #expect(used * 4096 < whole.count, "LMDB wrote the pages all the same: this tests nothing")
        let handle = try FileHandle(forUpdating: file)
        try handle.truncate(atOffset: UInt64(used * 4096))
        try handle.close()
        try vault.unlock(0)
        var expected = Acknowledged()
        expected.begin(kept)
        expected.end(done: true)
        #expect(try expected.compare(vault) == nil)
        #expect(try vault.verifyAndClean() == nil)
    }
}
#endif
