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
        #expect(try parse([13, 0, 0, 0, 1, 7, 0, 0, 0, 2, 8, 9, 0, 0, 0, 0]) == .sign(key: 5..<6, data: 10..<12))
        #expect(try parse([18, 0, 0, 0, 1, 7]) == .remove(key: 5..<6))
        #expect(try parse([22, 0, 0, 0, 1, 7]) == .lock(passphrase: 5..<6))
        #expect(try parse([23, 0, 0, 0, 0]) == .unlock(passphrase: 5..<5))
        for flag in [0, 1] as [UInt8] {
            guard case .bind(let binding?) = try parse(Self.bind(flag)) else { throw SSHError.invalid }
            #expect(binding.isForwarded == (flag == 1) && binding.host.count == 4 && binding.session.count == 7)
        }
        #expect(try parse([99, 1, 2]) == .unknown && parse([20]) == .unknown)
        guard case .add(let key, let none) = try parse([17] + Self.ed25519) else { throw SSHError.invalid }
        #expect(key.kind == .ed25519 && key.secret.count == 32 && key.comment == "comment" && none.lifetime == nil)
        let constraints: [UInt8] = [1, 0, 0, 1, 0, 2]
        guard case .add(_, let both) = try parse([25] + Self.ed25519 + constraints) else { throw SSHError.invalid }
        #expect(both.lifetime == 256 && both.needsConfirmation)
        for scalar in [[UInt8](repeating: 9, count: 32), [0] + [UInt8](repeating: 0x90, count: 32), [5]] {
            guard case .add(let key, _) = try parse([17] + Self.p256(scalar)) else { throw SSHError.invalid }
            #expect(key.kind == .p256 && key.secret.count == min(scalar.count, 32))
        }
    }

    @Test(
        arguments: [
            ([], .truncated), ([11, 0], .invalid), ([13], .truncated), ([13, 255, 255, 255, 255], .truncated),
            ([18, 0, 0, 0, 2, 7], .truncated), ([18, 0, 0, 0, 1, 7, 7], .invalid), ([22, 0, 0, 0, 9], .truncated),
            ([17, 0, 0, 0, 7] + Array("ssh-rsa".utf8), .otherKey), ([25] + ed25519 + [3], .invalid),
            ([25] + ed25519 + [255, 0, 0, 0, 0], .invalid), ([25] + ed25519 + [1, 0, 0], .truncated),
            ([25] + ed25519 + [1, 0, 0, 0, 1, 1, 0, 0, 0, 1], .invalid), ([17] + ed25519 + [0], .invalid),
            ([17] + p256([]), .invalid), ([17] + p256([UInt8](repeating: 1, count: 33)), .invalid),
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
        let samples = [[17] + Self.ed25519, [25] + Self.p256([1, 2, 3]) + [2], Self.bind(1), [13] + Self.ed25519]
        for sample in samples {
            for count in 0..<sample.count { _ = try? parse(Array(sample[..<count])) }
            for _ in 0..<500 {
                var bytes = sample
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                guard case .sign(let key, let data)? = try? parse(bytes) else { continue }
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
