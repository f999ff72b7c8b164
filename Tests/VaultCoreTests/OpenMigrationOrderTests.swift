import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import OpenStorage
@testable import VaultCore
@testable import VaultStorage

extension OpenMigrationTests {
    @Test func anOldStatePutBackReplacesNothing() throws {
        let home = try TestHome()
        let vault = try home.locked()
        try vault.open.put([1], "a", "c")
        let old = try ["open.mdb", "open.key"].map { ($0, try home.bytes($0)) }
        try vault.unlock("right")
        try vault.confirm("a")
        try vault.put([100], "a", "c", replacing: true)
        vault.lock()
        try vault.open.put([2], "a", "c")
        try vault.unlock("right")
        vault.lock()
        for (name, bytes) in old { try Data(bytes).write(to: URL(fileURLWithPath: home.file(name))) }
        try vault.open.put([3], "new", "c")
        try vault.unlock("right")
        #expect(try vault.get("a", "c") == [100], "never over a record")
        #expect(try vault.get("a", "inbox") == [2], "never over an item of the inbox")
        let items = try vault.inbox()
        #expect(items.map(\.name) == ["a", "a (2)", "new"] && items.allSatisfy { $0.originalCollection == "c" })
        #expect(try vault.get("a (2)", "inbox") == [1])
        #expect(try vault.get("new", "inbox") == [3], "what was written since is not taken for known")
    }

    @Test func moreThanOneUnlockTakesWaits() throws {
        var generator = SeededGenerator()
        let entries = (1...100).map { OpenContents.Entry(sequence: UInt64($0), size: 10, term: term($0)) }
        let most = OpenCompartment.Quota(bytes: 1000, items: 30)
        var (mark, taken): (OpenMark?, [ClosedRange<UInt64>]) = (nil, [])
        while true {
            let choice = OpenChoice(entries.shuffled(using: &generator), after: mark, most: most)
            guard let next = choice.mark else { break }
            #expect(choice.known + Int(choice.range.count) + choice.left == 100)
            mark = next
            taken.append(choice.range)
        }
        #expect(taken == [1...30, 31...60, 61...90, 91...100])
        let byBytes = OpenChoice(entries, after: nil, most: OpenCompartment.Quota(bytes: 95, items: 30))
        #expect(byBytes.range == 1...10 && byBytes.left == 90)
        let one = OpenChoice(entries, after: nil, most: OpenCompartment.Quota(bytes: 0, items: 0))
        #expect(one.range == 1...1, "at least one")
        // Other items under the same numbers.
        let others = (1...100).map { OpenContents.Entry(sequence: UInt64($0), size: 10, term: term($0 + 500)) }
        #expect(OpenChoice(others, after: mark, most: most).range == 1...30)
        let equal = (0..<50).map { OpenContents.Entry(sequence: 7, size: 1, term: term($0)) }
        let choice = OpenChoice(equal, after: nil, most: most)
        #expect(choice.range == 7...7 && choice.left == 0)
        #expect(OpenChoice(equal, after: choice.mark, most: most).known == 50)
    }

    private func term(_ number: Int) -> Sum256 {
        (0..<32).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }.withRawSpan { Sum256($0) }
    }

    @Test func aVaultWithoutTheKeyGetsItWithThePasscode() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        // As an earlier version made it.
        try vault.forgetInboxKey("right")
        try home.remove("open.pub")
        vault.lock()
        #expect(errorCode { try vault.open.drop([1], "a") } == .noPublicKey)
        try vault.open.put([1], "a")
        try vault.unlock("right")
        #expect(vault.open.lastMigration?.publicKey == .unavailable && vault.open.lastMigration?.moved == 1)
        #expect(errorCode { try vault.open.drop([1], "a") } == .noPublicKey)
        try vault.changePasscode("right", "next")
        vault.lock()
        try vault.unlock("next")
        #expect(vault.open.lastMigration?.publicKey == .written)
        vault.lock()
        try vault.open.drop([2], "b")
        try vault.unlock("next")
        #expect(try vault.get("b", "inbox") == [2] && vault.get("a", "inbox") == [1])
    }
}
