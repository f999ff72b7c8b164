import Cryptography
import SecretMemory
import TestSupport
import Testing

struct HKDFVector: Sendable, CustomTestStringConvertible {
    var name: String
    var inputKey: [UInt8]
    var salt: [UInt8]
    var info: [UInt8]
    var output: [UInt8]
    var testDescription: String { name }

    /// RFC 5869, appendix A.1 to A.3.
    static let rfc5869 = [
        HKDFVector(
            name: "A.1", inputKey: [UInt8](repeating: 0x0b, count: 22), salt: Array(0x00...0x0c),
            info: Array(0xf0...0xf9),
            output: hexBytes(
                """
                3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865
                """)),
        HKDFVector(
            name: "A.2", inputKey: Array(0x00...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff),
            output: hexBytes(
                """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
                da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
                """)),
        HKDFVector(
            name: "A.3", inputKey: [UInt8](repeating: 0x0b, count: 22), salt: [], info: [],
            output: hexBytes(
                """
                8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8
                """)),
    ]
}

/// The same with arrays, which only a test may hold.
func derivedHKDF(
    _ inputKey: [UInt8], salt: [UInt8] = [], info: [UInt8] = Array("test".utf8), count: Int = 32
) throws -> [UInt8] {
    let key = try secret(inputKey)
    return try unsafe HKDFSHA256.derive(key, salt: salt.span.bytes, info: info.span.bytes, count: count).revealed()
}

@Suite struct HKDFTests {
    @Test("RFC 5869", arguments: HKDFVector.rfc5869)
    func knownAnswers(_ vector: HKDFVector) throws {
        let output = try derivedHKDF(
            vector.inputKey, salt: vector.salt, info: vector.info, count: vector.output.count)
        #expect(output == vector.output)
    }

    @Test func everyCountIsAPrefixOfALongerOne() throws {
        let longest = try derivedHKDF([1, 2, 3], count: HKDFSHA256.maximumCount)
        #expect(longest.count == 8160)
        for count in [1, 31, 32, 33, 64, 8159] {
            #expect(try derivedHKDF([1, 2, 3], count: count) == Array(longest.prefix(count)))
        }
    }

    @Test func aFixedInfoEqualsItsBytes() throws {
        let key = try secret([1, 2, 3])
        let fixed = try HKDFSHA256.derive(
            key, salt: RawSpan(), info: "holdfast/1/test", count: 32, lifetime: .longLived
        ).revealed()
        #expect(try derivedHKDF([1, 2, 3], info: Array("holdfast/1/test".utf8)) == fixed)
    }

    @Test func everyInputCounts() throws {
        let outputs = [
            try derivedHKDF([1]), try derivedHKDF([2]), try derivedHKDF([1, 0]), try derivedHKDF([1], salt: [1]),
            try derivedHKDF([1], salt: [2]), try derivedHKDF([1], info: []), try derivedHKDF([1], info: [1]),
        ]
        #expect(Set(outputs).count == outputs.count)
    }

    @Test(arguments: [-1, 0, 8161, Int.max])
    func countsOutOfRangeAreRefused(_ count: Int) {
        #expect(throws: CryptographyError.invalidSize) { try derivedHKDF([1], count: count) }
    }

    @Test func anEmptyKeyAndALongInfoAreRefused() throws {
        #expect(throws: CryptographyError.invalidSize) { try derivedHKDF([]) }
        #expect(throws: CryptographyError.invalidSize) {
            try derivedHKDF([1], info: [UInt8](repeating: 0, count: 1025))
        }
        #expect(try derivedHKDF([1], info: [UInt8](repeating: 0, count: 1024)).count == 32)
    }
}
