import Cryptography
import SecretMemory
import TestSupport
import Testing

/// What sessions of the Secret Service are encrypted with.
@Suite struct AgreementTests {
    /// The prime of RFC 2409, section 6.2.
    private static let prime = hexBytes(
        [
            "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74",
            "020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437",
            "4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED",
            "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF",
        ].joined())

    private static func array(_ secret: borrowing SecretBytes) -> [UInt8] {
        secret.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    private static func agree(_ peer: [UInt8]) throws -> (ours: [UInt8], shared: [UInt8]) {
        let agreement = try unsafe DiffieHellman1024.agree(with: peer.span.bytes)
        return (agreement.publicNumber, array(agreement.shared))
    }

    private static func secret(_ bytes: [UInt8]) throws -> SecretBytes {
        try unsafe SecretBytes(copying: bytes.span.bytes)
    }

    private static func seal(_ text: [UInt8], _ key: [UInt8], _ vector: [UInt8]) throws -> [UInt8] {
        array(try unsafe BlockCipher.encryptCBC128(text.span.bytes, key: secret(key), vector: vector.span.bytes))
    }

    private static func open(_ text: [UInt8], _ key: [UInt8], _ vector: [UInt8]) throws -> [UInt8] {
        array(try unsafe BlockCipher.decryptCBC128(text.span.bytes, key: secret(key), vector: vector.span.bytes))
    }

    private static let key = [UInt8](repeating: 7, count: 16)

    @Test func `a public number of two gives back ours`() throws {
        // 2^secret is our public number, and with a peer that sends 2 it is what was agreed on.
        let agreement = try Self.agree([2])
        #expect(agreement.shared == agreement.ours)
        #expect(agreement.ours.count == 128)
        #expect(try Self.agree([2]).ours != agreement.ours)
    }

    @Test func `numbers of small groups are refused`() throws {
        var minusOne = Self.prime
        minusOne[127] -= 1
        let zeroes = [UInt8](repeating: 0, count: 128)
        for peer in [[], [0], [1], zeroes, minusOne, Self.prime, zeroes + [2], [UInt8](repeating: 255, count: 128)] {
            #expect(throws: CryptographyError.invalidSize) { try Self.agree(peer) }
        }
        var largest = minusOne
        largest[127] -= 1
        #expect(try Self.agree(largest).ours.count == 128)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 31, 32, 1000])
    func `AES-128 in CBC mode comes back`(count: Int) throws {
        let vector = [UInt8](repeating: 9, count: 16)
        let text = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try Self.seal(text, Self.key, vector)
        #expect(sealed.count == (count / 16 + 1) * 16)
        #expect(try Self.open(sealed, Self.key, vector) == text)
    }

    /// NIST SP 800-38A, F.2.1, first block.
    @Test func `AES-128 in CBC mode is that of others`() throws {
        let sealed = try Self.seal(
            hexBytes("6bc1bee22e409f96e93d7e117393172a"), hexBytes("2b7e151628aed2a6abf7158809cf4f3c"),
            hexBytes("000102030405060708090a0b0c0d0e0f"))
        #expect(Array(sealed.prefix(16)) == hexBytes("7649abac8119b246cee98e9b12e9197d"))
    }

    /// What one block is decrypted to is chosen through the vector.
    @Test func `wrong padding is refused`() throws {
        let zeroes = [UInt8](repeating: 0, count: 16)
        let block = Array(try Self.seal(zeroes, Self.key, zeroes).prefix(16))
        func open(_ plain: [UInt8]) throws -> Int { try Self.open(block, Self.key, plain).count }
        for last in UInt8.min...UInt8.max where last != 1 {
            #expect(throws: CryptographyError.invalidSize) { try open([UInt8](repeating: 0, count: 15) + [last]) }
        }
        for length in 1...16 {
            let plain =
                [UInt8](repeating: 0, count: 16 - length) + [UInt8](repeating: UInt8(length), count: length)
            #expect(try open(plain) == 16 - length)
            for place in 16 - length..<15 {
                var broken = plain
                broken[place] ^= 0x80
                #expect(throws: CryptographyError.invalidSize) { try open(broken) }
            }
        }
    }

    @Test func `other sizes are refused`() {
        let block = [UInt8](repeating: 1, count: 16)
        for size in [0, 1, 15, 17] {
            let other = [UInt8](repeating: 1, count: size)
            #expect(throws: CryptographyError.invalidSize) { try Self.open(other, Self.key, block) }
            #expect(throws: CryptographyError.invalidSize) { try Self.seal(block, Self.key, other) }
        }
        #expect(throws: CryptographyError.invalidSize) { try Self.seal(block, block + block, block) }
    }
}
