import Cryptography
import SecretMemory
import TestSupport
import Testing

@Suite("Wycheproof: AES-GCM, HKDF, HMAC") struct WycheproofSymmetricTests {
    private struct GCMGroup: Decodable, Sendable {
        struct Vector: Decodable, Sendable {
            var tcId: Int
            var key, iv, aad, msg, ct, tag: HexBytes
            var result: WycheproofResult
        }
        var keySize, ivSize, tagSize: Int  // bits
        var tests: [Vector]
    }

    @Test(.enabled(if: SharedVectors.has(wycheproofPath("aes_gcm_test")), Comment(rawValue: SharedVectors.missing)))
    func aesGCM() throws {
        let file = try WycheproofFile<GCMGroup>.load("aes_gcm_test")
        var counts = (valid: 0, invalid: 0, refusedKeys: 0, refusedNonces: 0)
        for group in file.testGroups {
            #expect(group.tagSize == 128)
            for vector in group.tests {
                let (text, aad, nonce) = (vector.msg.bytes, vector.aad.bytes, vector.iv.bytes)
                let box = vector.ct.bytes + vector.tag.bytes
                let key = try secret(vector.key.bytes)
                guard group.keySize == 256 else {
                    #expect(throws: CryptographyError.invalidSize, "test \(vector.tcId)") {
                        _ = try AES256GCM(key: key)
                    }
                    counts.refusedKeys += 1
                    continue
                }
                var cipher = try AES256GCM(key: key)
                guard group.ivSize == 96 else {
                    #expect(Nonce96(nonce) == nil, "test \(vector.tcId)")
                    #expect(throws: CryptographyError.invalidSize, "test \(vector.tcId)") {
                        try cipher.opened(box, nonce: nonce, aad: aad)
                    }
                    counts.refusedNonces += 1
                    continue
                }
                switch vector.result {
                case .valid:
                    let opened = try cipher.opened(box, nonce: nonce, aad: aad)
                    #expect(opened == text, "test \(vector.tcId)")
                    let sealed = try cipher.sealed(text, nonce: nonce, aad: aad)
                    #expect(sealed == box, "test \(vector.tcId)")
                    counts.valid += 1
                case .invalid:
                    var output = [UInt8](repeating: 0x55, count: vector.ct.bytes.count)
                    #expect(throws: CryptographyError.authenticationFailed, "test \(vector.tcId)") {
                        try cipher.open(box, nonce: nonce, aad: aad, into: &output)
                    }
                    #expect(output.allSatisfy { $0 == 0 }, "test \(vector.tcId)")
                    counts.invalid += 1
                }
            }
        }
        #expect(counts.valid + counts.invalid + counts.refusedKeys + counts.refusedNonces == file.numberOfTests)
        print("Wycheproof AES-GCM, \(file.numberOfTests) vectors: \(counts)")
    }

    private struct HKDFGroup: Decodable, Sendable {
        struct Vector: Decodable, Sendable {
            var tcId, size: Int
            var ikm, salt, info, okm: HexBytes
            var result: WycheproofResult
        }
        var tests: [Vector]
    }

    @Test(.enabled(if: SharedVectors.has(wycheproofPath("hkdf_sha256_test")), Comment(rawValue: SharedVectors.missing)))
    func hkdf() throws {
        let file = try WycheproofFile<HKDFGroup>.load("hkdf_sha256_test")
        var counts = (valid: 0, invalid: 0)
        for vector in file.testGroups.flatMap(\.tests) {
            switch vector.result {
            case .valid:
                let output = try derivedHKDF(
                    vector.ikm.bytes, salt: vector.salt.bytes, info: vector.info.bytes, count: vector.size)
                #expect(output == vector.okm.bytes, "test \(vector.tcId)")
                counts.valid += 1
            case .invalid:
                #expect(throws: CryptographyError.invalidSize, "test \(vector.tcId)") {
                    try derivedHKDF(
                        vector.ikm.bytes, salt: vector.salt.bytes, info: vector.info.bytes, count: vector.size)
                }
                counts.invalid += 1
            }
        }
        #expect(counts.valid + counts.invalid == file.numberOfTests)
        print("Wycheproof HKDF-SHA256, \(file.numberOfTests) vectors: \(counts)")
    }

    private struct MACGroup: Decodable, Sendable {
        struct Vector: Decodable, Sendable {
            var tcId: Int
            var key, msg, tag: HexBytes
            var result: WycheproofResult
        }
        var tagSize: Int  // bits
        var tests: [Vector]
    }

    @Test(.enabled(if: SharedVectors.has(wycheproofPath("hmac_sha256_test")), Comment(rawValue: SharedVectors.missing)))
    func hmac() throws {
        let file = try WycheproofFile<MACGroup>.load("hmac_sha256_test")
        var counts = (valid: 0, invalid: 0, truncated: 0)
        for group in file.testGroups {
            for vector in group.tests {
                let (key, message, tag) = (vector.key.bytes, vector.msg.bytes, vector.tag.bytes)
                let computed = try hmacTag(message, key: key)
                let isEqual = Array(computed.prefix(tag.count)) == tag
                #expect(isEqual == (vector.result == .valid), "test \(vector.tcId)")
                let isValid = try isValidHMAC(tag, for: message, key: key)
                if group.tagSize == 256 {
                    #expect(isValid == (vector.result == .valid), "test \(vector.tcId)")
                    if isValid { counts.valid += 1 } else { counts.invalid += 1 }
                } else {
                    #expect(!isValid, "test \(vector.tcId): a truncated tag is never valid here")
                    counts.truncated += 1
                }
            }
        }
        #expect(counts.valid + counts.invalid + counts.truncated == file.numberOfTests)
        print("Wycheproof HMAC-SHA256, \(file.numberOfTests) vectors: \(counts); truncated ones compared by prefix")
    }
}
