import SecretMemory
import SeededNumbers
import Synchronization
import SystemCalls
import TestSupport
import Testing

@testable import VaultCore
@testable import VaultStorage

@Suite struct ListingTests {
    private static let rest = String(repeating: "x", count: 1024)

    /// Puts one record for each, in another order, and lists them.
    private func list(_ names: [(collection: String, name: String)]) throws -> [Vault.RecordInfo] {
        let home = try TestHome()
        let vault = try home.unlocked()
        var random = SeededGenerator(seed: 44)
        try vault.writeAgain { session in
            for (collection, name) in names.shuffled(using: &random) {
                try session.put(RawSpan(), for: name, in: collection)
            }
        }
        return try vault.records()
    }

    private func expectOrder(_ names: [(collection: String, name: String)]) throws {
        let listed = try list(names).map { "\($0.collection)|\($0.name)" }
        let sorted = names.sorted { ($0.collection, $0.name) < ($1.collection, $1.name) }
        #expect(listed == sorted.map { "\($0.collection)|\($0.name)" })
    }

    @Test func `names are in order wherever they differ`() throws {
        var names = ["a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmnop", "abcdefghijklmnopq", "b", "~"]
        names += [Self.rest, String(Self.rest.dropLast()), String(Self.rest.dropLast()) + "y", "\u{1}", "Z"]
        try expectOrder(names.map { ("", $0) } + names.map { ("default", $0) } + [("def", "z"), ("defaults", "a")])
    }

    @Test func `many names are in order`() throws {
        var random = SeededGenerator(seed: 7)
        let names = Set((0..<1_500).map { _ in "folder/entry-\(Int.random(in: 0..<1_000_000, using: &random))" })
        try expectOrder(names.map { ($0.hasSuffix("7") ? "other" : "default", $0) })
    }

    @Test func `names that are not ASCII are ordered as strings are`() throws {
        // Bytes would put the composed letter behind z, and the other before f.
        try expectOrder(
            ["z", "\u{E9}b", "e\u{301}a", "f", "e", "a\u{0}b", "a", "a\u{1}", "\u{1F600}"].map { ("c", $0) })
        try expectOrder([("a", "z"), ("a\u{0}", "b"), ("a\u{0}b", "a"), ("\u{E9}", "y"), ("e\u{301}", "x")])
    }

    @Test func `each record keeps what belongs to it`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for size in 0..<300 { try vault.put([UInt8](repeating: 1, count: size), "entry \(size)", "\(size % 3)") }
        try vault.stream([UInt8](repeating: 2, count: Vault.largestInlineValue + 1), "file")
        let listed = try vault.records()
        #expect(listed.count == 301)
        for info in listed where info.name != "file" {
            #expect(info.name == "entry \(info.size)")
            #expect(info.collection == "\(info.size % 3)")
            #expect(!info.isFile && !info.isItem && !info.isSealed && info.origin == .protected)
        }
        let file = listed.first { $0.name == "file" }
        #expect(file?.isFile == true)
        #expect(file?.size == UInt64(Vault.largestInlineValue) + 1)
        #expect(try vault.records(in: "1").map(\.size).sorted() == (0..<100).map { 3 * UInt64($0) + 1 })
    }

    /// Lists while another thread locks the vault: it does so when the list was let in and has read nothing yet.
    private func listUnderLock(_ vault: Vault) throws -> VaultError.Code? {
        // No reader stands ready: who is let in makes one.
        for _ in 0..<4 {
            _ = try vault.gate.enterWithReader()
            vault.gate.leave()
        }
        let exclusion = try #require(vault.gate.current).database.environment.exclusion
        func readers() -> Int { exclusion.monitor.withLock { $0.slots.count } }
        let before = readers()
        // As while the map grows: nobody begins to read.
        exclusion.isClosed.store(true, ordering: .sequentiallyConsistent)
        let code = Mutex<VaultError.Code?>(nil)
        let lister = GateTests.thread {
            do throws(VaultError) { _ = try vault.records() } catch {
                let found = error.code
                code.withLock { $0 = found }
            }
        }
        #expect(Patience.wait { readers() > before })
        let locker = GateTests.thread { vault.lock() }
        while vault.isUnlocked { sched_yield() }
        exclusion.isClosed.store(false, ordering: .sequentiallyConsistent)
        lister.wait(for: 1)
        locker.wait(for: 1)
        return code.withLock { $0 }
    }

    @Test(arguments: [(8, 16 << 10), (130, 10)])
    func `a lock waits for 64 KiB of a list, or 64 records`(count: Int, size: Int) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let names = (0..<count).map { "entry \($0)" }
        for name in names { try vault.put([UInt8](repeating: 1, count: size), name) }
        // A list that came to its last record would say that this is damaged.
        let keys = try names.map { try vault.rawRecord($0).key }
        let last = try #require(names.indices.max { keys[$0].lexicographicallyPrecedes(keys[$1]) })
        try vault.damage(names[last])
        #expect(errorCode { _ = try vault.records() } == .damaged)
        #expect(try listUnderLock(vault) == .locked)
    }

    @Test func `a short list is not given out after a lock`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        #expect(try listUnderLock(vault) == .locked)
    }
}
