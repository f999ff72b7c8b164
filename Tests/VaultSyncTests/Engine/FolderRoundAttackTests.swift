import Foundation
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat
import VaultStorage

@testable import VaultSync

/// What a hostile folder, a hostile member, a kill or a second process could do to rounds.
@Suite(.seeded) struct FolderRoundAttackTests {
    @Test func `of two rounds at once one is told to load again, and no number has two entries`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        let (one, other) = (try laptop.home, try laptop.home)
        try laptop.add("mail", "one")
        #expect(try one.stamp().changes == 1)
        try laptop.add("bank", "two")
        let error = #expect(throws: VaultError.self) { try other.stamp() }
        #expect(error?.code == .busy && other.isStale)
        #expect(throws: SyncError.self) { try other.remove(phone.home.keys.id) }
        try settle(laptop, phone)
        #expect(try phone.shown() == ["mail": "password=one", "bank": "password=two"])
    }

    @Test func `a piece that somebody sealed anew is waited for, and freezes nobody`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        let large = pattern(20_000)
        try laptop.put(large, "large")
        try laptop.round()
        let home = try laptop.home
        let folder = "\(laptop.road)/p/\(home.stream)"
        let path = "\(folder)/\(try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first))"
        let name = try #require(
            PieceFileName(name: Array(path.split(separator: "/").last ?? "").compactMap(\.asciiValue)))
        // Whoever ever had the list has the key.
        let held = try #require(home.rosters[home.roster.hash])
        let key = try held.key.with { key throws(SyncError) in try key.pieceKey(home.group) }
        let sealed = try [UInt8]().withRaw { nothing throws(SyncError) in try key.seal(nothing, as: name.id) }
        try Data(sealed).write(to: URL(fileURLWithPath: path))
        #expect(try phone.round().hitches == [.missingPiece(home.stream, of: 1)])
        // Its writer looks once after each unlock.
        try laptop.restart()
        try laptop.round()
        #expect(try phone.round().hitches == [])
        #expect(try phone.value("large") == large)
    }

    @Test func `all rosters are on the road, though two were written before a round`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try settle(laptop, phone)
        let tablet = try SyncedDevice(scratch, "tablet", road: scratch["road"])
        let watch = try SyncedDevice(scratch, "watch", road: scratch["road"])
        try tablet.join(laptop)
        try watch.join(laptop)
        try watch.add("mail", "one")
        try settle(laptop, phone, tablet, watch)
        #expect(try phone.shown() == ["mail": "password=one"])
        // One that is lost is put back by anybody, a torn one after an unlock.
        let folder = "\(laptop.road)/rosters"
        let rosters = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(rosters.count == 4)
        try FileManager.default.removeItem(atPath: "\(folder)/\(rosters[1])")
        try Data([1]).write(to: URL(fileURLWithPath: "\(folder)/\(rosters[2])"))
        try phone.restart()
        try phone.round()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == rosters)
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(rosters[2])")).count >= 4096)
    }

    @Test func `a roster of somebody who was removed does not shut others out`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        let tablet = try SyncedDevice(scratch, "tablet", road: scratch["road"])
        try tablet.join(laptop)
        try settle(laptop, phone, tablet)
        // Both at once: the tablet shuts the phone out, and the laptop removes the tablet.
        _ = try laptop.home.remove(tablet.home.keys.id)
        _ = try tablet.home.remove(phone.home.keys.id)
        try tablet.round()
        try laptop.round()
        try laptop.add("mail", "one")
        try settle(laptop, phone)
        #expect(try phone.shown() == ["mail": "password=one"])
        #expect(try phone.home.roster == laptop.home.roster)
    }

    @Test func `what was to be adopted when the process was killed is adopted by the next round`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try laptop.add("mail", "one")
        try settle(laptop, phone)
        // The phone has heard that nothing of the laptop's counts, and was killed then.
        let home = try phone.home
        let stream = try laptop.home.stream
        try home.write { session throws(VaultError) in
            home.streams[stream]?.freeze(before: 1)
            home.streams[stream]?.isAdopting = true
            try home.store([stream], in: &session)
        }
        #expect(try phone.round().published == 1)
        #expect(try phone.home.streams[stream]?.isAdopting == false)
        #expect(try phone.round() == RoundReport())
    }

    @Test func `a large value that a home wrote after it was put back keeps its pieces`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try laptop.add("mail", "one")
        try settle(laptop, phone)
        try laptop.copy(to: scratch["copy"])
        try laptop.set("mail", "two")
        try settle(laptop, phone)
        try laptop.putBack(to: scratch["copy"])
        let large = pattern(100_000)
        try laptop.put(large, "large")
        #expect(try laptop.home.stamp().changes == 1)
        #expect(try laptop.round().hitches == [.wasPutBack])
        try settle(laptop, phone)
        #expect(try phone.value("large") == large)
    }

    @Test func `a new stream names all that its writer had seen, and is waited for where that is missing`() throws {
        var generator = SeededGenerator()
        let scratch = try ScratchFolder("round")
        let names = ["laptop", "phone", "tablet"]
        let devices = try names.map { try SyncedDevice(scratch, $0, road: scratch["road-\($0)"]) }
        let (laptop, phone, tablet) = (devices[0], devices[1], devices[2])
        try laptop.found()
        try laptop.round()
        for device in [phone, tablet] {
            try FileManager.default.copyItem(atPath: laptop.road, toPath: device.road)
            try device.join(laptop)
            try laptop.round()
        }
        for device in [phone, tablet] { try laptop.carry(to: device, &generator) }
        for device in [phone, tablet] { try device.round() }
        try laptop.copy(to: scratch["copy"])
        // The laptop has an entry of the tablet's, and has said so.
        try tablet.add("mail", "one")
        try tablet.round()
        try tablet.carry(to: laptop, &generator)
        try laptop.round()
        try laptop.set("mail", "two")
        try laptop.round()
        // Its other life had written, too.
        let clone = try SyncedDevice(cloned: scratch["copy"], road: scratch["road-clone"], of: laptop)
        try FileManager.default.copyItem(atPath: phone.road, toPath: clone.road)
        try clone.redirect()
        try clone.add("shop", "clone")
        try clone.round()
        try clone.carry(to: laptop, &generator)
        #expect(try laptop.round().hitches.contains(.wasPutBack))
        try laptop.set("mail", "three")
        try laptop.round()
        // The phone gets everything but what the tablet wrote.
        try laptop.carry(to: phone, &generator)
        let lost = "\(phone.road)/s/\(try tablet.home.stream)"
        try FileManager.default.removeItem(atPath: lost)
        let early = try phone.round().hitches
        #expect(!early.contains { if case .refused = $0 { true } else { false } })
        #expect(early.contains(.missing(try tablet.home.stream, from: 1)))
        try laptop.carry(to: phone, &generator)
        try phone.round()
        #expect(try phone.shown()["mail"] == "password=three")
        #expect(try phone.shown()["shop"] == "password=clone")
    }

    @Test func `a member that writes what cannot be shown is refused, and nobody else is held up`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        let tablet = try SyncedDevice(scratch, "tablet", road: scratch["road"])
        try tablet.join(laptop)
        try settle(laptop, phone, tablet)
        let home = try tablet.home
        try home.write { session throws(VaultError) in
            // It lives, and has no name.
            let bytes = try syncCall { () throws(SyncError) in
                var state = ItemState()
                state.write(at: home.nextStamp())
                let space = MergeSpace()
                let table = space.table(of: [])
                return try space.encoded(state, of: id(99), form: .item, values: table)
            }
            try home.seal([SyncState(bytes)], in: &session)
        }
        try tablet.round()
        try laptop.add("mail", "one")
        try laptop.round()
        let report = try phone.round()
        #expect(report.taken == 1)
        #expect(report.hitches.count == 1)
        #expect(report.hitches.allSatisfy { if case .refused(home.stream, 1, _) = $0 { true } else { false } })
        try settle(laptop, phone)
        #expect(try phone.shown() == ["mail": "password=one"] && laptop.shown() == phone.shown())
    }
}
