import Foundation
import TestSupport
import Testing

@testable import VaultCore
@testable import VaultStorage

/// What LMDB itself writes passes the check that stands before every write.
@Suite(.seeded) struct PageCheckTests {
    private static func check(_ vault: Vault) throws {
        let database = try DatabaseEnvironment.acquire(.protected, in: vault.home)
        try database.checkPages()
    }

    @Test func whateverIsWrittenPasses() throws {
        var generator = SeededGenerator()
        let home = try TestHome()
        let vault = try home.unlocked()
        let sizes = [0...40, 200...400, 1_900...2_100, 4_000...9_000, 20_000...60_000]
        var present: Set<Int> = []
        for round in 0..<(TestRun.isSoak ? 2_000 : 60) {
            // Times of growth and of shrinking, so that pages split, and are merged and given back.
            let deletes = round / 15 % 2 == 1 ? 0.8 : 0.3
            let before = present
            try vault.writeAgain { session in
                present = before
                for _ in 0..<Int.random(in: 1...60, using: &generator) {
                    let number = Int.random(in: 0..<1_500, using: &generator)
                    if Double.random(in: 0..<1, using: &generator) < deletes {
                        guard let number = present.randomElement(using: &generator) else { continue }
                        try session.delete("n\(number)")
                        present.remove(number)
                    } else {
                        let kind = [0, 1, 1, 1, 1, 2, 3, 4].randomElement(using: &generator) ?? 0
                        let value = pattern(Int.random(in: sizes[kind], using: &generator))
                        try unsafe session.put(value.span.bytes, for: "n\(number)", replacing: true)
                        present.insert(number)
                    }
                }
            }
            do { try PageCheckTests.check(vault) } catch { Issue.record("round \(round): \(error)") }
        }
        #expect(try vault.verify().isIntact)
        // Each write begins anew.
        vault.lock()
        try vault.unlock("right")
        try vault.put([1], "name")
    }

    /// A commit is in the file some milliseconds before readers begin with it; what they have then is the older state.
    @Test func aReadersStateIsFoundBesideTheCommitThatFollows() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        func pages(_ wanted: UInt64?) throws -> DatabasePages {
            let file = home.path + "/" + DatabaseName.protected.file
            let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
            try #require(descriptor >= 0)
            let limit = UInt64(DatabaseName.protected.limit)
            return try DatabasePages(DurableFile(owning: descriptor, name: file), limit: limit, preferring: wanted)
        }
        try vault.put([1], "one")
        let reader = try pages(nil).transaction
        try vault.put([2], "two")
        #expect(try pages(nil).transaction == reader + 1)
        #expect(try pages(reader).transaction == reader)
        try vault.put([3], "three")
        #expect(try pages(reader).transaction == reader + 2)
    }

    /// LMDB leaves a value its pages that becomes shorter within the transaction that wrote it.
    @Test func aValueMayHaveMorePagesThanItNeeds() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for size in [0, 10, 3_000, 15_000] {
            try vault.write { session in
                try unsafe session.put(pattern(40_000).span.bytes, for: "n\(size)")
                try unsafe session.put(pattern(size).span.bytes, for: "n\(size)", replacing: true)
            }
            try PageCheckTests.check(vault)
        }
        vault.lock()
        try vault.unlock("right")
        for size in [0, 10, 3_000, 15_000] { #expect(try vault.get("n\(size)") == pattern(size)) }
        try vault.delete("n10")
        #expect(try vault.verify().isIntact)
    }

    @Test func manyRecordsTakenOutAtOncePass() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.writeAgain { session in
            for number in 0..<3_000 { try unsafe session.put(pattern(1_500).span.bytes, for: "n\(number)") }
        }
        try vault.writeAgain { session in for number in 0..<2_990 { try session.delete("n\(number)") } }
        try PageCheckTests.check(vault)
        vault.lock()
        try vault.unlock("right")
        try vault.put([1], "name")
        try PageCheckTests.check(vault)
    }

    @Test func readersAndOneWhoChecksDoNotMindAWriter() async throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        async let written: Void = {
            for number in 0..<150 { try vault.put(pattern(1_000), "n\(number % 40)", replacing: true) }
        }()
        for _ in 0..<40 { #expect(try vault.verify().arePagesWhole) }
        try await written
    }
}
