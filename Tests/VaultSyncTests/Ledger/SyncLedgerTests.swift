import Items
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage
import VaultSync

/// Vaults that take each other's changes, without a road between them.
@Suite(.seeded) struct SyncLedgerTests {
    private let folder: ScratchFolder
    private let one: LedgerDevice
    private let two: LedgerDevice

    init() throws {
        folder = try ScratchFolder("ledger")
        one = try LedgerDevice(folder, 1)
        two = try LedgerDevice(folder, 2)
    }

    @Test func `what one has the other gets, and what both change is there`() throws {
        try one.add("mail", "first")
        try two.put("value", "plain")
        try settle(one, two)
        #expect(try one.shown() == two.shown() && one.names() == ["mail", "plain"])
        try one.set("mail", "password", "second")
        try two.set("mail", "site", "a.example")
        try two.put("other", "plain")
        try settle(one, two)
        #expect(try one.shown() == two.shown())
        #expect(try two.text("mail") == "second" && one.text("mail", "site") == "a.example")
        #expect(try one.shown()["plain"] == "value=other")
    }

    @Test func `a name, a tag and the trash travel`() throws {
        try one.add("mail", "first")
        try one.add("bank", "first")
        try settle(one, two)
        try one.items.rename("mail", in: Vault.defaultCollection, to: "post", into: "letters")
        try two.set("mail", "password", "second")
        try two.items.trash("bank")
        try settle(one, two)
        #expect(try one.items.trashed().map(\.name) == ["bank"] && two.items.trashed().map(\.name) == ["bank"])
        for device in [one, two] {
            let item = try device.items.item("post", in: "letters")
            #expect(item.fields.count == 1)
        }
        let trashed = try #require(try one.items.trashed().first)
        try one.items.restore(trashed)
        try settle(one, two)
        #expect(try two.text("bank") == "first" && two.items.trashed().isEmpty)
    }

    @Test func `what others remove for good goes to the own trash, and comes back to all`() throws {
        try one.add("mail", "first")
        try one.put("value", "plain")
        try settle(one, two)
        try one.items.vault.delete("mail")
        try one.items.vault.delete("plain")
        try settle(one, two)
        #expect(try one.names() == [] && two.names() == [])
        #expect(try one.items.trashed().isEmpty && Set(two.items.trashed().map(\.name)) == ["mail", "plain"])
        for trashed in try two.items.trashed() { try two.items.restore(trashed) }
        try settle(one, two)
        #expect(try one.shown() == two.shown() && one.names() == ["mail", "plain"])
    }

    @Test func `an edit that knew nothing of a removal brings the item back`() throws {
        try one.add("mail", "first")
        try settle(one, two)
        try one.items.vault.delete("mail")
        try two.set("mail", "site", "a.example")
        try settle(one, two)
        #expect(try one.shown() == two.shown())
        #expect(try one.text("mail") == "first" && one.text("mail", "site") == "a.example")
    }

    @Test func `two items of one name are both there, and one takes the name when it is free`() throws {
        try one.add("mail", "left")
        try two.add("mail", "right")
        try settle(one, two)
        #expect(try one.shown() == two.shown() && one.names().count == 2)
        let other = try #require(try one.names().first { $0 != "mail" })
        #expect(other.hasPrefix("mail (") && other.count == 15)
        let (kept, moved) = (try one.text("mail"), try one.text(other))
        #expect(Set([kept, moved]) == ["left", "right"])
        try one.items.vault.delete("mail")
        try settle(one, two)
        #expect(try one.names() == ["mail"] && two.names() == ["mail"] && two.text("mail") == moved)
    }

    @Test func `two restores of one backup meet without a conflict`() throws {
        try one.add("mail", "first")
        try one.put("value", "plain")
        _ = try one.items.vault.backup(to: folder["copy"])
        let three = try LedgerDevice(folder, 3, from: folder["copy"])
        try settle(one, three)
        #expect(try one.shown() == three.shown())
        let item = try three.items.item("mail")
        #expect(item.withBytes { (try? ItemLayout(parsing: $0))?.history.isEmpty } == true)
        try one.set("mail", "password", "second")
        try settle(one, three)
        #expect(try three.text("mail") == "second")
    }

