import Cryptography
import SecretMemory
import TestSupport
import Testing

/// Elliptic-curve Diffie-Hellman on P-256, and boxes sealed with it.
@Suite(.seeded) struct P256AgreementTests {
    /// Scalar, peer's point (compressed) and shared x.
    private static let vectors: [(scalar: [UInt8], peer: [UInt8], shared: [UInt8])] = [
        // NIST CAVP, KAS ECC CDH primitive, P-256, count 0.
        (
            hexBytes("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534"),
            hexBytes("02700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287"),
            hexBytes("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b")
        ),
        // RFC 5903, 8.1, from both sides.
        (
            hexBytes("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433"),
            hexBytes("03d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63"),
            hexBytes("d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de")
        ),
        (
            hexBytes("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53"),
            hexBytes("03dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180"),
            hexBytes("d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de")
        ),
        // The generator's own x: scalar 1.
        ([UInt8](repeating: 0, count: 31) + [1], P256Domain.generator, Array(P256Domain.generator[1...])),
    ]

    @Test(arguments: vectors.indices) func vector(number: Int) throws {
        let vector = Self.vectors[number]
        let key = try P256PrivateKey(bytes: vector.scalar)
        let shared = try key.sharedSecret(with: P256PublicKey(bytes: vector.peer))
        #expect(shared.revealed() == vector.shared)
        // The point's negative has the same x.
        let negative = try key.sharedSecret(with: P256PublicKey(bytes: [vector.peer[0] ^ 1] + vector.peer[1...]))
        #expect(negative.revealed() == vector.shared)
    }

    @Test func bothSidesAgree() throws {
        for _ in 0..<20 {
            let one = try P256PrivateKey.generate()
            let other = try P256PrivateKey.generate()
            let left = try one.sharedSecret(with: other.publicKey)
            let right = try other.sharedSecret(with: one.publicKey)
            #expect(left.revealed() == right.revealed())
        }
    }

    private let context = Array("context".utf8)

    private func seal(_ text: [UInt8], to key: P256PublicKey, ad: [UInt8] = [1]) throws -> [UInt8] {
        try unsafe P256SealedBox.seal(
            text.span.bytes.extracting(first: text.count / 2),
            text.span.bytes.extracting(last: text.count - text.count / 2),
            to: key, context: context.span.bytes, authenticating: ad.span.bytes)
    }

    private func open(
        _ box: [UInt8], with key: borrowing P256PrivateKey, context: [UInt8]? = nil, ad: [UInt8] = [1]
    ) throws -> [UInt8] {
        let context = context ?? self.context
        return try unsafe P256SealedBox.open(
            box.span.bytes, with: key, context: context.span.bytes, authenticating: ad.span.bytes
        ).revealed()
    }

    @Test(arguments: [0, 1, 15, 16, 1000, 100_000]) func aBoxOpensForItsRecipientOnly(size: Int) throws {
        var random = SeededGenerator()
        let text = random.bytes(size)
        let key = try P256PrivateKey.generate()
        let other = try P256PrivateKey.generate()
        let box = try seal(text, to: key.publicKey)
        #expect(box.count == size + P256SealedBox.overhead)
        #expect(try open(box, with: key) == text)
        #expect(try seal(text, to: key.publicKey)[..<33] != box[..<33], "a fresh ephemeral key each time")
        #expect(throws: CryptographyError.authenticationFailed) { try open(box, with: other) }
        #expect(throws: CryptographyError.authenticationFailed) { try open(box, with: key, context: [2]) }
        #expect(throws: CryptographyError.authenticationFailed) { try open(box, with: key, ad: [2]) }
    }

    @Test func anyOtherBoxIsRefused() throws {
        let key = try P256PrivateKey.generate()
        let box = try seal(Array("text".utf8), to: key.publicKey)
        for offset in box.indices {
            for bit: UInt8 in [1, 0x80] {
                var changed = box
                changed[offset] ^= bit
                #expect(throws: CryptographyError.self, "offset \(offset)") { try open(changed, with: key) }
            }
        }
        for count in 0..<box.count {
            #expect(throws: CryptographyError.self) { try open(Array(box.prefix(count)), with: key) }
        }
        #expect(throws: CryptographyError.invalidSize) { try open(Array(box.prefix(48)), with: key) }
        // x that no point has, infinity's encoding, an uncompressed prefix, and x not below the prime.
        let noPoint = [UInt8(2)] + [UInt8](repeating: 0, count: 31) + [1]
        for point in [noPoint, [UInt8](repeating: 0, count: 33), [4] + box[1..<33], [2] + P256Domain.prime] {
            #expect(throws: CryptographyError.invalidPoint) { try open(point + box[33...], with: key) }
        }
    }
}
