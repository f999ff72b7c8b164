public import BetterAuthMessages
internal import Synchronization

/// Nonces in the memory of one process: for a service without replicas.
///
/// Never forgets a nonce that could still be accepted: it refuses new ones instead. A clock that goes back does not
/// make it forget either: a nonce that expired before the last clearing is refused, because it is unknown whether it
/// was stored.
public final class MemoryNonceStore: NonceStore {
    private struct State {
        var nonces: Set<NonceText> = []
        /// By the second in which they end.
        var ends: [Int64: [NonceText]] = [:]
        /// Everything that ended before this second is forgotten.
        var cleared = Int64.min
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: Nonces at a time; each takes about 60 bytes.
    public init(capacity: Int = 1 << 18) { self.capacity = capacity }

    /// - Throws: An error when it is full.
    public func reserve(_ nonce: NonceText, until: Timestamp, now: Timestamp) async throws -> Bool {
        let (second, end) = (now.milliseconds / 1000, until.milliseconds / 1000)
        return try state.withLock { state throws(AccessStoreError) in
            if second > state.cleared {
                for old in state.ends.keys where old < second {
                    for nonce in state.ends.removeValue(forKey: old) ?? [] { state.nonces.remove(nonce) }
                }
                state.cleared = second
            }
            guard end >= state.cleared, !state.nonces.contains(nonce) else { return false }
            guard state.nonces.count < capacity else { throw .full }
            state.nonces.insert(nonce)
            state.ends[end, default: []].append(nonce)
            return true
        }
    }

    /// Nonces that are remembered now.
    package var count: Int { state.withLock { $0.nonces.count } }
}
