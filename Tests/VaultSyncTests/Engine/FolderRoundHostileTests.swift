import Foundation
import Items
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat
import VaultStorage

@testable import VaultSync

/// What a member could write that every parser takes, and that cannot be joined, shown or held.
@Suite(.seeded) struct FolderRoundHostileTests {
    /// A laptop and a phone, and a tablet that writes what no program of ours writes.
    struct Group {
        let laptop: SyncedDevice
        let phone: SyncedDevice
        let tablet: SyncedDevice

        init(_ scratch: ScratchFolder) throws {
            (laptop, phone) = try SyncedDevice.pair(scratch)
            tablet = try SyncedDevice(scratch, "tablet", road: scratch["road"])
            try tablet.join(laptop)
            try settle(laptop, phone, tablet)
        }
    }

    @Test func `an item that a member says is a plain value is refused, and what came with it is taken`() throws {
        let scratch = try ScratchFolder("round")
        let group = try Group(scratch)
        try group.laptop.add("mail", "one")
        try settle(group.laptop, group.phone, group.tablet)
        let item = try #require(SyncItemID(try group.laptop.items.item("mail").id.bytes))
        try group.tablet.say(.value, item) { [(.place, place("mail")), (.value, Array("two".utf8))] }
        let stream = try group.tablet.home.stream
        try group.tablet.round()
        // In one batch with it.
        try group.laptop.set("mail", "three")
        try group.laptop.add("bank", "four")
        try group.laptop.round()
        let report = try group.phone.round()
        #expect(report.taken == 2)
        #expect(report.hitches.count == 1 && report.hitches.allSatisfy { $0.refuses(stream) })
        try settle(group.laptop, group.phone)
        let all = ["mail": "password=three", "bank": "password=four"]
        #expect(try group.phone.shown() == all && group.laptop.shown() == all)
    }

    @Test func `a state that leaves no room to be joined with another is refused`() throws {
        let scratch = try ScratchFolder("round")
        let group = try Group(scratch)
        let stream = try group.tablet.home.stream
        try group.tablet.say(.item, id(99)) { item("large", tags: 0..<4200) }
        try group.tablet.round()
        try group.laptop.add("mail", "one")
        try group.laptop.round()
        let report = try group.phone.round()
        #expect(report.taken == 1)
        #expect(report.hitches.count == 1 && report.hitches.allSatisfy { $0.refuses(stream) })
        try settle(group.laptop, group.phone)
        #expect(try group.phone.shown() == ["mail": "password=one"])
    }

    @Test func `nobody fills an item with streams that nobody writes`() throws {
        let scratch = try ScratchFolder("round")
        let group = try Group(scratch)
        let stream = try group.tablet.home.stream
        try group.tablet.say(.item, id(99), seen: (0..<200).map(firstMet)) { item("large") }
        try group.tablet.say(.item, id(99), seen: (200..<400).map(firstMet)) { item("large") }
        try group.tablet.round()
        let report = try group.phone.round()
        #expect(report.taken == 1)
        #expect(report.hitches.count == 1 && report.hitches.allSatisfy { $0.refuses(stream) })
        try settle(group.laptop, group.phone)
    }

    @Test func `an item that a member filled can be changed by others`() throws {
        let scratch = try ScratchFolder("round")
        let group = try Group(scratch)
        let stream = try group.tablet.home.stream
        for number in 0..<3 {
            let tags = number * 3500..<(number + 1) * 3500
            try group.tablet.say(.item, id(99), at: Stamp(firstMet(UInt32(number)), time: 1)) {
                item("large", tags: tags)
            }
        }
        try group.tablet.round()
        // Two of them fit.
        for device in [group.laptop, group.phone] {
            let report = try device.round()
            #expect(report.taken == 2)
            #expect(report.hitches.count == 1 && report.hitches.allSatisfy { $0.refuses(stream) })
        }
        try settle(group.laptop, group.phone)
        try group.phone.set("large", "two")
        let report = try group.phone.round()
        #expect(report.given == 1)
        try settle(group.laptop, group.phone)
        #expect(try group.laptop.shown() == ["large": "password=two"])
        #expect(try group.laptop.round().hitches.allSatisfy { $0.refuses(stream) })
    }
}

/// The bytes of a place.
func place(_ name: String, in collection: String = "default") -> [UInt8] {
    var writer = ByteWriter()
    writer.integer(UInt8(0))
    writer.counted(Array(collection.utf8))
    writer.counted(Array(name.utf8))
    return writer.bytes
}

extension RoundHitch {
    func refuses(_ stream: StreamID) -> Bool {
        if case .refused(stream, _, _) = self { true } else { false }
    }
}

extension SyncedDevice {
    /// Writes an entry with one state, whatever it says.
    /// - Parameter stamp: Of the values; nil for the entry's.
    func say(
        _ form: StateLayout.Form, _ item: SyncItemID, at stamp: Stamp? = nil, seen: [Dot] = [],
        _ values: () throws -> [(part: ItemPart, value: [UInt8])]
    ) throws {
        let values = try values()
        let home = try home
        try home.write { session throws(VaultError) in
            let bytes = try syncCall { () throws(SyncError) in
                var space = MergeSpace()
                var places: [(part: ItemPart, place: Range<Int>)] = []
                for (part, value) in values { places.append((part, try space.add(value))) }
                let table = space.table(of: places.map(\.place))
                var context = CausalContext()
                for dot in seen { context.insert(dot) }
                var state = ItemState(elements: [], versions: [], context: context, removals: CausalContext())
                state?.write(
                    at: stamp ?? home.nextStamp(), adding: places.map { ($0.part, table.number(of: $0.place) ?? 0) })
                guard let state else { throw .format(.invalid(field: "state")) }
                return try space.encoded(state, of: item, form: form, values: table)
            }
            try home.seal([SyncState(bytes)], in: &session)
        }
    }
}

/// What every item has, and some tags.
private func item(_ name: String, tags: Range<Int> = 0..<0) -> [(part: ItemPart, value: [UInt8])] {
    let front: [(part: ItemPart, value: [UInt8])] = [
        (.place, place(name)), (.kind, [1]), (.flags, [0, 0]), (.created, [UInt8](repeating: 0, count: 8)),
    ]
    return front + tags.map { (.tag, Array("tag \($0)".utf8)) }
}

/// The dot of what was first met somewhere.
private func firstMet(_ number: UInt32) -> Dot {
    var writer = ByteWriter()
    writer.append([UInt8](repeating: 7, count: 12))
    writer.integer(number)
    return Dot(StreamID(writer.bytes) ?? id(7), 1)
}
