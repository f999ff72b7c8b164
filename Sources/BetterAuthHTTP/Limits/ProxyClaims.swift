internal import Synchronization

/// What peers that are no trusted proxies have sent of a proxy's headers, over all generations of a front.
final class ProxyClaims: Sendable {
    private let isAny = Atomic(false)
    private let isLocal = Atomic(false)
    /// Peers of this machine that have, mostly one.
    private let local = Mutex<Set<ClientAddress>>([])

    /// Whether one of this machine has: then a proxy runs here, and a request from this machine may be anybody's.
    var areLocal: Bool { isLocal.load(ordering: .relaxed) }

    /// - Returns: Whether it is the first claim.
    func note(_ origin: RequestOrigin) -> Bool {
        guard origin.way == .claimed else { return false }
        if origin.peer.isLoopback {
            local.withLock { if $0.count < 64 { $0.insert(origin.peer) } }
            isLocal.store(true, ordering: .relaxed)
        }
        return !isAny.exchange(true, ordering: .relaxed)
    }

    /// Those that are still claims when these proxies are trusted: none when the proxies of this machine are among them.
    func trusting(_ proxies: [AddressBlock]) -> ProxyClaims {
        let known = local.withLock { $0 }
        let isMended = !known.isEmpty && known.allSatisfy { peer in proxies.contains { $0.contains(peer) } }
        return isMended ? ProxyClaims() : self
    }
}
