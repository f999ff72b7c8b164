package import BetterAuthMessages

/// Up to when a database may forget what has expired, though the wall clock may be set at any time.
///
/// It counts how long processes have run with the database, by a clock that nobody sets, and remembers what the wall
/// clock said then. Where the two agree over a whole lifetime of what expires, the wall clock is believed. Otherwise
/// only that is forgotten which ended before everything that the wall clock said in that lifetime: it was kept for so
/// long, whatever the time is. So what a clock that jumps and comes again finds is kept, and so is, for as long, what
/// was there when a machine was switched off; never more than two lifetimes of running.
package struct ExpiryClock: Sendable, Hashable {
    private struct Sample: Sendable, Hashable {
        /// Milliseconds that processes had run.
        var run: Int64
        var wall: Timestamp
    }

    /// By so much the wall clock may be set, and everything is kept longer for that.
    package static let tolerance = Timestamp.tolerance
    /// Samples of a lifetime, and with those of moments at which the clock was set.
    private static let (regular, most): (Int64, Int) = (12, 48)
    private static let format: UInt8 = 1

    private let lifetime: Int64
    /// The earliest first; at least one.
    private var samples: [Sample]
    private var latest: Sample

    /// Of a database that has no such record: nothing is known of the time before.
    /// - Parameter lifetime: Seconds.
    package init(lifetime: Int64) {
        self.lifetime = lifetime * 1000
        latest = Sample(run: 0, wall: .never)
        samples = [latest]
    }

    /// Continues to this moment.
    /// - Parameter ran: Milliseconds since the last call, by a clock that nobody sets; 0 when a process begins.
    /// - Returns: Seconds by which the wall clock was set since, or for which no process ran; nil for none.
    package mutating func advance(to wall: Timestamp, ran: Int64) -> Int64? {
        let isKnown = latest.wall > .never
        let now = Sample(run: latest.run + max(0, ran), wall: wall)
        let isSet = !ExpiryClock.agree(latest, now)
        defer { latest = now }
        // One from before the whole lifetime stays.
        while samples.count > 1, samples[1].run <= now.run - lifetime { samples.removeFirst() }
        if isSet || now.run - (samples.last?.run ?? 0) >= lifetime / ExpiryClock.regular {
            if samples.count < ExpiryClock.most {
                samples.append(now)
            } else if let last = samples.popLast() {
                // Kept for longer than either by itself.
                samples.append(Sample(run: now.run, wall: min(last.wall, wall)))
            }
        }
        return isSet && isKnown ? (wall.milliseconds - latest.wall.milliseconds - max(0, ran)) / 1000 : nil
    }

    /// What ended before this may be forgotten.
    package var limit: Timestamp {
        let isSteady = samples.allSatisfy { ExpiryClock.agree($0, latest) }
        let earliest = isSteady ? latest.wall : samples.reduce(latest.wall) { min($0, $1.wall) }
        return Timestamp(clamping: earliest.milliseconds - ExpiryClock.tolerance)
    }

    private static func agree(_ one: Sample, _ other: Sample) -> Bool {
        let difference = (other.wall.milliseconds - one.wall.milliseconds) - (other.run - one.run)
        return difference.magnitude <= tolerance.magnitude
    }

    /// For the next process.
    package var bytes: [UInt8] {
        var bytes = [ExpiryClock.format]
        for sample in samples + [latest] {
            bytes.append(number: sample.run)
            bytes.append(number: sample.wall.milliseconds)
        }
        return bytes
    }

    /// Nil unless it is what ``bytes`` gives.
    package init?(_ bytes: [UInt8], lifetime: Int64) {
        guard bytes.first == ExpiryClock.format, (bytes.count - 1) % 16 == 0, bytes.count <= 17 + 16 * ExpiryClock.most
        else { return nil }
        var reader = unsafe RowReader(bytes.span.bytes.extracting(1...))
        var samples: [Sample] = []
        while !reader.isAtEnd {
            guard let run = reader.number(Int64.self), let wall = reader.time(), run >= samples.last?.run ?? 0,
                run <= ExpiryClock.longest
            else { return nil }
            samples.append(Sample(run: run, wall: wall))
        }
        guard samples.count > 1, let latest = samples.popLast() else { return nil }
        (self.lifetime, self.samples, self.latest) = (lifetime * 1000, samples, latest)
    }

    /// More than a hundred thousand years: sums stay numbers.
    private static let longest = Int64.max / 1024
}
