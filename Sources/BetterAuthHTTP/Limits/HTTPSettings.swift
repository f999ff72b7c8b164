/// What a front allows and how it runs.
package struct HTTPSettings: Sendable {
    /// Threads that serve connections.
    package var threads = 2
    /// Bytes of a body.
    package var maximumBody = 65_536
    /// Connections at one time.
    package var connections = 10_000
    /// Connections of one address at one time.
    package var connectionsPerAddress = 1024
    /// Seconds from the first byte of a request, or the end of the one before, to its last byte.
    package var requestSeconds = 20
    /// Bytes of memory for a connection: its request line and headers must fit.
    package var memory = 16_384
    /// Seconds for which a stop waits for requests under way.
    package var stopSeconds = 30
    /// Proxies whose word about the client's address counts.
    package var trustedProxies: [AddressBlock] = []
    /// PEM texts; both, or neither.
    package var certificate: String?
    package var key: String?

    package init() {}
}
