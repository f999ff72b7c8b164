internal import SystemCalls

/// What a front allows and how it runs.
package struct HTTPSettings: Sendable {
    /// Threads that serve connections: one for each processor of this machine, since a request is nearly all
    /// signatures; two where there is one, so that a disk keeps nobody else waiting.
    package var threads = min(max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))), 64)
    /// Bytes of a body.
    package var maximumBody = 65_536
    /// Connections at one time.
    package var connections = 10_000
    /// Connections of one address at one time: a proxy that is not trusted is one address, and no address has more than
    /// a tenth of them all.
    package var connectionsPerAddress = 1024
    /// Seconds from the first byte of a request, or the end of the one before, to its last byte: a slow network brings
    /// 64 KiB in less, and who sends a byte now and then has a connection no longer.
    package var requestSeconds = 20
    /// Bytes of a request line and headers.
    package var maximumHead = 16_384
    /// Bytes of memory for a connection: heads that are too large must fit too, so that the refusal is one of ours.
    package var memory = 40_960
    /// Seconds for which a stop waits for requests under way.
    package var stopSeconds = 30
    /// Proxies whose word about the client's address counts.
    package var trustedProxies: [AddressBlock] = []
    /// Called once, with the address of the first peer that is no trusted proxy and sends a proxy's headers.
    package var onUntrustedProxy: @Sendable (ClientAddress) -> Void = { _ in }
    /// Called once when the system allows fewer descriptors than the connections need: the limit, and what is needed.
    package var onFewDescriptors: @Sendable (Int, Int) -> Void = { _, _ in }
    /// Counts the connections.
    package private(set) var counters = FrontCounters()
    /// What peers have claimed that are no trusted proxies.
    private(set) var claims = ProxyClaims()
    /// PEM texts; both, or neither.
    package var certificate: String?
    package var key: String?

    /// Milliseconds for which a stop waits for the next request of a connection that was used, or made, just now: a
    /// request that is on its way is answered.
    package var quietMilliseconds = 250

    package init() {}

    /// Whether a front that has started with these settings serves as one with the others would.
    package func servesLike(_ other: HTTPSettings) -> Bool {
        (maximumBody, connectionsPerAddress, requestSeconds, maximumHead, memory, stopSeconds)
            == (
                other.maximumBody, other.connectionsPerAddress, other.requestSeconds, other.maximumHead, other.memory,
                other.stopSeconds
            )
            && (trustedProxies, certificate, key, quietMilliseconds)
                == (other.trustedProxies, other.certificate, other.key, other.quietMilliseconds)
    }

    /// The same, for a front that continues where another one is: with its counts, and with what was seen there of
    /// proxies that are not trusted.
    package func counting(with other: HTTPSettings) -> HTTPSettings {
        var settings = self
        settings.counters = other.counters
        settings.claims = other.claims.trusting(trustedProxies)
        return settings
    }
}
