import Foundation
import Items
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

@testable import VaultSync

/// Rosters that meet on a road, and members that use them.
@Suite(.seeded) struct FolderRoundRosterTests {
    @Test func `what a void roster ended counts again`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        let tablet = try SyncedDevice(scratch, "tablet", road: scratch["road"])
        let watch = try SyncedDevice(scratch, "watch", road: scratch["road"])
        try tablet.join(laptop)
        try watch.join(laptop)
        try phone.add("mail", "one")
        try settle(laptop, phone, tablet, watch)
        // The tablet was stolen, and removes the phone, which wrote meanwhile.
        try phone.add("bank", "two")
        try phone.round()
        _ = try tablet.home.remove(phone.home.keys.id)
        _ = try laptop.home.remove(tablet.home.keys.id)
        try tablet.round()
        try watch.round()
        #expect(try watch.shown() == ["mail": "password=one"])
        #expect(try watch.home.streams[phone.home.stream]?.reader.last == 1)
        try laptop.round()
        try watch.round()
        #expect(try watch.home.roster == laptop.home.roster)
        try settle(laptop, phone, watch)
        let all = ["mail": "password=one", "bank": "password=two"]
        for device in [laptop, phone, watch] { #expect(try device.shown() == all) }
        #expect(try watch.home.streams[phone.home.stream]?.reader.last == nil)
    }

    @Test func `rosters of strangers keep nobody from the one that a member wrote`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try settle(laptop, phone)
        let tablet = try SyncedDevice(scratch, "tablet", road: scratch["road"])
        try tablet.join(laptop)
        try laptop.round()
        // As many as are judged, and each is listed before it.
        let current = try laptop.home.roster
        let name = try #require(RosterFileName(number: current.number, hash: current.hash))
        let held = try #require(try laptop.home.rosters[current.hash])
        var (count, salt) = (0, 0)
        while count < 100 {
            var bytes = held.bytes
            salt += 1
            // After a roster that nobody knows.
            for index in 56..<60 { bytes[index] = UInt8(truncatingIfNeeded: salt >> (8 * (index - 56))) }
            let hash = FolderSamples.hash(bytes)
            let strange = try #require(RosterFileName(number: current.number, hash: hash))
            guard strange.hash.value < name.hash.value else { continue }
            try Data(bytes).write(to: URL(fileURLWithPath: "\(laptop.road)/rosters/\(strange.name)"))
            count += 1
        }
        try phone.round()
        #expect(try phone.home.roster == current)
    }

    @Test func `two members add somebody at once, and both come in`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try settle(laptop, phone)
        let tablet = try SyncedDevice(scratch, "tablet", road: scratch["road"])
        let watch = try SyncedDevice(scratch, "watch", road: scratch["road"])
        try tablet.join(laptop)
        try watch.join(phone)
        for device in [laptop, phone, laptop] { try device.round() }
        // Whoever's roster is void adds its own again.
        let winner = try laptop.home.roster
        #expect(try phone.home.roster == winner)
        let isTablet = winner.ids.contains(try tablet.home.keys.id)
        let (lost, adder) = isTablet ? (watch, phone) : (tablet, laptop)
        try lost.add("mail", "one")
        let early = try lost.round()
        #expect(!early.hitches.contains(.removed))
        _ = try adder.home.admit(lost.home.keys.with { keys throws(SyncError) in try keys.record(name: "new") })
        try settle(laptop, phone, tablet, watch)
        let last = try laptop.home.roster
        #expect(last.ids.count == 4)
        for device in [laptop, phone, tablet, watch] {
            #expect(try device.home.roster == last)
            #expect(try device.shown() == ["mail": "password=one"])
        }
    }

    @Test func `a member that begins stream after stream uses up nobody's, and can be removed`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        let tablet = try SyncedDevice(scratch, "tablet", road: scratch["road"])
        try tablet.join(laptop)
        try settle(laptop, phone, tablet)
        for number in 0..<20 {
            let home = try tablet.home
            if number > 0 {
                let stream: StreamID = try GroupHome.randomID()
                try home.write { session throws(VaultError) in try home.begin(stream, in: &session) }
            }
            // None of them says that it has seen the others.
            for (stream, known) in home.streams { home.streams[stream]?.told = known.reached }
            try tablet.add("item \(number)", "one")
            _ = try home.stamp()
            guard number == 11 else { continue }
            try tablet.round()
            try laptop.round()
        }
        try tablet.round()
        #expect(try phone.round().hitches.contains(.tooManyStreams))
        let (home, member) = (try phone.home, try tablet.home.keys.id)
        #expect(home.streams.values.count { $0.member == member } == 16)
        // The laptop had other ones first: what it names is read, too.
        try laptop.round()
        try laptop.set(try #require(laptop.shown().keys.first), "two")
        try settle(laptop, phone)
        let shown = try phone.shown()
        #expect(try laptop.shown().allSatisfy { shown[$0.key] == $0.value })
        #expect(shown.values.contains("password=two"))
        _ = try phone.home.remove(member)
        try phone.round()
        try laptop.round()
        #expect(try laptop.home.roster == phone.home.roster)
    }

    @Test func `a lock takes the keys of a round that has not ended`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try settle(laptop, phone)
        let home = try laptop.home
        let vault = laptop.items.vault
        try laptop.add("mail", "one")
        vault.lock()
        #expect(throws: SyncError.vault(.locked)) { try home.keys.with { _ throws(SyncError) in } }
        // An unlock does not bring them back.
        try vault.unlock(passcode: secret("right"), spending: vault.burnAttempt())
        let error = #expect(throws: VaultError.self) { try home.stamp() }
        #expect(error?.code == .locked)
        for held in home.rosters.values {
            #expect(throws: SyncError.vault(.locked)) { try held.key.with { _ throws(SyncError) in } }
        }
        #expect(throws: SyncError.vault(.locked)) { try home.ledger.nameKey.with { _ throws(SyncError) in } }
        #expect(try laptop.round().given == 1)
        try settle(laptop, phone)
        #expect(try phone.shown() == ["mail": "password=one"])
    }
}
