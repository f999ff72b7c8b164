/// Where the parts of a public key lie, or of a certificate of one (OpenSSH, PROTOCOL.certkeys).
package struct SSHPublicKey: Sendable, Hashable {
    package let kind: SSHKeyKind
    /// The point; of RSA the modulus, without zeros before it.
    package let number: Range<Int>
    /// Of RSA the public exponent.
    package let exponent: Range<Int>?
    /// Whether an authority has signed it.
    package let isCertificate: Bool

    /// Bytes of a certificate, at most: it names those it is for, and what it allows.
    package static let longestCertificate = 8_192

    /// Reads a whole key or certificate. A certificate of a host is refused: no client has a use for it.
    ///
    /// Who signed a certificate, until when and for whom is for the server to judge, which knows its authority.
    /// - Throws: ``SSHError``.
    package init(parsing range: Range<Int>, in bytes: RawSpan) throws(SSHError) {
        guard range.count <= SSHPublicKey.longestCertificate else { throw .invalid }
        var reader = SSHReader(range)
        (kind, isCertificate) = try SSHPublicKey.name(&reader, bytes)
        if isCertificate { _ = try reader.string(bytes) }  // a random number
        if kind == .rsa {
            exponent = try SSHPublicKey.exponent(&reader, bytes)
            number = try SSHPublicKey.modulus(&reader, bytes)
        } else {
            exponent = nil
            number = try SSHPublicKey.point(kind, &reader, bytes)
        }
        if isCertificate {
            try reader.skip(8)  // its serial number
            guard try reader.number(bytes) == 1 else { throw .invalid }
            for _ in 0..<2 { _ = try reader.string(bytes) }  // its name, and those it is for
            try reader.skip(16)  // its time
            for _ in 0..<5 { _ = try reader.string(bytes) }  // conditions, authority, signature
        }
        try reader.expectEnd()
    }

    /// A key's parts in the order in which private keys have them.
    init(ofPrivate kind: SSHKeyKind, _ reader: inout SSHReader, _ bytes: RawSpan) throws(SSHError) {
        self.kind = kind
        isCertificate = false
        if kind == .rsa {
            number = try SSHPublicKey.modulus(&reader, bytes)
            exponent = try SSHPublicKey.exponent(&reader, bytes)
        } else {
            number = try SSHPublicKey.point(kind, &reader, bytes)
            exponent = nil
        }
    }

    /// What an RSA key of another form has.
    init(modulus: Range<Int>, exponent: Range<Int>, in bytes: RawSpan) throws(SSHError) {
        (kind, isCertificate) = (.rsa, false)
        number = try SSHPublicKey.checked(modulus: modulus, bytes)
        self.exponent = try SSHPublicKey.checked(exponent: exponent, bytes)
    }

    /// The key as SSH writes it; of a certificate, the key that it is for.
    package func blob(in bytes: RawSpan) -> [UInt8] {
        guard let exponent else { return kind.blob(bytes.bytes(in: number)) }
        return SSHKeyKind.blob(modulus: bytes.bytes(in: number), exponent: bytes.bytes(in: exponent))
    }

    /// The key that a listed one is about: of a certificate its own, of anything else the same bytes.
    package static func plain(_ listed: [UInt8]) -> [UInt8] {
        let bytes = unsafe listed.span.bytes
        guard let key = try? SSHPublicKey(parsing: 0..<listed.count, in: bytes), key.isCertificate else {
            return listed
        }
        return key.blob(in: bytes)
    }

    static func name(
        _ reader: inout SSHReader, _ bytes: RawSpan
    ) throws(SSHError) -> (kind: SSHKeyKind, isCertificate: Bool) {
        let name = try reader.text(bytes)
        let suffix = SSHKeyKind.certificateSuffix.utf8
        let isCertificate = name.utf8.suffix(suffix.count).elementsEqual(suffix)
        let plain = isCertificate ? String(decoding: name.utf8.dropLast(suffix.count), as: UTF8.self) : name
        guard let kind = SSHKeyKind(rawValue: plain) else { throw .otherKey }
        return (kind, isCertificate)
    }

    private static func point(
        _ kind: SSHKeyKind, _ reader: inout SSHReader, _ bytes: RawSpan
    ) throws(SSHError) -> Range<Int> {
        if let curve = kind.curve { guard try reader.text(bytes) == curve else { throw .otherKey } }
        let point = try reader.string(bytes)
        guard point.count == kind.pointSize else { throw .invalid }
        return point
    }

    private static func modulus(_ reader: inout SSHReader, _ bytes: RawSpan) throws(SSHError) -> Range<Int> {
        try checked(modulus: try reader.magnitude(bytes), bytes)
    }

    private static func exponent(_ reader: inout SSHReader, _ bytes: RawSpan) throws(SSHError) -> Range<Int> {
        try checked(exponent: try reader.magnitude(bytes), bytes)
    }

    private static func checked(modulus: Range<Int>, _ bytes: RawSpan) throws(SSHError) -> Range<Int> {
        guard let first = modulus.first, modulus.count <= SSHKeyKind.moduli.upperBound / 8 else { throw .unsafeKey }
        let bits = 8 * modulus.count - bytes[byte: first].leadingZeroBitCount
        guard SSHKeyKind.moduli.contains(bits), bytes[byte: modulus.upperBound - 1] & 1 == 1 else { throw .unsafeKey }
        return modulus
    }

    private static func checked(exponent: Range<Int>, _ bytes: RawSpan) throws(SSHError) -> Range<Int> {
        guard (1...SSHKeyKind.longestExponent).contains(exponent.count) else { throw .unsafeKey }
        let value = exponent.reduce(0) { $0 << 8 | Int(bytes[byte: $1]) }
        guard value >= 3, value & 1 == 1 else { throw .unsafeKey }
        return exponent
    }
}

extension RawSpan {
    /// One byte; an offset outside is our own mistake and traps.
    subscript(byte offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
