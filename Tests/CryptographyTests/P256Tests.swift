import Cryptography
import Dispatch
import SecretMemory
import Synchronization
import TestSupport
import Testing

extension P256PrivateKey {
    init(bytes: [UInt8]) throws {
        let scalar = try secret(bytes)
        self = try P256PrivateKey(scalar: scalar)
    }

    borrowing func signature(for message: [UInt8]) throws -> [UInt8] { try unsafe sign(message.span.bytes) }
}

extension P256PublicKey {
    convenience init(bytes: [UInt8]) throws { try unsafe self.init(compressed: bytes.span.bytes) }

    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        unsafe isValid(signature: signature.span.bytes, for: message.span.bytes)
    }
}

/// Domain parameters of P-256 (SEC 2, section 2.4.2).
enum P256Domain {
    static let prime = hexBytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    static let order = hexBytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    static let generator = hexBytes("036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    static let negativeGenerator = [2] + generator.dropFirst()

    /// left - right for 32-byte big-endian numbers, modulo 2^256.
    static func difference(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> [UInt8] {
        var borrow = 0
        let digits = zip(left.reversed(), right.reversed()).map { l, r -> UInt8 in
            let digit = Int(l) - Int(r) - borrow
            borrow = digit < 0 ? 1 : 0
            return UInt8(truncatingIfNeeded: digit)
        }
        return digits.reversed()
    }
}

/// RFC 6979, appendix A.2.5.
private enum RFC6979 {
    static let scalar = hexBytes("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721")
    static let publicKey = hexBytes("0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6")
    static let signatures: [(message: String, signature: [UInt8])] = [
        (
            "sample",
            hexBytes(
                """
                efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716
                f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8
                """)
        ),
        (
            "test",
            hexBytes(
                """
                f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367
                019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083
                """)
        ),
    ]
}

@Suite(.seeded) struct P256Tests {
    @Test("RFC 6979, A.2.5: the scalar gives the point, the point verifies the signatures")
    func rfc6979() throws {
        let key = try P256PrivateKey(bytes: RFC6979.scalar)
        #expect(key.publicKey.compressed == RFC6979.publicKey)
        let publicKey = try P256PublicKey(bytes: RFC6979.publicKey)
        for (message, signature) in RFC6979.signatures {
            #expect(publicKey.isValid(signature, for: Array(message.utf8)))
            #expect(key.publicKey.isValid(signature, for: Array(message.utf8)))
            #expect(!publicKey.isValid(signature, for: Array("\(message) ".utf8)))
        }
    }

    /// Small multiples of the generator: of 600 coordinates a few begin with a zero.
    @Test func `a point is the same at full length, however its key was given`() throws {
        var short = 0
        for number in 1...300 {
            let key = try P256PrivateKey(
                bytes: [UInt8](repeating: 0, count: 30) + [UInt8(number >> 8), UInt8(number & 255)])
            let point = key.publicKey.uncompressed
            #expect(point.count == 65 && point[0] == 4)
            #expect([2 | point[64] & 1] + point[1...32] == key.publicKey.compressed)
            #expect(try P256PublicKey(bytes: key.publicKey.compressed).uncompressed == point)
            short += [point[1], point[33]].count { $0 == 0 }
        }
        #expect(short > 0)
    }

    @Test("generated keys sign what they and only they verify, and survive export and import")
    func roundTrips() throws {
        var random = SeededGenerator()
        let stranger = try P256PrivateKey.generate()
        var scalars: Set<[UInt8]> = []
        for _ in 0..<40 {
            let key = try P256PrivateKey.generate()
            let message = random.bytes(Int.random(in: 0...200, using: &random))
            let signature = try key.signature(for: message)
            #expect(signature.count == P256PrivateKey.signatureSize)
            let publicKey = try P256PublicKey(bytes: key.publicKey.compressed)
            #expect(publicKey.isValid(signature, for: message))
            #expect(!stranger.publicKey.isValid(signature, for: message))

            let scalar = try key.scalar().revealed()
            #expect(scalars.insert(scalar).inserted)
            let imported = try P256PrivateKey(bytes: scalar)
            #expect(imported.publicKey.compressed == key.publicKey.compressed)
            let importedSignature = try imported.signature(for: message)
            #expect(publicKey.isValid(importedSignature, for: message))
            #expect(importedSignature != signature, "a signature number was used twice")
        }
    }

    /// Half of all numbers are the x of a point. Agreeing gives it to libcrypto, which refuses one off the curve.
    @Test func `a point that is found lies on the curve, and its negative is the other one`() throws {
        var random = SeededGenerator()
        let key = try P256PrivateKey.generate()
        var found = 0
        for _ in 0..<200 {
            let x = random.bytes(32)
            guard let even = try? P256PublicKey(bytes: [2] + x) else {
                #expect(throws: CryptographyError.invalidPoint) { _ = try P256PublicKey(bytes: [3] + x) }
                continue
            }
            found += 1
            let odd = try P256PublicKey(bytes: [3] + x)
            let (first, second) = (even.uncompressed, odd.uncompressed)
            #expect(first[64] & 1 == 0 && second[64] & 1 == 1)
            #expect(P256Domain.difference(P256Domain.prime, first[33...]) == Array(second[33...]))
            let shared = try key.sharedSecret(with: even).revealed()
            let negative = try key.sharedSecret(with: odd).revealed()
            #expect(negative == shared)
        }
        #expect((60...140).contains(found))
    }

    /// They share what libcrypto verifies with, whose point is replaced for each.
    @Test func `keys that verify at one time each take their own signatures only`() throws {
        let message = Array("text".utf8)
        let signed = try (0..<4).map { _ in
            let key = try P256PrivateKey.generate()
            return (key.publicKey, try key.signature(for: message))
        }
        let wrong = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<40 {
                let (key, other) = (signed[(thread + round) % 4], signed[round % 4])
                let isSame = thread % 4 == 0
                if !key.0.isValid(key.1, for: message) || key.0.isValid(other.1, for: message) != isSame {
                    wrong.withLock { $0 += 1 }
                }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test func scalarsAtTheEdges() throws {
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let last = P256Domain.difference(P256Domain.order, one)
        for (scalar, point) in [(one, P256Domain.generator), (last, P256Domain.negativeGenerator)] {
            let key = try P256PrivateKey(bytes: scalar)
            #expect(key.publicKey.compressed == point)
            let exported = try key.scalar().revealed()
            #expect(exported == scalar)
        }
        let above = Array(P256Domain.order.dropLast() + [0x52])
        let refused = [
            [UInt8](repeating: 0, count: 32), P256Domain.order, above, [UInt8](repeating: 255, count: 32),
        ]
        for scalar in refused {
            #expect(throws: CryptographyError.scalarOutOfRange) { _ = try P256PrivateKey(bytes: scalar) }
        }
        for size in [0, 1, 31, 33, 64] {
            #expect(throws: CryptographyError.invalidSize) {
                _ = try P256PrivateKey(bytes: [UInt8](repeating: 1, count: size))
            }
        }
    }

    @Test func pointsThatAreRefused() throws {
        let point = RFC6979.publicKey
        let x = Array(point.dropFirst())
        for prefix in UInt8.min...UInt8.max where prefix != 2 && prefix != 3 {
            #expect(throws: CryptographyError.invalidPoint, "prefix \(prefix)") {
                try P256PublicKey(bytes: [prefix] + x)
            }
        }
        for size in Array(0...32) + [34, 64, 65] {
            let bytes = Array((point + [UInt8](repeating: 0, count: 32)).prefix(size))
            #expect(throws: CryptographyError.invalidPoint, "\(size) bytes") { try P256PublicKey(bytes: bytes) }
        }
        let zeros = [UInt8](repeating: 0, count: 31)
        // x = 0 and x = 5 are on the curve, x = 1 and x = 2 are not.
        for small in [UInt8(0), 5] {
            #expect(try P256PublicKey(bytes: [2] + zeros + [small]).compressed == [2] + zeros + [small])
        }
        for small in [UInt8(1), 2] {
            #expect(throws: CryptographyError.invalidPoint) { try P256PublicKey(bytes: [3] + zeros + [small]) }
        }
        // The same points with the field's prime added to x: only the reduced form counts.
        var unreduced = P256Domain.prime
        #expect(throws: CryptographyError.invalidPoint) { try P256PublicKey(bytes: [2] + unreduced) }
        unreduced = P256Domain.difference(P256Domain.prime, [UInt8](repeating: 255, count: 31) + [251])  // + 5
        #expect(throws: CryptographyError.invalidPoint) { try P256PublicKey(bytes: [2] + unreduced) }
    }

    @Test func theOtherSignVerifiesToo() throws {
        let publicKey = try P256PublicKey(bytes: RFC6979.publicKey)
        for (message, signature) in RFC6979.signatures {
            let other = signature.prefix(32) + P256Domain.difference(P256Domain.order, signature.suffix(32))
            #expect(other != signature[...])
            #expect(publicKey.isValid(Array(other), for: Array(message.utf8)))
        }
    }

    @Test func signaturesThatAreRefused() throws {
        let publicKey = try P256PublicKey(bytes: RFC6979.publicKey)
        let (name, signature) = RFC6979.signatures[0]
        let message = Array(name.utf8)
        for bit in 0..<512 {
            var changed = signature
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!publicKey.isValid(changed, for: message), "bit \(bit)")
        }
        for size in 0..<64 {
            #expect(!publicKey.isValid(Array(signature.prefix(size)), for: message), "\(size) bytes")
        }
        #expect(!publicKey.isValid(signature + [0], for: message))
        #expect(!publicKey.isValid([0] + signature, for: message))
        let (r, s) = (Array(signature.prefix(32)), Array(signature.suffix(32)))
        let (zero, order) = ([UInt8](repeating: 0, count: 32), P256Domain.order)
        let all = [UInt8](repeating: 255, count: 32)
        for (r, s) in [
            (zero, s), (r, zero), (zero, zero), (order, s), (r, order), (order, order), (all, s), (r, all), (all, all),
        ] {
            #expect(!publicKey.isValid(r + s, for: message))
        }
    }

    @Test("keys are made and used on many threads at once")
    func threads() async throws {
        let shared = try P256PublicKey(bytes: RFC6979.publicKey)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10 {
                        let key = try P256PrivateKey.generate()
                        let signature = try key.signature(for: [1, 2, 3])
                        let (name, known) = RFC6979.signatures[0]
                        guard key.publicKey.isValid(signature, for: [1, 2, 3]),
                            shared.isValid(known, for: Array(name.utf8)), !shared.isValid(signature, for: [1, 2, 3])
                        else { return false }
                    }
                    return true
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
