/// Where the parts of a private key lie, in the form in which OpenSSH writes it to files and to agents.
package struct SSHPrivateLayout: Sendable, Hashable {
    package let publicKey: SSHPublicKey
    /// The certificate, for a key that comes with one.
    package let certificate: Range<Int>?
    /// The seed; the scalar, without zeros before it; or four numbers of RSA, without zeros before them: the private
    /// exponent, the inverse of the second prime, both primes.
    package let secrets: [Range<Int>]
    package let comment: String

    package var kind: SSHKeyKind { publicKey.kind }

    init(_ reader: inout SSHReader, _ bytes: RawSpan) throws(SSHError) {
        let (kind, isCertificate) = try SSHPublicKey.name(&reader, bytes)
        if isCertificate {
            let certificate = try reader.string(bytes)
            self.certificate = certificate
            publicKey = try SSHPublicKey(parsing: certificate, in: bytes)
            guard publicKey.isCertificate, publicKey.kind == kind else { throw .invalid }
            if kind == .ed25519 {
                let point = try reader.string(bytes)
                guard bytes.bytes(in: point) == bytes.bytes(in: publicKey.number) else { throw .invalid }
            }
        } else {
            certificate = nil
            publicKey = try SSHPublicKey(ofPrivate: kind, &reader, bytes)
        }
        secrets = try SSHPrivateLayout.secrets(kind, publicKey, &reader, bytes)
        comment = try reader.text(bytes)
    }

    private static func secrets(
        _ kind: SSHKeyKind, _ key: SSHPublicKey, _ reader: inout SSHReader, _ bytes: RawSpan
    ) throws(SSHError) -> [Range<Int>] {
        switch kind {
        case .ed25519:
            let both = try reader.string(bytes)
            guard both.count == 2 * kind.secretSize else { throw .invalid }
            return [both.lowerBound..<both.lowerBound + kind.secretSize]
        case .p256, .p384, .p521:
            let scalar = try reader.magnitude(bytes)
            guard (1...kind.secretSize).contains(scalar.count) else { throw .invalid }
            return [scalar]
        case .rsa:
            var numbers: [Range<Int>] = []
            for _ in 0..<4 {
                let number = try reader.magnitude(bytes)
                guard (1...key.number.count).contains(number.count) else { throw .invalid }
                numbers.append(number)
            }
            return numbers
        }
    }

    /// Reads the content of a file `BEGIN OPENSSH PRIVATE KEY`, out of base 64 (OpenSSH, PROTOCOL.key).
    /// - Throws: ``SSHError/encrypted`` for one with a passphrase; ``SSHError/otherKey``.
    package init(file bytes: RawSpan) throws(SSHError) {
        let magic = SSHPrivateFile.magic
        guard bytes.byteCount <= SSHPrivateFile.longest, bytes.byteCount >= magic.count else { throw .invalid }
        for (offset, byte) in magic.enumerated() {
            guard bytes[byte: offset] == byte else { throw .invalid }
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

/// The forms of files of private keys.
package enum SSHPrivateFile: CaseIterable, Sendable {
    /// OpenSSH's own.
    case openSSH
    case pkcs8, pkcs1, sec1
    /// PKCS #8 with a passphrase.
    case encrypted

    /// The first line of a file. What is between it and the last one is in base 64.
    package var begin: StaticString {
        switch self {
        case .openSSH: "-----BEGIN OPENSSH PRIVATE KEY-----"
        case .pkcs8: "-----BEGIN PRIVATE KEY-----"
        case .pkcs1: "-----BEGIN RSA PRIVATE KEY-----"
        case .sec1: "-----BEGIN EC PRIVATE KEY-----"
        case .encrypted: "-----BEGIN ENCRYPTED PRIVATE KEY-----"
        }
    }

    package var end: StaticString {
        switch self {
        case .openSSH: "-----END OPENSSH PRIVATE KEY-----"
        case .pkcs8: "-----END PRIVATE KEY-----"
        case .pkcs1: "-----END RSA PRIVATE KEY-----"
        case .sec1: "-----END EC PRIVATE KEY-----"
        case .encrypted: "-----END ENCRYPTED PRIVATE KEY-----"
        }
    }

    package static let magic = Array("openssh-key-v1\0".utf8)
    /// Bytes of such a file, at most.
    package static let longest = 65_536
}
