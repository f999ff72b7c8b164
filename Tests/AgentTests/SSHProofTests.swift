import Cryptography
import ProgramProtocols
import ProgramAccess
import SecretMemory
import TestSupport
import Testing

/// Hosts that sign the sessions that SSH programs tell of.
@Suite(.seeded) struct SSHProofTests {
    /// A message that a host has signed.
    private static func message(_ kind: SSHKeyKind, session: [UInt8], signed: [UInt8]) throws -> [UInt8] {
        var generator = SeededGenerator()
        let seed = (0..<32).map { _ in UInt8.random(in: 1...200, using: &generator) }
        let (point, value): ([UInt8], [UInt8])
        if kind == .ed25519 {
            let key = try unsafe Ed25519PrivateKey(seed: seed.span.bytes)
            (point, value) = (try key.publicKey(), try unsafe key.sign(signed.span.bytes))
        } else {
            let secret = try unsafe SecretBytes(copying: seed.span.bytes)
            let key = try P256PrivateKey(scalar: secret)
            (point, value) = (key.publicKey.uncompressed, try unsafe key.sign(signed.span.bytes))
        }
        // A reply to a request for a signature has it in the form in which hosts write it.
        let signature = Array(SSHAgentReply.signature(kind == .ed25519 ? .ed25519 : .p256, value).dropFirst(5))
        var writer = SSHWriter()
        writer.byte(27)
        writer.string("session-bind@openssh.com")
        for part in [kind.blob(point), session, signature] { writer.string(part) }
        writer.byte(0)
        return writer.bytes
    }

    private static func isProved(_ message: [UInt8]) -> Bool {
        let bytes = unsafe message.span.bytes
        guard case .bind(let binding?)? = try? SSHAgentRequest(parsing: bytes) else { return false }
        return binding.isProved(in: bytes)
    }

    @Test(arguments: [SSHKeyKind.ed25519, .p256])
    func `a host proves the session that it has signed, and no byte may differ`(kind: SSHKeyKind) throws {
        let session = [UInt8](repeating: 7, count: 32)
        let right = try Self.message(kind, session: session, signed: session)
        #expect(Self.isProved(right))
        #expect(try !Self.isProved(Self.message(kind, session: session, signed: [8] + session.dropFirst())))
        // Of y only the parity is used; with another y it is another host.
        let unused = kind == .p256 ? 105..<136 : 0..<0
        for index in 29..<right.count - 1 where !unused.contains(index) {
            var wrong = right
            wrong[index] ^= 1
            #expect(!Self.isProved(wrong), "byte \(index)")
        }
    }

    @Test(arguments: [SSHKeyKind.ed25519, .p256])
    func `a session without an identifier, or with one that is too long, is not proved`(kind: SSHKeyKind) throws {
        for count in [0, SSHSessions.longestID + 1] {
            let session = [UInt8](repeating: 7, count: count)
            #expect(try !Self.isProved(Self.message(kind, session: session, signed: session)))
        }
    }
}
