import BetterAuthMessages
import BetterAuthServer
import TestSupport
import Testing

/// Keys, and clocks that lie.
@Suite struct KeyClockTests {
    private let now = TestClock().now
    private let lifetime: Int64 = 3_600_000

    private func key() throws -> ServerKey { try .generate() }

    private func current(_ schedule: KeySchedule, after seconds: Int64) -> PublicKeyText {
        schedule.current(now: now.adding(seconds: seconds)).publicKey
    }

    @Test(arguments: [-40 * 31_536_000, 0, 4 * 31_536_000] as [Int64])
    func `a key of a clock that lied does not come back after another one`(_ lie: Int64) throws {
        let (first, second) = (try key(), try key())
        var schedule = KeySchedule(first, usedFrom: now.adding(seconds: lie), lifetime: lifetime)
        #expect(current(schedule, after: 0) == first.publicKey)
        schedule.add(second, usedFrom: now.adding(seconds: 300), now: now)
        #expect(current(schedule, after: 0) == first.publicKey)
        for seconds in [300, 3600, 5 * 31_536_000] as [Int64] {
            #expect(current(schedule, after: seconds) == second.publicKey)
        }
        #expect(schedule.published(now: now).map(\.publicKey) == [first.publicKey, second.publicKey])
        #expect(
            schedule.published(now: now.adding(seconds: 300 + 3601)).map(\.publicKey) == [second.publicKey])
        // A file gives them back in this order.
        let read = try #require(KeySchedule(schedule.entries, lifetime: lifetime))
        #expect(read.entries.map(\.key.publicKey) == schedule.entries.map(\.key.publicKey))
    }

    @Test func `a rotation in the past of a clock that lies is one`() throws {
        let (first, second) = (try key(), try key())
        var schedule = KeySchedule(first, usedFrom: now, lifetime: lifetime)
        let past = now.adding(seconds: -50 * 31_536_000)
        schedule.add(second, usedFrom: past.adding(seconds: 300), now: past)
        #expect(current(schedule, after: 0) == second.publicKey)
    }

    @Test func `a later key that comes into use earlier is not replaced by the one before it`() throws {
        let (first, second, third) = (try key(), try key(), try key())
        var schedule = KeySchedule(first, usedFrom: now, lifetime: lifetime)
        schedule.add(second, usedFrom: now.adding(seconds: 3600), now: now)
        schedule.add(third, usedFrom: now, now: now)
        #expect(current(schedule, after: 0) == third.publicKey && current(schedule, after: 3600) == third.publicKey)
    }

    @Test func `the youngest key that verifiers can learn signs`() throws {
        let (first, second) = (try key(), try key())
        var schedule = KeySchedule(first, usedFrom: now, lifetime: lifetime)
        schedule.add(second, usedFrom: now.adding(seconds: 10), now: now)
        let later = now.adding(seconds: 20)
        func signing(_ readable: Set<PublicKeyText>) -> PublicKeyText {
            schedule.current(now: later) { readable.contains($0) }.publicKey
        }
        #expect(signing([first.publicKey, second.publicKey]) == second.publicKey)
        #expect(signing([first.publicKey]) == first.publicKey)
        #expect(signing([]) == second.publicKey)
        let keys = ServerKeys(response: schedule, access: schedule)
        keys.limit(to: [first.publicKey])
        #expect(keys.responseKey(now: later).publicKey == first.publicKey)
        // Keys that were dropped sign nothing, whoever could learn them.
        try keys.renounce(now: later)
        #expect(keys.responseKey(now: later).publicKey != first.publicKey)
    }
}
