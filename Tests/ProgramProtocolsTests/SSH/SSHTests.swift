import ProgramProtocols
import TestSupport
import Testing

/// Messages and keys of SSH, with lengths that are right and with lengths that lie.
@Suite(.seeded) struct SSHTests {
    private func parse(_ bytes: [UInt8]) throws(SSHError) -> SSHAgentRequest {
        try unsafe SSHAgentRequest(parsing: bytes.span.bytes)
    }

    private static let ed25519: [UInt8] = {
        var writer = SSHWriter()
        writer.string("ssh-ed25519")
        writer.string([UInt8](repeating: 1, count: 32))
        writer.string([UInt8](repeating: 2, count: 64))
        writer.string("comment")
        return writer.bytes
    }()

    private static func p256(_ scalar: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.string("ecdsa-sha2-nistp256")
        writer.string("nistp256")
        writer.string([UInt8](repeating: 4, count: 65))
        writer.string(scalar)
        writer.string("")
        return writer.bytes
    }

    private static func rsa(
        modulus: Int = 256, last: UInt8 = 1, exponent: [UInt8] = [1, 0, 1], prime: Int = 128
    ) -> [UInt8] {
        var writer = SSHWriter()
        writer.string("ssh-rsa")
        writer.magnitude([UInt8](repeating: 0x80, count: modulus - 1) + [last])
        writer.magnitude(exponent)
        for size in [256, 128, prime, 128] { writer.magnitude([UInt8](repeating: 3, count: size)) }
        writer.string("comment")
        return writer.bytes
    }

    /// A certificate of a key, as an authority writes it.
    private static func certificate(_ kind: SSHKeyKind, type: UInt32 = 1) -> [UInt8] {
        var writer = SSHWriter()
        writer.string(kind.rawValue + SSHKeyKind.certificateSuffix)
        writer.string([UInt8](repeating: 5, count: 32))
        if let curve = kind.curve { writer.string(curve) }
        if kind == .rsa {
            writer.magnitude([1, 0, 1])
            writer.magnitude([UInt8](repeating: 0x80, count: 255) + [1])
        } else {
            writer.string([UInt8](repeating: 4, count: kind.pointSize))
        }
        for number in [0, 7] as [UInt32] { writer.number(number) }
        writer.number(type)
        for text in ["name", "ada"] { writer.string(text) }
        for _ in 0..<4 { writer.number(0) }
        for text in ["", "extensions", "", "authority", "signature"] { writer.string(text) }
        return writer.bytes
    }

    private static func plain(_ kind: SSHKeyKind) -> [UInt8] {
        kind == .rsa
            ? SSHKeyKind.blob(modulus: [UInt8](repeating: 0x80, count: 255) + [1], exponent: [1, 0, 1])
            : kind.blob([UInt8](repeating: 4, count: kind.pointSize))
    }

    private static func bind(_ forwarding: UInt8) -> [UInt8] {
        var writer = SSHWriter()
        writer.byte(27)
        writer.string("session-bind@openssh.com")
        for part in ["host", "session", "signature"] { writer.string(part) }
        writer.byte(forwarding)
        return writer.bytes
    }

