#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Bytes of the database changed in turn. LMDB trusts its file, so each is read in a child process: were LMDB shown
/// what was changed, that would end.
@Suite(.seeded) struct FlippedDatabaseTests {
    /// LMDB's two pages of its own; they say which transaction was the last.
    private static let metaPages = 2 * 4_096

    /// What the subject said of one changed byte.
    private struct Look {
        let offset: Int
        let mask: UInt8
        var reads: [String] = []
        var last: String?
        /// Of verifying, or of opening where that was refused.
        var verdict: String?
    }

    private struct Tally {
        var unnoticed = 0, found = 0, refused = 0, crashed = 0, takenBack = 0
    }

    @Test func `every read of a damaged database gives the stored bytes or an error`() throws {
        let home = try SmallHome()
        var generator = TestRun.generator("database")
        let good = try home.bytes("vault.mdb")
        // Most of a small database is empty: what is not comes first.
        let (full, empty) = TestRun.isSoak ? (6_000, 1_000) : (300, 100)
        let offsets =
            TestRun.sample(good.indices.filter { good[$0] != 0 }, full, using: &generator)
            + TestRun.sample(good.indices.filter { good[$0] == 0 }, empty, using: &generator)
        var tally = Tally()
        var orders = (FlippedDatabaseTests.known(good) + offsets.map { ($0, generator.mask()) })[...]
        while !orders.isEmpty {
            // A child that crashed did not put its byte back, and left its lock file as it was.
            try home.write(good, to: "vault.mdb")
            try? FileManager.default.removeItem(atPath: home.path("vault.mdb-lock"))
            try FlippedDatabaseTests.run(home, &orders, &tally)
        }
        #expect(tally.found > 0 && tally.unnoticed > 0 && tally.crashed == 0)
        TestRun.report(
            "database",
            "\(offsets.count) of \(good.count) bytes changed: \(tally.unnoticed) in no use, \(tally.found) found, "
                + "\(tally.refused) not opened, \(tally.takenBack) took the last transaction back")
    }

    /// Every bit of what LMDB goes by before it comes to a record: its two first pages, and the pages that trees begin
    /// with.
    @Test func `a flipped bit where LMDB begins never ends the process`() throws {
        let home = try SmallHome()
        var generator = TestRun.generator("front")
        let good = try home.bytes("vault.mdb")
        let roots = FlippedDatabaseTests.roots(good)
        try #require(roots.count == 3)
        var bytes = [0, 4_096].flatMap { Array($0 + 16..<$0 + 152) + Array($0..<$0 + 16) }
        for root in roots { bytes += (root..<root + 4_096).filter { $0 < root + 40 || good[$0] != 0 } }
        let all = bytes.flatMap { offset in (0..<8).map { (offset, UInt8(1) << UInt8($0)) } }
        var orders = TestRun.sample(all, TestRun.isSoak ? all.count : 1_000, using: &generator)[...]
        let count = orders.count
        var tally = Tally()
        while !orders.isEmpty {
            try home.write(good, to: "vault.mdb")
            try? FileManager.default.removeItem(atPath: home.path("vault.mdb-lock"))
            try FlippedDatabaseTests.run(home, &orders, &tally)
        }
        #expect(tally.crashed == 0 && tally.refused > 0)
        TestRun.report(
            "front of the database",
            "\(count) bits: \(tally.refused) not opened, \(tally.found) found, "
                + "\(tally.unnoticed) in no use, \(tally.takenBack) took the last transaction back")
    }

    /// Where the trees of the newer state begin: the main one, the list of free pages, and that of the records.
    private static func roots(_ good: [UInt8]) -> [Int] {
        func number(_ offset: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(good[offset + $1]) << UInt64(8 * $1) }
        }
        let meta = number(144) > number(4_096 + 144) ? 0 : 4_096
        let (free, main) = (number(meta + 80), number(meta + 128))
        // In the main tree's one page, behind the name.
        let page = Array(good[Int(main) * 4_096..<(Int(main) + 1) * 4_096])
        let name = Array("records".utf8)
        let place = page.indices.dropLast(name.count + 48).first { Array(page[$0..<$0 + name.count]) == name }
        let records = place.map { number(Int(main) * 4_096 + $0 + name.count + 40) }
        return [free, main, records ?? .max].filter { $0 < UInt64(good.count / 4_096) }.map { Int($0) * 4_096 }
    }

    /// Changes that once ended the process in our own code: kinds of pages without values, and numbers beyond `Int`.
    private static func known(_ good: [UInt8]) -> [(Int, UInt8)] {
        var known: [(Int, UInt8)] = []
        for page in stride(from: 0, to: good.count, by: 4_096) { known += [(page + 10, 0x6D), (page + 10, 0x20)] }
        for meta in [0, 4_096] { known += [(meta + 143, 0xF7), (meta + 151, 0x80), (meta + 92, 0x17)] }
        return known
    }

    /// Gives a child its orders until there are none left or it crashes.
    private static func run(_ home: SmallHome, _ orders: inout ArraySlice<(Int, UInt8)>, _ tally: inout Tally) throws {
        let child = try Child(["flip", home.scratch.home, home.scratch.clock.path])
        guard try child.expect() == "ready" else { throw Problem("the subject is not ready") }
        while let (offset, mask) = orders.popFirst() {
            try child.send("\(offset) \(mask)")
            var look = Look(offset: offset, mask: mask)
            while let line = try child.line(), line != "done" {
                let words = line.split(separator: " ").map(String.init)
                switch words.first {
                case "read": look.reads.append(words[1])
                case "last": look.last = words[1]
                case "verify", "open": look.verdict = line
                case "begin": break
                default: throw Problem("not understood: \(line)")
                }
            }
            guard look.verdict != nil else {
                let end = child.wait()
                Issue.record("\(end): byte \(offset) ^ \(mask)")
                judge(look, &tally, crashed: true)
                return
            }
            judge(look, &tally, crashed: false)
        }
        child.closeInput()
        #expect(child.wait() == .exited(0))
    }

    private static func judge(_ look: Look, _ tally: inout Tally, crashed: Bool) {
        let context = "byte \(look.offset) ^ \(look.mask): \(look)"
        let outcomes = look.reads + (look.last.map { [$0] } ?? [])
        #expect(!outcomes.contains { $0 == "different" || $0.hasPrefix("untyped") }, "\(context)")
        if crashed { return tally.crashed += 1 }
        if look.verdict?.hasPrefix("open ") == true { return tally.refused += 1 }
        #expect(look.reads.count == SmallVault.records.count, "\(context)")
        guard outcomes.contains(where: { $0 != "exact" }) else {
            return look.verdict == "verify intact" ? (tally.unnoticed += 1) : (tally.found += 1)
        }
        // One bit of LMDB's own pages tells a transaction that was committed from one that was not yet: the vault as it
        // was before it is whole and genuine, and no file of ours says otherwise.
        let isTakenBack =
            look.verdict == "verify intact" && look.offset < metaPages
            && look.reads.allSatisfy { $0 == "exact" } && look.last == "recordNotFound"
        if isTakenBack { return tally.takenBack += 1 }
        #expect(look.verdict != "verify intact", "\(context)")
        tally.found += 1
    }
}
#endif
