import Testing

@testable import HoldfastAgent

/// When a round is due, and over what.
@Suite struct SyncScheduleTests {
    private static let all = SyncSchedule.Round(places: nil, depth: .everything)
    private static let changes = SyncSchedule.Round(places: nil, depth: .changes)
    private static let minutes: UInt64 = 15 * 60 * 1000

    private static func done(
        _ roads: [Int: SyncSchedule.Next] = [0: .told], of count: Int = 1, hasWritten: Bool = false
    ) -> SyncSchedule.Event {
        .ended(.done(roads, of: count, hasWritten: hasWritten))
    }

    /// After the first round of an unlock.
    private static func open(
        _ roads: [Int: SyncSchedule.Next] = [0: .told], of count: Int = 1
    ) -> SyncSchedule {
        var schedule = SyncSchedule()
        schedule.handle(.unlocked, at: 0)
        _ = schedule.begin(at: 0)
        schedule.handle(done(roads, of: count), at: 0)
        return schedule
    }

    @Test func `a locked agent does nothing, whatever happens`() {
        var schedule = SyncSchedule()
        for event: SyncSchedule.Event in [.stored, .asked, .noticed(0), .locked] {
            schedule.handle(event, at: 0)
            #expect(schedule.begin(at: .max) == nil && schedule.due == nil && !schedule.listens)
        }
    }

    @Test func `an unlock is a round over everything, and then nothing is due`() {
        var schedule = SyncSchedule()
        schedule.handle(.unlocked, at: 7)
        #expect(schedule.begin(at: 7) == Self.all)
        #expect(!schedule.listens && schedule.begin(at: 7) == nil, "one at a time")
        schedule.handle(Self.done(), at: 8)
        #expect(schedule.listens && schedule.due == nil && schedule.begin(at: .max) == nil)
        schedule.handle(.unlocked, at: 9)
        #expect(schedule.begin(at: 9) == nil, "it is open already")
    }

    @Test func `changes are gathered from the first one on`() {
        var schedule = Self.open()
        schedule.handle(.stored, at: 1000)
        #expect(schedule.due == 6000 && schedule.begin(at: 5999) == nil)
        schedule.handle(.stored, at: 5000)
        #expect(schedule.begin(at: 6000) == Self.changes)
        #expect(schedule.due == nil)
        // What is stored meanwhile is for a round of its own.
        schedule.handle(.stored, at: 6001)
        #expect(schedule.begin(at: 60_000) == nil)
        schedule.handle(Self.done(), at: 60_000)
        #expect(schedule.begin(at: 60_000) == Self.changes)
        schedule.handle(Self.done(), at: 60_001)
        #expect(schedule.begin(at: .max) == nil)
    }

    @Test func `what a watch tells is a round over its road, and what happens meanwhile is the next one`() {
        var schedule = Self.open([0: .told, 1: .told], of: 2)
        schedule.handle(.noticed(1), at: 1)
        #expect(!schedule.listens)
        #expect(schedule.begin(at: 1) == SyncSchedule.Round(places: [1], depth: .told))
        schedule.handle(.noticed(0), at: 2)
        schedule.handle(Self.done([1: .told], of: 2), at: 3)
        #expect(schedule.begin(at: 3) == SyncSchedule.Round(places: [0], depth: .told))
        schedule.handle(.asked, at: 4)
        schedule.handle(.noticed(1), at: 4)
        schedule.handle(Self.done([0: .told], of: 2), at: 5)
        #expect(schedule.begin(at: 5) == Self.all)
        schedule.handle(Self.done([0: .told, 1: .told], of: 2), at: 6)
        #expect(schedule.begin(at: .max) == nil)
    }

    @Test func `what was written on one road is put on the others`() {
        var schedule = Self.open([0: .told, 1: .told], of: 2)
        schedule.handle(.noticed(1), at: 1)
        _ = schedule.begin(at: 1)
        schedule.handle(Self.done([1: .told], of: 2, hasWritten: true), at: 2)
        #expect(schedule.begin(at: 2) == Self.changes)
        schedule.handle(Self.done([0: .told, 1: .told], of: 2), at: 3)
        #expect(schedule.begin(at: .max) == nil)
        // There is no other.
        var single = Self.open()
        single.handle(.noticed(0), at: 1)
        _ = single.begin(at: 1)
        single.handle(Self.done(hasWritten: true), at: 2)
        #expect(single.begin(at: .max) == nil)
    }

