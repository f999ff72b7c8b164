/// The kinds of SSH keys that are kept (RFC 8709, RFC 5656, RFC 4253).
package enum SSHKeyKind: String, Sendable, Hashable, CaseIterable {
    case ed25519 = "ssh-ed25519"
    case p256 = "ecdsa-sha2-nistp256"
    case p384 = "ecdsa-sha2-nistp384"
    case p521 = "ecdsa-sha2-nistp521"
    case rsa = "ssh-rsa"

    /// What a certificate of a key is called: the kind and this.
    package static let certificateSuffix = "-cert-v01@openssh.com"
    /// Bits of the modulus of an RSA key.
    package static let moduli = 2048...4096
    /// Bytes of its public exponent, at most. Each verification costs its length, and 65,537 has three.
    static let longestExponent = 4

    /// The curve as ECDSA keys name it; nil for the other kinds.
    package var curve: String? {
        switch self {
        case .p256: "nistp256"
        case .p384: "nistp384"
        case .p521: "nistp521"
        case .ed25519, .rsa: nil
        }
    }

    /// Bytes of the seed or the scalar; 0 for RSA, whose numbers have many sizes.
    package var secretSize: Int {
        switch self {
        case .ed25519, .p256: 32
        case .p384: 48
        case .p521: 66
        case .rsa: 0
        }
    }

    /// Bytes of the public point, which is 04, x, y for ECDSA; 0 for RSA.
    package var pointSize: Int { curve == nil ? secretSize : 1 + 2 * secretSize }

    /// The public key as SSH writes it, of a kind that has a point (RFC 8709, section 4; RFC 5656, section 3.1).
    package func blob(_ point: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.string(rawValue)
        if let curve { writer.string(curve) }
        writer.string(point)
        return writer.bytes
    }

    /// The public key of an RSA key (RFC 4253, section 6.6); both numbers big endian.
    package static func blob(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.string(rsa.rawValue)
        writer.magnitude(exponent)
        writer.magnitude(modulus)
        return writer.bytes
    }

    /// The name of the signature that a request's flags ask for (draft-miller-ssh-agent, 3.6.1); nil where that
    /// is SHA-1: `ssh-rsa` (RFC 8332) is refused.
    package func signature(flags: UInt32) -> SSHSignatureName? {
        switch self {
        case .ed25519: .ed25519
        case .p256: .p256
        case .p384: .p384
        case .p521: .p521
        case .rsa: flags & 2 != 0 ? .rsaSHA256 : flags & 4 != 0 ? .rsaSHA512 : nil
        }
    }

    /// The names of the signatures that it makes.
    var signatures: [SSHSignatureName] { [2, 4].compactMap { signature(flags: $0) } }
}

/// How a signature is called, which says with what it was made.
package enum SSHSignatureName: String, Sendable, Hashable, CaseIterable {
    case ed25519 = "ssh-ed25519"
    case p256 = "ecdsa-sha2-nistp256"
    case p384 = "ecdsa-sha2-nistp384"
    case p521 = "ecdsa-sha2-nistp521"
    case rsaSHA256 = "rsa-sha2-256"
    case rsaSHA512 = "rsa-sha2-512"
}
