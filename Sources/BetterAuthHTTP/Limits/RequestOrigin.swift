/// Where a request comes from: the address that limits apply to, and whether that address is proven.
package struct RequestOrigin: Sendable {
    /// How a request came here.
    enum Way: Sendable {
        /// Without a header of a proxy.
        case direct
        /// Through trusted proxies.
        case proxy
        /// With a proxy's header from an address that is not trusted: anyone may have written it.
        case claimed
    }

    /// The client's address; ``ClientAddress/unknown`` when a trusted proxy wrote something else there.
    package let address: ClientAddress
    let peer: ClientAddress
    let way: Way
    /// Whether the peer is a trusted proxy.
    let isTrusted: Bool

    /// - Parameters:
    ///   - forwarded: The values of every X-Forwarded-For line, in the order in which they came (RFC 9110, section
    ///     5.3).
    ///   - isMarked: Whether another header tells of a proxy.
    package init(
        peer: ClientAddress, forwarded: [String], isMarked: Bool = false, trusting proxies: [AddressBlock]
    ) {
        self.peer = peer
        isTrusted = proxies.contains { $0.contains(peer) }
        way = forwarded.isEmpty && !isMarked ? .direct : isTrusted ? .proxy : .claimed
        address = isTrusted ? RequestOrigin.client(peer, forwarded, proxies) : peer
    }

    /// The last address, read from the end, that is not a trusted proxy's.
    private static func client(
        _ peer: ClientAddress, _ forwarded: [String], _ proxies: [AddressBlock]
    ) -> ClientAddress {
        var client = peer
        for text in forwarded.reversed().lazy.flatMap({
            $0.split(separator: ",", omittingEmptySubsequences: false).reversed()
        }) {
            // What cannot be read is not the proxy that passed it on, and nothing in front of it can be trusted.
            guard let address = ClientAddress(forwarded: text) else { return .unknown }
            client = address
            guard proxies.contains(where: { $0.contains(client) }) else { break }
        }
        return client
    }

    /// Whether the address may be compared with a list of addresses that may do more.
    package var isProven: Bool { way != .claimed && address != .unknown }
}

extension ClientAddress {
    /// A client that a proxy does not name. All of them share one limit.
    package static let unknown = ClientAddress(high: 0, low: 0)

    /// An element of X-Forwarded-For: an address, and a port with some proxies.
    init?(forwarded text: Substring) {
        let bare = text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
        var address = String(bare)
        if address.hasPrefix("["), let end = address.firstIndex(of: "]") {
            let rest = address[address.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil else { return nil }
            address = String(address[..<end].dropFirst())
            guard address.contains(":") else { return nil }
        } else if address.contains("."), let colon = address.lastIndex(of: ":"), !address.hasPrefix(":"),
            address[..<colon].firstIndex(of: ":") == nil
        {
            guard UInt16(address[address.index(after: colon)...]) != nil else { return nil }
            address = String(address[..<colon])
        }
        self.init(address)
    }
}