    @Test func `who settles a conflict keeps the loser in the history, and so does the next write`() throws {
        try one.add("mail", "first")
        try settle(one, two)
        try one.set("mail", "password", "left")
        try two.set("mail", "password", "right")
        try settle(one, two)
        for (number, value) in ["second", "third"].enumerated() {
            try one.set("mail", "password", value)
            try settle(one, two)
            for device in [one, two] {
                let item = try device.items.item("mail")
                let history = item.history.map { item.withValue(of: $0) { $0.array.text } }
                #expect(Set(history).isSuperset(of: ["first", "left", "right"]) && history.count >= 3 + number)
            }
        }
        #expect(try one.shown() == two.shown())
    }

    @Test func `nothing is taken over a write that was not looked at`() throws {
        try one.add("mail", "first")
        try settle(one, two)
        try one.set("mail", "password", "second")
        try one.publish()
        let comparison = try two.ledger.differences()
        try two.set("mail", "password", "unseen")
        let entry = try #require(one.entries.last)
        #expect(throws: VaultError.self) {
            try two.items.write { session throws(VaultError) in
                _ = try two.ledger.take(
                    entry, heads: two.heads(one.stream, one.entries.count), after: comparison,
                    at: Stamp(Dot(two.stream, 99), time: 0), in: &session)
            }
        }
        #expect(try two.text("mail") == "unseen")
        try settle(one, two)
        #expect(try one.shown() == two.shown())
    }

    @Test func `a record that cannot be read is no removal`() throws {
        try one.add("mail", "first")
        try one.publish()
        // Garbage in place of a state is refused, and nothing is kept of it.
        let garbage = SyncState(try secret([UInt8](repeating: 1, count: 64)))
        let comparison = try one.ledger.differences()
        #expect(throws: VaultError.self) {
            try one.items.write { session throws(VaultError) in
                _ = try one.ledger.take(
                    [garbage], heads: [:], after: comparison, at: Stamp(Dot(one.stream, 99), time: 0), in: &session)
            }
        }
        #expect(try one.names() == ["mail"] && one.ledger.differences().found.isEmpty)
    }

    @Test func `a state that names writes that nobody made is refused`() throws {
        try one.add("mail", "first")
        try settle(one, two)
        try one.set("mail", "password", "second")
        try one.publish()
        let entry = try #require(one.entries.last)
        for heads in [two.heads(one.stream, one.entries.count - 1), [:]] {
            let comparison = try two.ledger.differences()
            #expect(throws: VaultError.self) {
                try two.items.write { session throws(VaultError) in
                    _ = try two.ledger.take(
                        entry, heads: heads, after: comparison, at: Stamp(Dot(two.stream, 99), time: 0), in: &session)
                }
            }
        }
        #expect(try two.text("mail") == "first")
    }

    @Test func `three devices show the same after any changes in any order`() throws {
        var random = SeededGenerator(seed: TestRun.seed)
        let three = try LedgerDevice(folder, 3)
        let devices = [one, two, three]
        for round in 0..<TestRun.count(test: 25, check: 300, soak: 3_000) {
            let device = devices[Int.random(in: 0..<3, using: &random)]
            let names = try device.items.vault.records().filter(\.isItem).map(\.name)
            switch (Int.random(in: 0..<8, using: &random), names.randomElement(using: &random)) {
            case (0, _), (_, nil): try device.add("item \(round % 4) \(round)", "v\(round)")
            case (1, let name?): try device.items.vault.delete(name)
            case (2, let name?): try device.items.trash(name)
            case (3, let name?):
                try device.items.rename(
                    name, in: Vault.defaultCollection, to: "name \(round)", into: Vault.defaultCollection)
            case (4, _): try device.put("p\(round)", "plain \(round % 3)")
            case (_, let name?): try device.set(name, "f\(round % 2)", "v\(round)")
            }
            device.time = Int64.random(in: 0...9_000_000, using: &random)
            let other = devices[Int.random(in: 0..<3, using: &random)]
            try other.publish()
            if other !== device { try device.take(from: other) }
        }
        try settle(one, two, three)
        let shown = try one.shown()
        #expect(try two.shown() == shown && three.shown() == shown)
        #expect(!shown.isEmpty)
    }
}
