#if os(Linux)
import CrashSubject
import Foundation
import Testing
import VaultCore

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

        let size = try #require(
            FileManager.default.attributesOfItem(atPath: "\(scratch.home)/vault.mdb")[.size] as? Int)
        #expect(size < 150_000, "LMDB wrote the pages all the same: this tests nothing")
        try vault.unlock(0)
        var expected = Acknowledged()
        expected.begin(kept)
        expected.end(done: true)
        #expect(try expected.compare(vault) == nil)
        #expect(try vault.verifyAndClean() == nil)
    }
}
#endif
