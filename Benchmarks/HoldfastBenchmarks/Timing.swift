import Foundation

/// Nanoseconds on a clock that only goes forward.
func nanoseconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// How long `body` takes, in nanoseconds.
func time(_ body: () throws -> Void) rethrows -> Double {
    let start = nanoseconds()
    try body()
    return nanoseconds() - start
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Times of several contenders that take turns, so that a slow moment of the machine hits all of them.
struct Rounds {
    /// Nanoseconds per operation: one row per contender, one column per round.
    let times: [[Double]]

    /// - Parameter contenders: Each runs once per round, returns nanoseconds per operation, and is told the round.
    init(_ rounds: Int, _ contenders: [(Int) throws -> Double]) throws {
        var times = [[Double]](repeating: [], count: contenders.count)
        var generator = SeededGenerator(1)
        for round in 0..<rounds {
            // In another order each time: whoever runs next finds the caches as the one before left them.
            for index in contenders.indices.shuffled(using: &generator) {
                times[index].append(try contenders[index](round))
            }
        }
        self.times = times
    }

    func median(_ index: Int) -> Double { HoldfastBenchmarks.median(times[index]) }

    /// The median over the rounds of one contender's time by another's in the same round.
    func ratio(_ index: Int, to other: Int) -> Double {
        HoldfastBenchmarks.median(zip(times[index], times[other]).map { $0 / $1 })
    }
}

/// A small repeatable generator (SplitMix64), so that two runs do the same.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            let word = next()
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
