internal import Synchronization
internal import SystemCalls

/// One connection.
final class HTTPPeer: Sendable {
    let address: ClientAddress
    let descriptor: Int32
    /// Whether its address may have only so many connections: a proxy's are those of many clients.
    let isLimited: Bool
    /// When it began, or its last request ended; infinity while a request is being answered.
    let restingSince: Mutex<Double>
    /// Of the request whose head is being read; nil before it came.
    let target = Mutex<HTTPTarget?>(nil)

    init(_ address: ClientAddress, _ descriptor: Int32, isLimited: Bool, now: Double) {
        self.address = address
        self.isLimited = isLimited
        self.descriptor = descriptor
        restingSince = Mutex(now)
    }
}

/// Every connection there is. Slow ones cost no thread, but a place: each has so long for a request.
final class HTTPPeers: Sendable {
    private struct State {
        var peers: [ObjectIdentifier: HTTPPeer] = [:]
        var perAddress: [ClientAddress: Int] = [:]
    }

    private let state = Mutex(State())
    private let perAddress: Int
    private let counters: FrontCounters

    init(perAddress: Int, _ counters: FrontCounters) {
        self.perAddress = perAddress
        self.counters = counters
    }

    var count: Int { state.withLock { $0.peers.count } }

    /// Takes a connection in; one too many of its address is ended.
    func add(_ peer: HTTPPeer) {
        state.withLock { state in
            state.peers[ObjectIdentifier(peer)] = peer
            let name = peer.address.subscriber
            state.perAddress[name, default: 0] += 1
            counters.opened()
            guard peer.isLimited, state.perAddress[name, default: 0] > perAddress else { return }
            counters.refuse()
            _ = shutdown(peer.descriptor, Int32(SHUT_RDWR))
        }
    }

    func remove(_ peer: HTTPPeer) {
        state.withLock { state in
            state.peers[ObjectIdentifier(peer)] = nil
            counters.closed()
            let name = peer.address.subscriber
            let count = (state.perAddress[name] ?? 1) - 1
            state.perAddress[name] = count > 0 ? count : nil
        }
    }

    /// Whether each has rested since then: none is new, and none has a request under way.
    func areQuiet(since moment: Double) -> Bool {
        state.withLock { $0.peers.values.allSatisfy { $0.restingSince.withLock { $0 } <= moment } }
    }

    /// Ends connections whose request does not come: those that send a byte now and then too.
    func endSlow(before moment: Double) {
        state.withLock { state in
            for peer in state.peers.values where peer.restingSince.withLock({ $0 }) < moment {
                // Its thread sees the end and closes; the number cannot be another connection's before it is removed
                // here.
                _ = shutdown(peer.descriptor, Int32(SHUT_RDWR))
            }
        }
    }
}
