/// The kinds of SSH keys that are kept.
package enum SSHKeyKind: String, Sendable, Hashable, CaseIterable {
    case ed25519 = "ssh-ed25519"
    case p256 = "ecdsa-sha2-nistp256"

    /// Bytes of the public part: a point of Edwards' curve, or 04, x, y.
    package var pointSize: Int { self == .ed25519 ? 32 : 65 }
    /// What the curve is called in the second kind's fields.
    package static let curve = "nistp256"
    /// Bytes of the seed or the scalar.
    package static let secretSize = 32

    /// The public key as SSH writes it (RFC 8709, section 4; RFC 5656, section 3.1).
    package func blob(_ point: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.string(rawValue)
        if self == .p256 { writer.string(SSHKeyKind.curve) }
        writer.string(point)
        return writer.bytes
    }
}

/// Where the parts of a private key lie, in the form in which OpenSSH writes it to files and to agents.
package struct SSHPrivateLayout: Sendable, Hashable {
    package let kind: SSHKeyKind
    /// The public part.
    package let point: Range<Int>
    /// The seed, 32 bytes, or the scalar, at most 32 bytes without zeros before it.
    package let secret: Range<Int>
    package let comment: String

    init(_ reader: inout SSHReader, _ bytes: RawSpan) throws(SSHError) {
        guard let kind = SSHKeyKind(rawValue: try reader.text(bytes)) else { throw .otherKey }
        self.kind = kind
        switch kind {
        case .ed25519:
            point = try reader.string(bytes)
            let both = try reader.string(bytes)
            guard both.count == 64 else { throw .invalid }
            secret = both.lowerBound..<both.lowerBound + SSHKeyKind.secretSize
        case .p256:
            guard try reader.text(bytes) == SSHKeyKind.curve else { throw .otherKey }
            point = try reader.string(bytes)
            var scalar = try reader.string(bytes)
            if scalar.count == SSHKeyKind.secretSize + 1, bytes.isZero(scalar.lowerBound) {
                scalar = scalar.lowerBound + 1..<scalar.upperBound
            }
            guard (1...SSHKeyKind.secretSize).contains(scalar.count) else { throw .invalid }
            secret = scalar
        }
        guard point.count == kind.pointSize else { throw .invalid }
        comment = try reader.text(bytes)
    }

    /// Reads the content of a file `BEGIN OPENSSH PRIVATE KEY`, out of base 64 (OpenSSH, PROTOCOL.key).
    /// - Throws: ``SSHError/encrypted`` for one with a passphrase; ``SSHError/otherKey``.
    package init(file bytes: RawSpan) throws(SSHError) {
        let magic = Array("openssh-key-v1\0".utf8)
        guard bytes.byteCount <= 65_536, bytes.byteCount >= magic.count else { throw .invalid }
        for (offset, byte) in magic.enumerated() {
            guard unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == byte else { throw .invalid }
        }
        var reader = SSHReader(magic.count..<bytes.byteCount)
        let (cipher, derivation) = (try reader.text(bytes), try reader.text(bytes))
        _ = try reader.string(bytes)
        guard try reader.number(bytes) == 1 else { throw .otherKey }
        _ = try reader.string(bytes)
        let section = try reader.string(bytes)
        try reader.expectEnd()
        guard cipher == "none", derivation == "none" else { throw .encrypted }
        var inner = SSHReader(section)
        guard try inner.number(bytes) == inner.number(bytes) else { throw .invalid }
        try self.init(&inner, bytes)
        var expected: UInt8 = 1
        while !inner.isAtEnd {
            guard try inner.byte(bytes) == expected, expected < 255 else { throw .invalid }
            expected += 1
        }
    }
}

extension RawSpan {
    fileprivate func isZero(_ offset: Int) -> Bool {
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0
    }
}
