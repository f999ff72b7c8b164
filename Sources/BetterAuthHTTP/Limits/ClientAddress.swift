internal import SystemCalls

/// An IP address, as 128 bits; those of version 4 are mapped (RFC 4291, section 2.5.5.2).
package struct ClientAddress: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads an address without port; nil for anything else, names too.
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: Array(bytes[..<4]))
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// Takes 4 or 16 bytes; nil for another number.
    init?(bytes: [UInt8]) {
        let words = [bytes.prefix(8), bytes.dropFirst(8)].map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(high: 0, low: 0xFFFF_0000_0000 | words[0])
        case 16: self.init(high: words[0], low: words[1])
        default: return nil
        }
    }

    package var isVersion4: Bool { high == 0 && low >> 32 == 0xFFFF }

    package var isLoopback: Bool { isVersion4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1 }

    /// The unit that limits apply to: an IPv4 address, or an IPv6 network of 64 bits, the smallest that a subscriber
    /// has.
    var subscriber: ClientAddress { isVersion4 ? self : ClientAddress(high: high, low: 0) }

    package var description: String {
        if isVersion4 { return [24, 16, 8, 0].map { String(low >> $0 & 0xFF) }.joined(separator: ".") }
        let groups = [48, 32, 16, 0].map { String(high >> $0 & 0xFFFF, radix: 16) }
        return (groups + [48, 32, 16, 0].map { String(low >> $0 & 0xFFFF, radix: 16) }).joined(separator: ":")
    }
}

/// A block of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address.
package struct AddressBlock: Sendable, Hashable {
    private let first: ClientAddress
    private let bits: Int

    /// Reads a block; nil when the text is none.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = ClientAddress(String(parts[0])) else { return nil }
        let most = address.isVersion4 ? 32 : 128
        var length = most
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...most).contains(given) else { return nil }
            length = given
        }
        first = address
        bits = length + 128 - most
    }

    package func contains(_ address: ClientAddress) -> Bool {
        func mask(_ count: Int) -> UInt64 { count <= 0 ? 0 : count >= 64 ? .max : ~(.max >> UInt64(count)) }
        return (address.high ^ first.high) & mask(bits) == 0 && (address.low ^ first.low) & mask(bits - 64) == 0
    }
}
