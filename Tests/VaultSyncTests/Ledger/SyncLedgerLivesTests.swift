import Items
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultCore
import VaultStorage
import VaultSync

/// Vaults that have more than one life, without a road between them.
@Suite struct SyncLedgerLivesTests {
    private let folder: ScratchFolder
    private let one: LedgerDevice
    private let two: LedgerDevice
    private let three: LedgerDevice

    init() throws {
        folder = try ScratchFolder("lives")
        one = try LedgerDevice(folder, 1)
        two = try LedgerDevice(folder, 2)
        three = try LedgerDevice(folder, 3)
        for name in ["bank", "mail", "post"] { try two.add(name, "first") }
        try settle(one, two, three)
        try two.set("mail", "password", "second")
        try settle(one, two, three)
    }

    /// All take what there is, that of a life that is over too.
    private func settleAll(_ devices: LedgerDevice..., reading gone: LedgerDevice) throws {
        for _ in 0..<5 {
            for device in devices { try device.publish() }
            for device in devices {
                for other in devices + [gone] where other !== device { try device.take(from: other) }
            }
        }
    }

    /// Values that an item has or had in its password.
    private func everything(_ device: LedgerDevice, _ name: String) throws -> Set<String> {
        let item = try device.items.item(name)
        return Set(item.history.map { item.withValue(of: $0) { $0.array.text } } + [try device.text(name) ?? ""])
    }

    @Test func `a vault that was put back goes on in a new stream, and loses nothing of either life`() throws {
        let both = two.entries.count
        let back = try two.copied(to: folder["back"])
        // What is gone was published.
        try two.set("mail", "password", "published")
        try two.publish()
        try two.set("bank", "site", "a.example")
        try two.publish()
        try settleAll(one, three, reading: two)
        // What is there was not.
        try back.set("mail", "password", "kept")
        try back.publish()
        try back.set("mail", "password", "kept later")
        try back.add("new", "value")
        try back.items.vault.delete("bank")
        try back.items.vault.delete("post")
        try back.publish()
        try back.begin(12, after: both)
        try settleAll(one, three, back, reading: two)
        let shown = try one.shown()
        #expect(try three.shown() == shown && back.shown() == shown)
        #expect(shown["new"] == "password=value" && shown["post"] == nil)
        #expect(shown["bank"] == "password=first site=a.example")
        // Both were written without each other: a conflict, which the next write settles.
        for device in [one, three, back] {
            #expect(try ["published", "kept later"].contains(device.text("mail")))
        }
        try one.set("mail", "password", "last")
        try settleAll(one, three, back, reading: two)
        for device in [one, three, back] {
            #expect(try everything(device, "mail").isSuperset(of: ["first", "second", "published", "kept", "last"]))
            let all = try everything(device, "mail")
            #expect(all.contains("kept later"), "\(device.stream) \(all)")
        }
    }

    @Test func `two lives of one vault that both were heard are told apart, and nothing is lost`() throws {
        let both = two.entries.count
        let (stream, twin) = (two.stream, try two.copied(to: folder["twin"]))
        try two.set("mail", "password", "left")
        try two.items.vault.delete("post")
        try two.publish()
        try twin.set("mail", "password", "right")
        try twin.set("bank", "site", "a.example")
        try twin.publish()
        try one.take(from: two)
        try three.take(from: twin)
        // Who has taken a part of one life says so before the fork is known.
        try one.set("mail", "user", "ada")
        try one.publish()
        try one.cut(stream, after: both)
        try three.cut(stream, after: both)
        try two.begin(12, after: both)
        try twin.begin(22, after: both)
        try two.cut(stream, after: both)
        try twin.cut(stream, after: both)
        try settle(one, two, twin, three)
        let shown = try one.shown()
        for device in [two, twin, three] { #expect(try device.shown() == shown) }
        #expect(shown["bank"] == "password=first site=a.example" && shown["post"] == nil)
        try three.set("mail", "password", "last")
        try settle(one, two, twin, three)
        for device in [one, two, twin, three] {
            #expect(try everything(device, "mail").isSuperset(of: ["first", "second", "left", "right", "last"]))
            #expect(try device.text("mail", "user") == "ada")
        }
    }

    @Test func `a removed item of which an entry does not count stays removed`() throws {
        let both = two.entries.count
        try two.set("mail", "password", "third")
        try two.publish()
        try one.take(from: two)
        try one.items.vault.delete("mail")
        try one.publish()
        try three.take(from: two)
        try three.take(from: one)
        #expect(try three.items.trashed().map(\.name) == ["mail"])
        try three.cut(two.stream, after: both)
        try one.cut(two.stream, after: both)
        try settle(one, three)
        #expect(try one.names() == ["bank", "post"] && three.names() == ["bank", "post"])
        let trashed = try #require(try three.items.trashed().first)
        try three.items.restore(trashed)
        try settle(one, three)
        #expect(try one.text("mail") == "third" && three.text("mail") == "third")
    }

    @Test func `an item that comes twice in one transaction is said once more, as it is then`() throws {
        try one.items.vault.delete("mail")
        try one.publish()
        try two.set("mail", "site", "a.example")
        try two.publish()
        try two.set("mail", "site", "b.example")
        try two.publish()
        // Who still has the content says it again for both.
        let removal = try #require(one.entries.last)
        let edits = two.entries.suffix(2).joined()
        let comparison = try three.ledger.differences()
        var heads = three.heads(one.stream, one.entries.count)
        heads[two.stream] = UInt64(two.entries.count)
        var again: [SyncState] = []
        try three.items.write { session throws(VaultError) in
            again = try three.ledger.take(
                removal + edits + removal, heads: heads, after: comparison,
                at: Stamp(Dot(three.stream, UInt64(three.entries.count + 1)), time: 0), in: &session)
        }
        #expect(again.count == 1)
        #expect(try three.text("mail", "site") == "b.example" && three.ledger.differences().found.isEmpty)
    }

    @Test func `what follows a transaction has nothing that differs`() throws {
        let comparison = try one.ledger.differences()
        let next = comparison.following(comparison.transaction + 1)
        #expect(next.found.isEmpty && next.displaced == comparison.displaced)
        #expect(next.transaction == comparison.transaction + 1)
    }
}
