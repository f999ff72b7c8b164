import Cryptography
import SecretMemory
import TestSupport
import Testing

struct HMACVector: Sendable, CustomTestStringConvertible {
    var name: String
    var key: [UInt8]
    var message: [UInt8]
    var tag: [UInt8]
    var testDescription: String { name }

    /// RFC 4231, sections 4.2 to 4.8, where 4.6 gives the first 16 bytes only.
    static let rfc4231 = [
        HMACVector(
            name: "4.2", key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            tag: hexBytes("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")),
        HMACVector(
            name: "4.3", key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            tag: hexBytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")),
        HMACVector(
            name: "4.4", key: [UInt8](repeating: 0xaa, count: 20), message: [UInt8](repeating: 0xdd, count: 50),
            tag: hexBytes("773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe")),
        HMACVector(
            name: "4.5", key: Array(0x01...0x19), message: [UInt8](repeating: 0xcd, count: 50),
            tag: hexBytes("82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b")),
        HMACVector(
            name: "4.6", key: [UInt8](repeating: 0x0c, count: 20), message: Array("Test With Truncation".utf8),
            tag: hexBytes("a3b6167473100ee06e0c796c2955552b")),
        HMACVector(
            name: "4.7", key: [UInt8](repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            tag: hexBytes("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")),
        HMACVector(
            name: "4.8", key: [UInt8](repeating: 0xaa, count: 131),
            message: Array(
                """
                This is a test using a larger than block-size key and a larger than block-size data. \
                The key needs to be hashed before being used by the HMAC algorithm.
                """.utf8),
            tag: hexBytes("9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2")),
    ]
}

func hmacTag(_ message: [UInt8], key: [UInt8]) throws -> [UInt8] {
    let key = try secret(key)
    return try unsafe HMACSHA256.authenticate(message.span.bytes, key: key).bytes
}

func isValidHMAC(_ tag: [UInt8], for message: [UInt8], key: [UInt8]) throws -> Bool {
    let key = try secret(key)
    return unsafe HMACSHA256.isValid(tag.span.bytes, for: message.span.bytes, key: key)
}

@Suite struct HMACTests {
    @Test("RFC 4231", arguments: HMACVector.rfc4231)
    func knownAnswers(_ vector: HMACVector) throws {
        let tag = try hmacTag(vector.message, key: vector.key)
        #expect(Array(tag.prefix(vector.tag.count)) == vector.tag)
        let isFull = vector.tag.count == 32
        #expect(try isValidHMAC(vector.tag, for: vector.message, key: vector.key) == isFull, "only full tags count")
    }

    @Test func everyFlippedBitIsRefused() throws {
        let vector = HMACVector.rfc4231[1]
        for bit in 0..<256 {
            var tag = vector.tag
            tag[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try !isValidHMAC(tag, for: vector.message, key: vector.key), "bit \(bit)")
        }
        for size in [0, 1, 16, 31] {
            #expect(
                try !isValidHMAC(Array(vector.tag.prefix(size)), for: vector.message, key: vector.key), "\(size) bytes")
        }
        #expect(try !isValidHMAC(vector.tag + [0], for: vector.message, key: vector.key))
        #expect(try !isValidHMAC(vector.tag, for: vector.message + [0], key: vector.key))
        #expect(try !isValidHMAC(vector.tag, for: vector.message, key: vector.key + [0x80]))
    }

    @Test func anEmptyMessageHasATagAndAnEmptyKeyNone() throws {
        let tag = try hmacTag([], key: [1])
        #expect(try isValidHMAC(tag, for: [], key: [1]))
        #expect(throws: CryptographyError.invalidSize) { try hmacTag([1], key: []) }
        #expect(try !isValidHMAC(tag, for: [], key: []))
    }
}
