import BetterAuthMessages
import TestSupport
import Testing

/// The file Vectors/cesr.json.
private struct CESRVectors: Decodable {
    struct DigestVector: Decodable {
        let inputUtf8: String?
        let inputRepeat: [Repeat]?
        let blake3Hex: String
        let encoded: String

        enum Repeat: Decodable {
            case character(String)
            case count(Int)
            init(from decoder: any Decoder) throws {
                let value = try decoder.singleValueContainer()
                if let text = try? value.decode(String.self) {
                    self = .character(text)
                } else {
                    self = .count(try value.decode(Int.self))
                }
            }
        }

        var input: [UInt8] {
            if let inputUtf8 { return Array(inputUtf8.utf8) }
            guard let parts = inputRepeat, parts.count == 2, case .character(let text) = parts[0],
                case .count(let count) = parts[1]
            else { return [] }
            return Array(String(repeating: text, count: count).utf8)
        }
    }

    struct NonceVector: Decodable {
        let rawHex: String
        let encoded: String
    }

    struct KeyVector: Decodable {
        let privateScalarHex: String
        let compressedHex: String
        let encoded: String
    }

    struct SignatureVector: Decodable {
        let publicKey: String
        let message: String
        let rawHex: String
        let encoded: String
        let negatedS: String
    }

    struct Malformed: Decodable {
        struct Entry: Decodable {
            let value: String
            let why: String
            let pointDecodes: Bool?
        }
        let signature: String
        let publicKey: String
        let message: String
        let signatures: [Entry]
        let publicKeys: [Entry]
        let digests: [Entry]
    }

    let digests: [DigestVector]
    let nonces: [NonceVector]
    let publicKeys: [KeyVector]
    let signatures: [SignatureVector]
    let malformed: Malformed
}

@Suite(.seeded) struct CESRTests {
    @Test func digestsOfTheVectors() throws {
        let all = try vectors("cesr", as: CESRVectors.self).digests
        #expect(all.count == 9)
        for vector in all {
            let digest = try #require(DigestText(vector.encoded))
            #expect(digest.rawBytes == hexBytes(vector.blake3Hex))
            #expect(digest.description == vector.encoded)
            #expect(vector.input.lend(blake3) == digest)
        }
    }

    @Test func noncesOfTheVectors() throws {
        let all = try vectors("cesr", as: CESRVectors.self).nonces
        #expect(all.count == 4)
        for vector in all {
            let raw = hexBytes(vector.rawHex)
            #expect(NonceText(vector.encoded)?.rawBytes == raw)
            #expect(raw.lend { NonceText(raw: $0) }?.description == vector.encoded)
        }
    }

    @Test func keysOfTheVectors() throws {
        let all = try vectors("cesr", as: CESRVectors.self).publicKeys
        #expect(all.count == 6)
        for vector in all {
            let derived = try publicKey(ofScalar: vector.privateScalarHex)
            #expect(derived == hexBytes(vector.compressedHex))
            #expect(PublicKeyText(vector.encoded)?.rawBytes == derived)
            #expect(derived.lend { PublicKeyText(raw: $0) }?.description == vector.encoded)
        }
    }

    @Test func signaturesOfTheVectors() throws {
        let all = try vectors("cesr", as: CESRVectors.self).signatures
        #expect(all.count == 6)
        for vector in all {
            let key = try #require(PublicKeyText(vector.publicKey))
            let signature = try #require(SignatureText(vector.encoded))
            let negated = try #require(SignatureText(vector.negatedS))
            #expect(signature.rawBytes == hexBytes(vector.rawHex))
            #expect(signature.description == vector.encoded && negated.description == vector.negatedS)
            #expect(Array(vector.message.utf8).lend { verifies(signature, key, $0) })
            #expect(Array(vector.message.utf8).lend { verifies(negated, key, $0) })
            #expect(!Array((vector.message + ".").utf8).lend { verifies(signature, key, $0) })
        }
    }

