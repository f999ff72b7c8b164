internal import HoldfastAgent
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Looks at several parts at once, each for as long as it may take. A part that does not answer holds up neither the
/// others nor the end: its thread is left behind, and goes with the process.
enum Examination {
    /// One part, and how it is looked at.
    struct Part: Sendable {
        /// Its name, should it give no answer.
        let name: String
        let fix: String
        let look: @Sendable () -> Finding
    }

    /// Milliseconds for all of it.
    static let patience: UInt64 = 4000

    /// - Returns: One finding for each part, in their order.
    static func run(_ parts: [Part]) -> [Finding] {
        let board = Board(parts.count)
        for (index, part) in parts.enumerated() {
            let isStarted = DetachedThread.start { board.set(index, part.look()) }
            if !isStarted { board.set(index, part.look()) }
        }
        board.wait(until: MonotonicClock.now() + patience * 1_000_000)
        return zip(parts, board.findings).map { part, finding in
            finding ?? Finding(part: part.name, state: .slow, words: "gave no answer in time", fix: part.fix)
        }
    }

    /// What has been found so far.
    private final class Board: Sendable {
        private let state: Mutex<[Finding?]>

        init(_ count: Int) { state = Mutex([Finding?](repeating: nil, count: count)) }

        func set(_ index: Int, _ finding: Finding) { state.withLock { $0[index] = finding } }

        var findings: [Finding?] { state.withLock { $0 } }

        /// Looks again every few milliseconds: whoever answers late has nobody to wake.
        func wait(until deadline: UInt64) {
            while findings.contains(where: { $0 == nil }), MonotonicClock.now() < deadline { usleep(2000) }
        }
    }
}