    @Test func `each message is read`() throws {
        #expect(try parse([11]) == .identities)
        #expect(try parse([19]) == .removeAll)
        #expect(
            try parse([13, 0, 0, 0, 1, 7, 0, 0, 0, 2, 8, 9, 0, 0, 0, 0]) == .sign(key: 5..<6, data: 10..<12, flags: 0))
        #expect(try parse([18, 0, 0, 0, 1, 7]) == .remove(key: 5..<6))
        #expect(try parse([22, 0, 0, 0, 1, 7]) == .lock(passphrase: 5..<6))
        #expect(try parse([23, 0, 0, 0, 0]) == .unlock(passphrase: 5..<5))
        for flag in [0, 1] as [UInt8] {
            guard case .bind(let binding?) = try parse(Self.bind(flag)) else { throw SSHError.invalid }
            #expect(binding.isForwarded == (flag == 1) && binding.host.count == 4 && binding.session.count == 7)
        }
        #expect(try parse([99, 1, 2]) == .unknown && parse([20]) == .unknown)
        guard case .add(let key, let none) = try parse([17] + Self.ed25519) else { throw SSHError.invalid }
        #expect(
            key.kind == .ed25519 && key.secrets.map(\.count) == [32] && key.comment == "comment" && none.lifetime == nil
        )
        let constraints: [UInt8] = [1, 0, 0, 1, 0, 2]
        guard case .add(_, let both) = try parse([25] + Self.ed25519 + constraints) else { throw SSHError.invalid }
        #expect(both.lifetime == 256 && both.needsConfirmation)
        for scalar in [[UInt8](repeating: 9, count: 32), [0] + [UInt8](repeating: 0x90, count: 32), [5]] {
            guard case .add(let key, _) = try parse([17] + Self.p256(scalar)) else { throw SSHError.invalid }
            #expect(key.kind == .p256 && key.secrets.map(\.count) == [min(scalar.count, 32)])
        }
    }

    @Test func `a key of RSA is read, and signs with no SHA-1`() throws {
        guard case .add(let key, _) = try parse([17] + Self.rsa()) else { throw SSHError.invalid }
        #expect(key.kind == .rsa && key.secrets.map(\.count) == [256, 128, 128, 128] && key.comment == "comment")
        #expect(key.publicKey.number.count == 256 && key.publicKey.exponent?.count == 3)
        #expect(
            [0, 1, 2, 4, 6].map { SSHKeyKind.rsa.signature(flags: $0) } == [
                nil, nil, .rsaSHA256, .rsaSHA512, .rsaSHA256,
            ])
        #expect([0, 2, 4].map { SSHKeyKind.ed25519.signature(flags: $0) } == [.ed25519, .ed25519, .ed25519])
    }

    @Test(arguments: SSHKeyKind.allCases)
    func `a certificate is about its key, and nothing that is cut or changed is about another one`(kind: SSHKeyKind)
        throws
    {
        let (whole, key) = (Self.certificate(kind), Self.plain(kind))
        #expect(SSHPublicKey.plain(whole) == key && SSHPublicKey.plain(key) == key)
        let read = try unsafe SSHPublicKey(parsing: 0..<whole.count, in: whole.span.bytes)
        #expect(read.isCertificate && read.kind == kind)
        for count in 0..<whole.count { #expect(SSHPublicKey.plain(Array(whole[..<count])) == Array(whole[..<count])) }
        #expect(SSHPublicKey.plain(whole + [0]) == whole + [0])
        let ofHost = Self.certificate(kind, type: 2)
        #expect(SSHPublicKey.plain(ofHost) == ofHost)
        // A login names either, and how it is signed.
        let (_, isRSA) = (kind, kind == .rsa)
        for (name, blob) in [(kind.rawValue, key), (kind.rawValue + SSHKeyKind.certificateSuffix, whole)] {
            let names = isRSA ? ["rsa-sha2-256", "rsa-sha2-512"].map { name.replacing("ssh-rsa", with: $0) } : [name]
            for algorithm in names + ["ssh-dss"] + (isRSA ? [name] : []) {
                let login = Self.login(algorithm, blob)
                let isRead = (try? unsafe SSHLogin(parsing: login.span.bytes, key: blob)) != nil
                #expect(isRead == names.contains(algorithm), "\(algorithm)")
                #expect(throws: SSHError.self) { try unsafe SSHLogin(parsing: login.span.bytes, key: blob + [0]) }
            }
        }
    }

    private static func login(_ algorithm: String, _ blob: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.string("session")
        writer.byte(50)
        for text in ["ada", "ssh-connection", "publickey"] { writer.string(text) }
        writer.byte(1)
        writer.string(algorithm)
        writer.string(blob)
        return writer.bytes
    }

    @Test(
        arguments: [
            ([], .truncated), ([11, 0], .invalid), ([13], .truncated), ([13, 255, 255, 255, 255], .truncated),
            ([18, 0, 0, 0, 2, 7], .truncated), ([18, 0, 0, 0, 1, 7, 7], .invalid), ([22, 0, 0, 0, 9], .truncated),
            ([17, 0, 0, 0, 7] + Array("ssh-dss".utf8), .otherKey), ([25] + ed25519 + [3], .invalid),
            ([25] + ed25519 + [255, 0, 0, 0, 0], .invalid), ([25] + ed25519 + [1, 0, 0], .truncated),
            ([25] + ed25519 + [1, 0, 0, 0, 1, 1, 0, 0, 0, 1], .invalid), ([17] + ed25519 + [0], .invalid),
            ([17] + p256([]), .invalid), ([17] + p256([0x80]), .invalid), ([17] + p256([0, 0]), .invalid),
            ([17] + rsa(modulus: 255), .unsafeKey), ([17] + rsa(modulus: 513), .unsafeKey),
            ([17] + rsa(last: 2), .unsafeKey), ([17] + rsa(exponent: [1]), .unsafeKey),
            ([17] + rsa(exponent: [1, 0, 0]), .unsafeKey), ([17] + rsa(exponent: [1, 0, 0, 0, 1]), .unsafeKey),
            ([17] + rsa(exponent: []), .unsafeKey), ([17] + rsa(prime: 257), .invalid),
            ([17] + rsa(prime: 0), .invalid),
            ([17] + p256([UInt8](repeating: 1, count: 33)), .invalid),
            ([UInt8](repeating: 11, count: 16_385), .invalid),
        ] as [([UInt8], SSHError)])
    func `a message whose lengths lie is refused`(bytes: [UInt8], error: SSHError) {
        #expect(throws: error) { try parse(bytes) }
    }

    /// A step that cannot be read is still a step: what follows must not be held to the step before it.
    @Test func `a binding that is cut or too long is one without a host`() throws {
        let whole = Self.bind(1)
        #expect(try parse(whole + [0]) == .bind(nil))
        for count in 29..<whole.count { #expect(try parse(Array(whole[..<count])) == .bind(nil), "\(count) bytes") }
    }

    @Test func `no cut and no change of a byte is taken for something outside of the message`() throws {
        var generator = SeededGenerator()
        let samples = [
            [17] + Self.ed25519, [17] + Self.rsa(), [25] + Self.p256([1, 2, 3]) + [2], Self.bind(1),
            [13] + Self.ed25519,
        ]
        for sample in samples {
            for count in 0..<sample.count { _ = try? parse(Array(sample[..<count])) }
            for _ in 0..<500 {
                var bytes = sample
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                guard case .sign(let key, let data, _)? = try? parse(bytes) else { continue }
                #expect(key.upperBound <= bytes.count && data.upperBound <= bytes.count)
            }
        }
    }

    @Test func `numbers are written without zeros before them, and never negative`() {
        var writer = SSHWriter()
        writer.magnitude([0, 0, 1])
        writer.magnitude([0, 0x80])
        writer.magnitude([0])
        #expect(writer.bytes == [0, 0, 0, 1, 1, 0, 0, 0, 2, 0, 0x80, 0, 0, 0, 0])
    }
}