    @Test func malformedTextsOfTheVectorsAreRefused() throws {
        let malformed = try vectors("cesr", as: CESRVectors.self).malformed
        let key = try #require(PublicKeyText(malformed.publicKey))
        let signature = try #require(SignatureText(malformed.signature))
        #expect(Array(malformed.message.utf8).lend { verifies(signature, key, $0) })
        for entry in malformed.signatures { #expect(SignatureText(entry.value) == nil, "\(entry.why)") }
        for entry in malformed.digests { #expect(DigestText(entry.value) == nil, "\(entry.why)") }
        for entry in malformed.publicKeys {
            let isControl = entry.why.contains("control (accept)")
            #expect((PublicKeyText(entry.value) != nil) == isControl, "\(entry.why)")
        }
    }

    @Test func everyValueHasOneText() throws {
        var random = SeededGenerator()
        for _ in 0..<300 {
            try check(NonceText.self, random.bytes(16), &random)
            try check(DigestText.self, random.bytes(32), &random)
            try check(SignatureText.self, random.bytes(64), &random)
            try check(PublicKeyText.self, [UInt8.random(in: 2...3, using: &random)] + random.bytes(32), &random)
            try check(DeviceID.self, random.bytes(32), &random)
        }
    }

    /// Encodes and decodes, then changes each character: what is still taken is another value with that very text.
    private func check<T: CESRValue>(_ type: T.Type, _ raw: [UInt8], _ random: inout SeededGenerator) throws {
        // One in 2^32 draws is beyond the bounds of the curve; none of them is worth a red test.
        guard let value = raw.lend({ T(raw: $0) }) else { return }
        #expect(value.rawBytes == raw && value.textBytes.count == T.textSize)
        let text = value.textBytes
        #expect(text.lend { T(text: $0) } == value)
        let place = Int.random(in: 0..<text.count, using: &random)
        var other = text
        other[place] = UInt8.random(in: 0...255, using: &random)
        guard other != text, let changed = other.lend({ T(text: $0) }) else { return }
        #expect(changed != value && changed.textBytes == other)
        #expect(changed.rawBytes.lend { T(raw: $0) } == changed)
    }

    @Test func otherSizesAreRefused() {
        for count in 0...130 where count != 24 && count != 44 && count != 48 && count != 88 {
            for first in ["0A", "0I", "E", "1AAI"] {
                let text = Array((first + String(repeating: "A", count: 130)).utf8.prefix(count))
                #expect(text.lend { NonceText(text: $0) } == nil && text.lend { DigestText(text: $0) } == nil)
                #expect(text.lend { SignatureText(text: $0) } == nil && text.lend { PublicKeyText(text: $0) } == nil)
            }
            let raw = [UInt8](repeating: 2, count: count)
            if count != 16 { #expect(raw.lend { NonceText(raw: $0) } == nil) }
            if count != 32 { #expect(raw.lend { DigestText(raw: $0) } == nil) }
            if count != 33 { #expect(raw.lend { PublicKeyText(raw: $0) } == nil) }
            if count != 64 { #expect(raw.lend { SignatureText(raw: $0) } == nil) }
        }
    }

    /// Every byte in every place: the alphabet is taken, everything else refused.
    @Test func foreignCharactersAreRefusedEverywhere() throws {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let text = Array("EGQ3s6w4RlEz_7Y7dSc6jbVIxVhGXXnbA_01nGzVvZ2F".utf8)
        for place in 2..<text.count {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                #expect((changed.lend { DigestText(text: $0) } != nil) == alphabet.contains(byte))
            }
        }
    }

    @Test func signaturesOutOfRangeAreRefused() throws {
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let order = hexBytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let below = hexBytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550")
        let zero = [UInt8](repeating: 0, count: 32)
        for (r, s, good) in [
            (one, one, true), (below, below, true), (order, one, false), (one, order, false), (zero, one, false),
            (one, zero, false),
        ] {
            #expect(((r + s).lend { SignatureText(raw: $0) } != nil) == good)
        }
    }

    /// In the frame of an async function, values that are aligned to more than 16 bytes reach over its end (Swift 6.3).
    @Test func nothingIsAlignedWidely() {
        #expect(MemoryLayout<DigestText>.alignment <= 16 && MemoryLayout<NonceText>.alignment <= 16)
        #expect(MemoryLayout<PublicKeyText>.alignment <= 16 && MemoryLayout<SignatureText>.alignment <= 16)
        #expect(MemoryLayout<SignedMessage<Response<Access>>>.alignment <= 16)
        #expect(MemoryLayout<AccessClaims>.alignment <= 16 && MemoryLayout<KeyEvent>.alignment <= 16)
    }
}
