internal import Synchronization

/// What peers that are no trusted proxies have sent of a proxy's headers, over all generations of a front.
final class ProxyClaims: Sendable {
    private struct Local {
        /// Peers of this machine that have, mostly one.
        var peers: Set<ClientAddress> = []
        /// When one of them did last.
        var last = -Double.infinity
    }

    private let isAny = Atomic(false)
    private let local = Mutex(Local())

    /// Seconds for which a claim tells that a proxy runs here. Any program of this machine can write one.
    private static let lasts = 600.0

    /// Whether one of this machine has of late: then a proxy runs here, and a request from this machine may be
    /// anybody's.
    /// - Parameter now: By the monotonic clock.
    func areLocal(now: Double) -> Bool { local.withLock { now - $0.last < ProxyClaims.lasts } }

    /// - Returns: Whether it is the first claim.
    func note(_ origin: RequestOrigin, now: Double) -> Bool {
        guard origin.way == .claimed else { return false }
        if origin.peer.isLoopback {
            local.withLock { local in
                if local.peers.count < 64 { local.peers.insert(origin.peer) }
                local.last = max(local.last, now)
            }
        }
        return !isAny.exchange(true, ordering: .relaxed)
    }

    /// Those that are still claims when these proxies are trusted: none when the proxies of this machine are among
    /// them.
    func trusting(_ proxies: [AddressBlock]) -> ProxyClaims {
        let known = local.withLock { $0.peers }
        let isMended = !known.isEmpty && known.allSatisfy { peer in proxies.contains { $0.contains(peer) } }
        return isMended ? ProxyClaims() : self
    }
}
