import Items
import SyncFormat
import TestSupport
import Testing
import VaultCore
import VaultFormat

@testable import VaultSync

/// Collections that ask for more than the unlock of a device proved.
@Suite struct FolderRoundUnreachedTests {
    private static let shut: [String: Assurance] = ["bank": .hardwareBound]

    /// A laptop and a phone with a card in a collection, and the phone's unlock does not reach it.
    private func pair(_ scratch: ScratchFolder) throws -> (laptop: SyncedDevice, phone: SyncedDevice) {
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try laptop.add("card", "one", in: "bank")
        try laptop.add("mail", "one")
        try settle(laptop, phone)
        #expect(try phone.password("card", in: "bank") == "one")
        try phone.restart(minima: Self.shut)
        return (laptop, phone)
    }

    @Test func `what changed in a collection that is not reached waits, and everything else is taken`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try pair(scratch)
        try laptop.set("card", "two", in: "bank")
        try laptop.set("mail", "two")
        try laptop.round()
        let report = try phone.round()
        #expect(report.taken == 2 && report.hitches.isEmpty)
        #expect(try phone.shown() == ["mail": "password=two"])
        // It takes the old record for nobody's change.
        #expect(try phone.round() == RoundReport())
        try laptop.set("card", "three", in: "bank")
        try laptop.round()
        #expect(try phone.round().taken == 1)
        try phone.restart()
        #expect(try phone.password("card", in: "bank") == "one")
        let shown = try phone.round()
        #expect(shown.given == 0)
        #expect(try phone.password("card", in: "bank") == "three")
        try settle(laptop, phone)
        #expect(try laptop.password("card", in: "bank") == "three")
    }

    @Test func `what is new in a collection that is not reached is shown when it is`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try pair(scratch)
        try laptop.add("account", "one", in: "bank")
        try laptop.round()
        #expect(try phone.round().taken == 1)
        #expect(try phone.round() == RoundReport())
        try phone.restart()
        #expect(try phone.round().given == 0)
        #expect(try phone.password("account", in: "bank") == "one")
        try settle(laptop, phone)
        #expect(try laptop.password("account", in: "bank") == "one")
    }

    @Test func `what was removed from a collection that is not reached goes when it is`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try pair(scratch)
        try laptop.remove("card", in: "bank")
        try laptop.round()
        #expect(try phone.round().taken == 1)
        try phone.restart()
        try phone.round()
        #expect(try phone.password("card", in: "bank") == nil)
        try settle(laptop, phone)
        #expect(try laptop.password("card", in: "bank") == nil)
    }

    @Test func `a change that was made before the next round loses nothing of what waited`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try pair(scratch)
        try laptop.set("card", "two", in: "bank")
        try laptop.set("card", "of the laptop", label: "note", in: "bank")
        try laptop.round()
        #expect(try phone.round().taken == 1)
        try phone.restart()
        try phone.set("card", "of the phone", label: "place", in: "bank")
        try settle(laptop, phone)
        for device in [laptop, phone] {
            let item = try device.items.item("card", in: "bank")
            let texts = Dictionary(
                uniqueKeysWithValues: item.fields.map { field in
                    (field.label, item.withValue(of: field) { $0.array.text })
                })
            #expect(texts["note"] == "of the laptop" && texts["place"] == "of the phone")
            let all = item.history.map { entry in item.withValue(of: entry) { $0.array.text } }
            #expect((all + [texts["password"] ?? ""]).contains("two"), "it is shown, or was replaced")
        }
    }

    @Test func `a removal that was made before the next round does not take what waited`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try pair(scratch)
        try laptop.set("card", "two", in: "bank")
        try laptop.round()
        #expect(try phone.round().taken == 1)
        try phone.restart()
        try phone.remove("card", in: "bank")
        try settle(laptop, phone)
        for device in [laptop, phone] { #expect(try device.password("card", in: "bank") == "two") }
    }

    @Test func `what is moved into a collection that is not reached, and out of it, is lost nowhere`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try pair(scratch)
        try laptop.move("mail", to: "bank")
        try laptop.round()
        #expect(try phone.round().taken == 1)
        #expect(try phone.shown() == [:])
        #expect(try phone.round() == RoundReport())
        try laptop.move("card", from: "bank", to: "default")
        try laptop.round()
        // Its record is where nobody reaches it.
        #expect(try phone.round().taken == 1)
        try phone.restart()
        try phone.round()
        #expect(try phone.password("mail", in: "bank") == "one")
        #expect(try phone.shown() == ["card": "password=one"])
        #expect(try phone.password("card", in: "bank") == nil)
        try settle(laptop, phone)
        #expect(try laptop.shown() == ["card": "password=one"])
    }
}
