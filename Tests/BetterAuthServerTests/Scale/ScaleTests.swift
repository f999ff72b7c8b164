import Foundation
import RealParts
import SeededNumbers
import TestSupport
import Testing

/// Several processes of the built server on one PostgreSQL and one Redis, killed again and again, with both databases
/// restarted in between: what was acknowledged stays, and of two that want the same one gets it.
@Suite(.seeded, .enduring) struct ScaleTests {
    @Test(arguments: TestRun.isSoak ? [2, 4] : [2])
    func `processes are killed, databases restart, and nothing acknowledged is lost`(_ count: Int) throws {
        let place = try ScalePlace(processes: count)
        let lives = (0..<4).map { ScaleLife(place, $0) }
        let begin = ContinuousClock.now
        let plan = ScalePlan(begin)
        // First without a fault, to compare with.
        while plan.isQuiet, lives.allSatisfy({ $0.problems.isEmpty }) { ScaleLife.wait(lives, more: 40) }
        for life in lives { life.times.beginNext() }
        var generator = SeededGenerator()
        var (kills, restarts) = (0, 0)
        while !plan.isOver(kills), lives.allSatisfy({ $0.problems.isEmpty }) {
            ScaleLife.wait(lives, more: 20)
            if let rest = plan.untilKill(kills) { Thread.sleep(forTimeInterval: rest) }
            try place.replace(Int.random(in: 0..<count, using: &generator))
            kills += 1
            if kills % plan.killsPerRestart == 0 {
                ScaleLife.wait(lives, more: 10)
                restarts += 1
                try restarts % 2 == 1 ? place.pair.postgres.restart(SIGKILL) : place.pair.redis.restart(SIGKILL)
            }
        }
        ScaleLife.wait(lives, more: 20)
        for life in lives { life.end() }
        for life in lives {
            #expect(life.problems == [])
            for device in life.kept { try place.check(device) }
        }
        let counts = lives.map(\.counts).reduce(ScaleLife.Counts(), +)
        #expect(counts.done > 0 && counts.again > 0 && counts.races > 0)
        let (quiet, busy) = (ScaleTimes.percentile(lives, 0, 0.99), ScaleTimes.percentile(lives, 1, 0.99))
        let seconds = (ContinuousClock.now - begin).components.seconds
        print(
            """
            scale: \(count) processes, \(kills) kills, \(restarts) restarts, \(counts), \(seconds) s, \
            p99 \(quiet) ms quiet and \(busy) ms with faults
            """)
        // A ratio within one run, of a run that is long enough to have one.
        if TestRun.isSoak { #expect(busy <= 5 * quiet, "p99 is \(busy) ms, and \(quiet) ms without faults") }
    }
}

/// How long it continues, and when what is killed.
private struct ScalePlan {
    let begin: ContinuousClock.Instant
    /// Of the whole: `HOLDFAST_SCALE_MINUTES`, for each number of processes.
    let minutes = TestRun.number("HOLDFAST_SCALE_MINUTES") ?? 60

    init(_ begin: ContinuousClock.Instant) { self.begin = begin }

    private var seconds: Double {
        let passed = ContinuousClock.now - begin
        return Double(passed.components.seconds) + Double(passed.components.attoseconds) / 1e18
    }

    /// Of all its time a fifth; in the short form a moment.
    private var quietSeconds: Double { TestRun.isSoak ? Double(minutes) * 12 : 0.5 }
    var isQuiet: Bool { seconds < quietSeconds }
    var killsPerRestart: Int { TestRun.isSoak ? 3 : 2 }

    func isOver(_ kills: Int) -> Bool { TestRun.isSoak ? seconds >= Double(minutes * 60) : kills >= 4 }

    /// Seconds until the next kill, one each minute; nil in the short form, which waits for answers only.
    func untilKill(_ kills: Int) -> Double? {
        guard TestRun.isSoak else { return nil }
        let interval = min(60, (Double(minutes * 60) - quietSeconds) / 4)
        return max(0, quietSeconds + Double(kills + 1) * interval - seconds)
    }
}
