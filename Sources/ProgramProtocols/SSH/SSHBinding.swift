/// What ssh says about a connection to the agent: that it is for this session with this host, which has signed the
/// session (OpenSSH, PROTOCOL.agent, `session-bind@openssh.com`). Parts are named by where they lie in the message.
package struct SSHBinding: Sendable, Hashable {
    package let host: Range<Int>
    package let session: Range<Int>
    package let signature: Range<Int>
    /// The agent itself is handed on to the host.
    package let isForwarded: Bool

    init(_ reader: inout SSHReader, _ bytes: RawSpan) throws(SSHError) {
        host = try reader.string(bytes)
        session = try reader.string(bytes)
        signature = try reader.string(bytes)
        isForwarded = try reader.flag(bytes)
    }

    /// The host's signature in the parts that a verification takes.
    package struct Proof: Sendable, Hashable {
        package let kind: SSHKeyKind
        /// The host's public point.
        package let point: [UInt8]
        /// 64 bytes: that of Ed25519, or r and s.
        package let signature: [UInt8]
    }

    /// - Throws: ``SSHError/otherKey`` for hosts with keys of other kinds, RSA for example; ``SSHError/invalid`` and
    ///   ``SSHError/truncated`` for what is no key, no signature, or no session.
    package func proof(in bytes: RawSpan) throws(SSHError) -> Proof {
        guard (1...SSHSessions.longestID).contains(session.count) else { throw .invalid }
        var key = SSHReader(host)
        guard let kind = SSHKeyKind(rawValue: try key.text(bytes)), kind == .ed25519 || kind == .p256 else {
            throw .otherKey
        }
        if let curve = kind.curve { guard try key.text(bytes) == curve else { throw .otherKey } }
        let point = try key.string(bytes)
        try key.expectEnd()
        var outer = SSHReader(signature)
        guard point.count == kind.pointSize, try outer.text(bytes) == kind.rawValue else { throw .invalid }
        let inner = try outer.string(bytes)
        try outer.expectEnd()
        var value: [UInt8] = []
        if kind == .ed25519 {
            value = bytes.bytes(in: inner)
        } else {
            var numbers = SSHReader(inner)
            for _ in 0..<2 {
                let number = bytes.bytes(in: try numbers.string(bytes)).drop { $0 == 0 }
                guard number.count <= 32 else { throw .invalid }
                value += [UInt8](repeating: 0, count: 32 - number.count) + number
            }
            try numbers.expectEnd()
        }
        guard value.count == 64 else { throw .invalid }
        return Proof(kind: kind, point: bytes.bytes(in: point), signature: value)
    }
}

/// What ssh has signed to log in (RFC 4252, section 7; OpenSSH, PROTOCOL, `publickey-hostbound-v00@openssh.com`).
package struct SSHLogin: Sendable, Hashable {
    package let session: [UInt8]
    package let user: [UInt8]
    /// The key of the host, where the host asks for logins that name it.
    package let host: [UInt8]?

    /// - Parameter key: The public key that is to sign, or the certificate.
    /// - Throws: ``SSHError`` for everything that is no login with this key.
    package init(parsing bytes: RawSpan, key: [UInt8]) throws(SSHError) {
        var reader = SSHReader(0..<bytes.byteCount)
        session = bytes.bytes(in: try reader.string(bytes))
        guard !session.isEmpty, try reader.byte(bytes) == 50 else { throw .invalid }
        user = Array(try reader.text(bytes).utf8)
        guard try reader.text(bytes) == "ssh-connection" else { throw .invalid }
        let method = try reader.text(bytes)
        guard try reader.byte(bytes) == 1 else { throw .invalid }
        let algorithm = try reader.text(bytes)
        let named = try reader.string(bytes)
        var inner = SSHReader(named)
        let (kind, isCertificate) = try SSHPublicKey.name(&inner, bytes)
        // A key of RSA is named by its kind, and its signatures by their hash.
        let names = kind.signatures.map { $0.rawValue + (isCertificate ? SSHKeyKind.certificateSuffix : "") }
        guard bytes.bytes(in: named) == key, names.contains(algorithm) else { throw .invalid }
        switch method {
        case "publickey": host = nil
        case "publickey-hostbound-v00@openssh.com": host = bytes.bytes(in: try reader.string(bytes))
        default: throw .invalid
        }
        try reader.expectEnd()
    }
}
