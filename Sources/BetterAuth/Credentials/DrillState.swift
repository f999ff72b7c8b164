package import BetterAuthMessages

/// When the user last proved to still have the recovery phrase, and when the next drill is due.
package struct DrillState: Sendable, Hashable {
    /// The last drill that was passed; nil before the first.
    package var lastPassed: Timestamp?
    /// When the phrase was made.
    package var since: Timestamp?
    /// Drills passed in a row.
    package var passes: UInt32 = 0
    /// Three words at a time, for the short drill.
    package var spots: [SpotCheck] = []

    package init() {}

    private static let day: Int64 = 86_400_000

    /// Days until the next one: 7 after the phrase was made, then 30, 90, and 180 from there on.
    package var interval: Int64 {
        switch passes {
        case 0: 7
        case 1: 30
        case 2: 90
        default: 180
        }
    }

    /// When the next one is due; nil without a phrase.
    package var due: Timestamp? {
        (lastPassed ?? since)?.adding(milliseconds: interval * DrillState.day)
    }

    /// Whether one is due now.
    package func isDue(_ now: Timestamp) -> Bool { due.map { $0 <= now } ?? false }

    /// The words that the next short drill asks for, each time others; nil where none were kept.
    package var spot: SpotCheck? { spots.isEmpty ? nil : spots[Int(passes) % spots.count] }

    /// A new phrase: it starts over.
    package static func begun(_ now: Timestamp, spots: [SpotCheck] = []) -> DrillState {
        var state = DrillState()
        state.since = now
        state.spots = spots
        return state
    }

    /// Notes how a drill went. One that failed is asked for again soon.
    package mutating func note(passed: Bool, _ now: Timestamp) {
        if passed {
            lastPassed = now
            passes += passes < UInt32.max ? 1 : 0
        } else {
            passes = 0
        }
    }
}

/// A commitment to three words of a phrase at positions that were drawn when it was made: Argon2id over the words.
///
/// Four of them at most are kept, inside the vault, on different words: an attacker who broke all four would still lack
/// twelve of the 24 words, and each costs 2^33 derivations.
package struct SpotCheck: Sendable, Hashable {
    /// Counted from 1, ascending.
    package let positions: [UInt8]
    package let salt: [UInt8]
    package let digest: [UInt8]
}
