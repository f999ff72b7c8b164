import Cryptography
import Testing

@Suite("Wycheproof: ECDSA over P-256 with SHA-256") struct WycheproofECDSATests {
    private struct Group: Decodable, Sendable {
        struct PublicKey: Decodable, Sendable { var uncompressed: HexBytes }
        struct Vector: Decodable, Sendable {
            var tcId: Int
            var msg, sig: HexBytes
            var result: WycheproofResult
        }
        var publicKey: PublicKey
        var tests: [Vector]

        func key() throws -> P256PublicKey {
            let point = publicKey.uncompressed.bytes
            try #require(point.count == 65 && point[0] == 4)
            return try P256PublicKey(bytes: [2 | point[64] & 1] + point[1...32])
        }
    }

    private static let raw = "ecdsa_secp256r1_sha256_p1363_test"
    private static let der = "ecdsa_secp256r1_sha256_test"

    @Test(.enabled(if: SharedVectors.has(wycheproofPath(raw)), Comment(rawValue: SharedVectors.missing)))
    func rawSignatures() throws {
        let file = try WycheproofFile<Group>.load(Self.raw)
        var counts = (valid: 0, invalid: 0)
        for group in file.testGroups {
            let key = try group.key()
            for vector in group.tests {
                let isValid = key.isValid(vector.sig.bytes, for: vector.msg.bytes)
                #expect(isValid == (vector.result == .valid), "test \(vector.tcId)")
                if isValid { counts.valid += 1 } else { counts.invalid += 1 }
            }
        }
        #expect(counts.valid + counts.invalid == file.numberOfTests)
        print("Wycheproof ECDSA raw, \(file.numberOfTests) vectors: \(counts)")
    }

    /// We read no DER signatures; a strict reader in this test feeds the vectors' numbers to our verifier.
    @Test(.enabled(if: SharedVectors.has(wycheproofPath(der)), Comment(rawValue: SharedVectors.missing)))
    func derSignatures() throws {
        let file = try WycheproofFile<Group>.load(Self.der)
        var counts = (valid: 0, invalid: 0, notStrictDER: 0)
        for group in file.testGroups {
            let key = try group.key()
            for vector in group.tests {
                guard let signature = StrictDER.rawSignature(vector.sig.bytes) else {
                    #expect(vector.result == .invalid, "test \(vector.tcId)")
                    counts.notStrictDER += 1
                    continue
                }
                let isValid = key.isValid(signature, for: vector.msg.bytes)
                #expect(isValid == (vector.result == .valid), "test \(vector.tcId)")
                if isValid { counts.valid += 1 } else { counts.invalid += 1 }
            }
        }
        #expect(counts.valid + counts.invalid + counts.notStrictDER == file.numberOfTests)
        print("Wycheproof ECDSA DER, \(file.numberOfTests) vectors: \(counts)")
    }
}

private enum StrictDER {
    /// SEQUENCE of two INTEGERs, shortest form, nothing after it; nil also for numbers that do not fit 32 bytes.
    static func rawSignature(_ der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2, der.count < 128, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let r = integer(&rest), let s = integer(&rest), rest.isEmpty else { return nil }
        return r + s
    }

    private static func integer(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let count = rest.popFirst(), count >= 1, count <= rest.count, count <= 33
        else { return nil }
        var digits = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        guard let first = digits.first, first < 0x80 else { return nil }  // negative
        if first == 0, digits.count > 1 {
            digits = digits.dropFirst()
            guard let next = digits.first, next >= 0x80 else { return nil }  // not the shortest form
        }
        guard digits.count <= 32 else { return nil }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}