    @Test func `only roads that no watch tells of are listed every 15 minutes`() {
        var schedule = Self.open([0: .told, 1: .later], of: 2)
        for turn: UInt64 in 1...3 {
            #expect(schedule.due == turn * Self.minutes && schedule.begin(at: turn * Self.minutes - 1) == nil)
            #expect(schedule.listens, "the other one is heard")
            #expect(
                schedule.begin(at: turn * Self.minutes) == SyncSchedule.Round(places: [1], depth: .everything))
            schedule.handle(Self.done([1: .later], of: 2), at: turn * Self.minutes)
        }
        // A round that looked at nothing puts nothing off.
        schedule.handle(.noticed(1), at: 3 * Self.minutes + 5)
        _ = schedule.begin(at: 3 * Self.minutes + 5)
        schedule.handle(Self.done([:], of: 2), at: 3 * Self.minutes + 5)
        #expect(schedule.due == 4 * Self.minutes)
        // It can be watched now.
        _ = schedule.begin(at: 4 * Self.minutes)
        schedule.handle(Self.done([1: .told], of: 2), at: 4 * Self.minutes)
        #expect(schedule.due == nil)
    }

    @Test func `what is on its way unseen is looked for soon, and then less and less often`() {
        var schedule = Self.open([0: .soon])
        var (now, waits): (UInt64, [UInt64]) = (0, [])
        for _ in 0..<10 {
            let due = schedule.due ?? 0
            waits.append((due - now) / 1000)
            now = due
            #expect(schedule.begin(at: now) == SyncSchedule.Round(places: [0], depth: .everything))
            schedule.handle(Self.done([0: .soon]), at: now)
        }
        #expect(waits == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900])
        _ = schedule.begin(at: schedule.due ?? 0)
        schedule.handle(Self.done(), at: now)
        #expect(schedule.due == nil)
    }

    @Test func `a road that is gone from the group is looked for once`() {
        var schedule = Self.open([0: .told, 1: .later], of: 2)
        #expect(schedule.begin(at: Self.minutes) != nil)
        schedule.handle(Self.done([:]), at: Self.minutes)
        #expect(schedule.due == nil && schedule.begin(at: .max) == nil)
    }

    @Test func `a vault in no group is left alone until somebody asks`() {
        var schedule = SyncSchedule()
        schedule.handle(.unlocked, at: 0)
        _ = schedule.begin(at: 0)
        schedule.handle(.stored, at: 1)
        schedule.handle(.ended(.noGroup), at: 2)
        schedule.handle(.stored, at: 3)
        #expect(schedule.due == nil && schedule.begin(at: .max) == nil && schedule.hasGroup == false)
        schedule.handle(.asked, at: 4)
        #expect(schedule.begin(at: 4) == Self.all)
        schedule.handle(Self.done(), at: 5)
        schedule.handle(.stored, at: 6)
        #expect(schedule.due == 5006)
    }

    @Test func `a lock ends it, and a round that still runs has the thread`() {
        var schedule = Self.open([0: .later])
        schedule.handle(.stored, at: 1)
        schedule.handle(.asked, at: 1)
        _ = schedule.begin(at: 1)
        schedule.handle(.noticed(0), at: 2)
        schedule.handle(.locked, at: 3)
        #expect(schedule.due == nil && schedule.begin(at: .max) == nil && !schedule.listens)
        schedule.handle(.unlocked, at: 4)
        #expect(schedule.begin(at: 4) == nil && !schedule.listens)
        // What it says was of the unlock before.
        schedule.handle(Self.done([0: .soon], of: 2, hasWritten: true), at: 5)
        #expect(schedule.due == nil)
        #expect(schedule.begin(at: 5) == Self.all)
        schedule.handle(Self.done(), at: 6)
        #expect(schedule.due == nil && schedule.begin(at: .max) == nil)
    }

    @Test func `a round that could not begin is tried again, but not all the time`() {
        var schedule = Self.open()
        schedule.handle(.asked, at: 1)
        #expect(schedule.begin(at: 1) != nil)
        schedule.handle(.refused, at: 1)
        #expect(schedule.begin(at: 2) == nil && schedule.due == 1 + Self.minutes && !schedule.listens)
        #expect(schedule.begin(at: 1 + Self.minutes) == Self.all)
        schedule.handle(.ended(.failed), at: 2 + Self.minutes)
        #expect(schedule.listens && schedule.begin(at: 3 + Self.minutes) == nil)
        #expect(schedule.due == 2 + 2 * Self.minutes)
        schedule.handle(.asked, at: 4 + Self.minutes)
        #expect(schedule.begin(at: 4 + Self.minutes) == Self.all, "whoever asks does not wait for that")
        schedule.handle(Self.done(), at: 5 + Self.minutes)
        #expect(schedule.due == nil)
    }
}
