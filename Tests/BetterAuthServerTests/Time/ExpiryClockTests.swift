import BetterAuthMessages
import Testing

@testable import BetterAuthServer

@Suite struct ExpiryClockTests {
    private static let lifetime: Int64 = 12 * 3600
    private let start = Timestamp(clamping: 1_767_323_045_678)

    /// Hours that pass, by how much the clock is set after them, and how far what is forgotten lies behind the clock
    /// then.
    struct Step: Sendable {
        let (passed, set, behind): (Int64, Int64, Int64)
        init(_ passed: Int64, _ set: Int64 = 0, behind: Int64) {
            (self.passed, self.set, self.behind) = (passed, set, behind)
        }
    }

    private static let rows: [[Step]] = [
        // It runs, and what ends is forgotten.
        [Step(1, behind: 0), Step(30, behind: 0)],
        // Ahead: nothing until a lifetime has passed.
        [Step(1, 13, behind: 26), Step(6, behind: 26), Step(5, behind: 25), Step(2, behind: 0)],
        // Ahead and back.
        [Step(1, 13, behind: 26), Step(2, -13, behind: 12), Step(11, behind: 12), Step(3, behind: 0)],
        // A year.
        [Step(1, 8760, behind: 8773), Step(1, -8760, behind: 12), Step(14, behind: 0)],
        // Back: what was forgotten is gone, and no more than that.
        [Step(1, -13, behind: 0), Step(2, behind: 2), Step(1, 13, behind: 16), Step(14, behind: 0)],
    ]

    @Test(arguments: rows.indices, [false, true])
    func `what is forgotten under a clock that is set`(_ row: Int, _ starts: Bool) throws {
        var clock = ExpiryClock(lifetime: Self.lifetime)
        var wall = start
        #expect(clock.advance(to: wall, ran: 0) == nil)
        /// By steps of a minute.
        func run(_ hours: Int64) {
            for _ in 0..<60 * hours {
                wall = wall.adding(seconds: 60)
                #expect(clock.advance(to: wall, ran: 60_000) == nil)
            }
        }
        // Of the time before nothing is known.
        run(11)
        #expect(clock.limit == .never)
        run(19)
        #expect(clock.limit == wall.adding(seconds: -60))
        for step in Self.rows[row] {
            run(step.passed)
            wall = wall.adding(seconds: 3600 * step.set)
            if starts { clock = try #require(ExpiryClock(clock.bytes, lifetime: Self.lifetime)) }
            let told = clock.advance(to: wall, ran: 0)
            #expect(told == (step.set == 0 ? nil : 3600 * step.set))
            let behind = (wall.milliseconds - clock.limit.milliseconds) / 1000 - 60
            // A sample is an hour old at the most.
            #expect((3600 * step.behind - 3600...3600 * step.behind + 3600).contains(behind), "\(step): \(behind / 60)")
        }
    }

    @Test func `a clock that is set again and again leaves a bounded record, and is not believed`() throws {
        var clock = ExpiryClock(lifetime: Self.lifetime)
        var wall = start
        for turn in 0..<10_000 as Range<Int64> {
            wall = wall.adding(seconds: 10 + (turn.isMultiple(of: 2) ? 7200 : -7200))
            _ = clock.advance(to: wall, ran: 10_000)
            #expect(clock.limit <= wall.adding(seconds: -60))
            #expect(clock.bytes.count <= 17 + 16 * 48)
        }
        #expect(clock.limit < wall.adding(seconds: -3600))
    }

    /// Less than the tolerance each time, and a day in the end.
    @Test func `a clock that creeps ahead is not believed`() {
        var clock = ExpiryClock(lifetime: Self.lifetime)
        var wall = start
        for _ in 0..<13 * 60 {
            wall = wall.adding(seconds: 60)
            _ = clock.advance(to: wall, ran: 60_000)
        }
        let before = clock.limit
        #expect(before > start)
        for _ in 0..<60 {
            wall = wall.adding(seconds: 60 + 59)
            #expect(clock.advance(to: wall, ran: 60_000) == nil)
        }
        // Two hours by the clock, and one that has passed.
        #expect(clock.limit.milliseconds <= before.milliseconds + 3_600_000)
    }

    @Test func `a record that is damaged is none`() throws {
        var clock = ExpiryClock(lifetime: Self.lifetime)
        _ = clock.advance(to: start, ran: 0)
        let bytes = clock.bytes
        #expect(ExpiryClock(bytes, lifetime: Self.lifetime) == clock)
        for count in bytes.indices {
            #expect(ExpiryClock(Array(bytes[..<count]), lifetime: 1) == nil || count % 16 == 1)
        }
        for count in [0, 1, 17] { #expect(ExpiryClock(Array(bytes[..<count]), lifetime: 1) == nil) }
        #expect(ExpiryClock(bytes + Array(repeating: 255, count: 16), lifetime: 1) == nil)
        #expect(ExpiryClock([1] + Array(repeating: 0, count: 16 * 50), lifetime: 1) == nil)
    }
}
