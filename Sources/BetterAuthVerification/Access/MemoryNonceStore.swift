public import BetterAuthMessages
internal import Synchronization

/// Nonces in the memory of one process: for a service without replicas.
///
/// Never forgets a nonce that could still be accepted: it refuses new ones instead. A clock that goes back does not
/// make it forget either: at a time at which one that it has forgotten could be accepted, everything is refused, for it
/// is unknown whether it was seen. A clock that was ahead for a while leaves that while to be refused, and not what is
/// before it.
public final class MemoryNonceStore: NonceStore {
    private struct State {
        var nonces: Set<NonceText> = []
        /// By the second in which they end.
        var ends: [Int64: [NonceText]] = [:]
        /// Seconds at which a nonce that is forgotten could be accepted, the earliest first.
        var cleared: [ClosedRange<Int64>] = []
        /// Seconds for which one was to be remembered at the most.
        var longest: Int64 = 0

        /// Forgets what ended before a second. A little later, since calls that run side by side overtake each other.
        mutating func clear(before second: Int64) {
            let last = second - State.slack
            guard !isCleared(last) else { return }
            for old in ends.keys.filter({ $0 <= last }) {
                for nonce in ends.removeValue(forKey: old) ?? [] { nonces.remove(nonce) }
                add(old - longest...old, last)
            }
            add(last...last, last)
        }

        func isCleared(_ second: Int64) -> Bool { cleared.contains { $0.contains(second) } }

        /// Seconds of calls that run side by side, seconds that a service may be without a request, and ranges that are
        /// remembered.
        private static let (slack, pause, most): (Int64, Int64, Int) = (3, 60, 16)

        private mutating func add(_ range: ClosedRange<Int64>, _ now: Int64) {
            cleared.append(range)
            cleared.sort { $0.lowerBound < $1.lowerBound }
            for index in cleared.indices.dropLast().reversed()
            where gap(index) <= State.pause { join(index) }
            guard cleared.count > State.most else { return }
            // The two with the least between them; but not what comes after now, or nothing would be taken any more.
            let gaps = cleared.indices.dropLast().filter { !cleared[$0].contains(now) }
            join(gaps.min { gap($0) < gap($1) } ?? 0)
        }

        private func gap(_ index: Int) -> Int64 { cleared[index + 1].lowerBound - cleared[index].upperBound }

        private mutating func join(_ index: Int) {
            let next = cleared.remove(at: index + 1)
            cleared[index] = cleared[index].lowerBound...max(cleared[index].upperBound, next.upperBound)
        }
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: Nonces at a time; each takes about 60 bytes.
    public init(capacity: Int = 1 << 18) { self.capacity = capacity }

    /// - Throws: An error when it is full.
    public func reserve(_ nonce: NonceText, until: Timestamp, now: Timestamp) async throws -> Bool {
        let (second, end) = (now.milliseconds / 1000, until.milliseconds / 1000)
        return try state.withLock { state throws(AccessStoreError) in
            state.clear(before: second)
            guard end >= second, !state.isCleared(second), !state.nonces.contains(nonce) else { return false }
            guard state.nonces.count < capacity else { throw .full }
            state.longest = max(state.longest, end - second)
            state.nonces.insert(nonce)
            state.ends[end, default: []].append(nonce)
            return true
        }
    }

    /// Nonces that are remembered now.
    package var count: Int { state.withLock { $0.nonces.count } }
}
