/// Where the parts of a private key in DER lie: PKCS #8 (RFC 5958, section 2), PKCS #1 (RFC 8017, appendix A.1.2) and
/// SEC 1 (RFC 5915, section 3).
package struct DERPrivateKey: Sendable, Hashable {
    package let kind: SSHKeyKind
    /// As ``SSHPrivateLayout/secrets``. A scalar may have zeros before it.
    package let secrets: [Range<Int>]
    /// Of RSA; the public part of the other kinds is computed.
    package let publicKey: SSHPublicKey?

    /// - Throws: ``SSHError``; ``SSHError/encrypted`` for a form that is.
    package init(_ form: SSHPrivateFile, _ bytes: RawSpan) throws(SSHError) {
        let whole = 0..<bytes.byteCount
        guard whole.count <= SSHPrivateFile.longest else { throw .invalid }
        switch form {
        case .openSSH: throw .invalid
        case .encrypted: throw .encrypted
        case .pkcs8: try self.init(wrapped: whole, bytes)
        case .pkcs1: try self.init(numbers: whole, bytes)
        case .sec1: try self.init(curve: whole, nil, bytes)
        }
    }

    /// The numbers of RSA keys (RFC 8017, appendix C), of Ed25519 (RFC 8410), of keys on curves, and of the curves (RFC
    /// 5480).
    private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    private static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
    private static let curveKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let curves: [[UInt8]: SSHKeyKind] = [
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]: .p256, [0x2B, 0x81, 0x04, 0x00, 0x22]: .p384,
        [0x2B, 0x81, 0x04, 0x00, 0x23]: .p521,
    ]

    private init(wrapped range: Range<Int>, _ bytes: RawSpan) throws(SSHError) {
        var reader = try DERReader(sequence: range, bytes)
        guard try reader.version(bytes) <= 1 else { throw .invalid }
        var algorithm = DERReader(try reader.value(.sequence, bytes))
        let key = try reader.value(.octets, bytes)
        switch bytes.bytes(in: try algorithm.value(.identifier, bytes)) {
        case DERPrivateKey.rsa: try self.init(numbers: key, bytes)
        case DERPrivateKey.curveKey:
            try self.init(curve: key, try DERPrivateKey.curve(&algorithm, bytes), bytes)
        case DERPrivateKey.ed25519:
            var inner = DERReader(key)
            let seed = try inner.value(.octets, bytes)
            guard inner.isAtEnd, seed.count == SSHKeyKind.ed25519.secretSize else { throw .invalid }
            self.init(ed25519: seed)
        default: throw .otherKey
        }
    }

    private init(ed25519 seed: Range<Int>) {
        (kind, secrets, publicKey) = (.ed25519, [seed], nil)
    }

    private init(numbers range: Range<Int>, _ bytes: RawSpan) throws(SSHError) {
        var reader = try DERReader(sequence: range, bytes)
        // Version 1 has more than two primes.
        guard try reader.version(bytes) == 0 else { throw .otherKey }
        var numbers: [Range<Int>] = []
        for _ in 0..<8 { numbers.append(try reader.number(bytes)) }
        guard reader.isAtEnd else { throw .invalid }
        let key = try SSHPublicKey(modulus: numbers[0], exponent: numbers[1], in: bytes)
        guard numbers[2...].allSatisfy({ (1...key.number.count).contains($0.count) }) else { throw .invalid }
        (kind, publicKey) = (.rsa, key)
        // 5 and 6, the private exponent modulo each prime less one, are computed again.
        secrets = [numbers[2], numbers[7], numbers[3], numbers[4]]
    }

    /// - Parameter told: The curve, where it was told before; nil where the key has to tell it.
    private init(curve range: Range<Int>, _ told: SSHKeyKind?, _ bytes: RawSpan) throws(SSHError) {
        var reader = try DERReader(sequence: range, bytes)
        guard try reader.version(bytes) == 1 else { throw .invalid }
        let scalar = try reader.value(.octets, bytes)
        if let told {
            kind = told
        } else {
            var parameters = DERReader(try reader.value(.parameters, bytes))
            kind = try DERPrivateKey.curve(&parameters, bytes)
        }
        guard (1...kind.secretSize).contains(scalar.count) else { throw .invalid }
        (secrets, publicKey) = ([scalar], nil)
    }

    private static func curve(_ reader: inout DERReader, _ bytes: RawSpan) throws(SSHError) -> SSHKeyKind {
        guard let kind = curves[bytes.bytes(in: try reader.value(.identifier, bytes))] else { throw .otherKey }
        return kind
    }
}

/// A place in values of DER (ITU-T X.690, 8.1).
private struct DERReader {
    enum Tag: UInt8 {
        case integer = 0x02, octets = 0x04, identifier = 0x06, sequence = 0x30, parameters = 0xA0
    }

    private var position: Int
    private let end: Int

    init(_ range: Range<Int>) { (position, end) = (range.lowerBound, range.upperBound) }

    /// What is in a sequence that is all of a part.
    init(sequence range: Range<Int>, _ bytes: RawSpan) throws(SSHError) {
        var reader = DERReader(range)
        let content = try reader.value(.sequence, bytes)
        guard reader.isAtEnd else { throw .invalid }
        self.init(content)
    }

    var isAtEnd: Bool { position == end }

    /// The content of the next value, which has this tag.
    mutating func value(_ tag: Tag, _ bytes: RawSpan) throws(SSHError) -> Range<Int> {
        guard end - position >= 2 else { throw .truncated }
        guard bytes[byte: position] == tag.rawValue else { throw .invalid }
        var (start, count) = (position + 2, Int(bytes[byte: position + 1]))
        if count >= 0x80 {
            let digits = count - 0x80
            guard 1...2 ~= digits else { throw .invalid }
            guard digits <= end - start else { throw .truncated }
            count = (start..<start + digits).reduce(0) { $0 << 8 | Int(bytes[byte: $1]) }
            // The shortest form is the only one.
            guard count >= (digits == 1 ? 0x80 : 0x100) else { throw .invalid }
            start += digits
        }
        guard count <= end - start else { throw .truncated }
        position = start + count
        return start..<position
    }

    mutating func version(_ bytes: RawSpan) throws(SSHError) -> UInt8 {
        let number = try value(.integer, bytes)
        guard number.count == 1 else { throw .invalid }
        return bytes[byte: number.lowerBound]
    }

    /// A positive number, without the zero before it.
    mutating func number(_ bytes: RawSpan) throws(SSHError) -> Range<Int> {
        let number = try value(.integer, bytes)
        guard let first = number.first, bytes[byte: first] & 0x80 == 0 else { throw .invalid }
        let digits = bytes[byte: first] == 0 ? number.dropFirst() : number
        guard let next = digits.first, bytes[byte: next] != 0, digits.count == number.count || bytes[byte: next] >= 0x80
        else { throw .invalid }
        return digits
    }
}
