import Cryptography
import SecretMemory
import TestSupport
import Testing

extension AES256GCM {
    /// Seals into a fresh array.
    mutating func sealed(
        _ first: [UInt8], _ second: [UInt8] = [], nonce: [UInt8], aad: [UInt8], outputSize: Int? = nil
    ) throws -> [UInt8] {
        let nonce = try #require(Nonce96(nonce))
        let size = outputSize ?? first.count + second.count + AES256GCM.tagSize
        var output = [UInt8](repeating: 0, count: size)
        var span = output.mutableSpan
        var bytes = unsafe span.mutableBytes
        try unsafe seal(
            first.span.bytes, second.span.bytes, nonce: nonce, authenticating: aad.span.bytes, into: &bytes)
        return output
    }

    /// Opens into `output`, so that what a failure leaves there can be seen.
    mutating func open(
        _ box: [UInt8], nonce: [UInt8], aad: [UInt8], into output: inout [UInt8]
    ) throws(CryptographyError) {
        var span = output.mutableSpan
        var bytes = unsafe span.mutableBytes
        try unsafe open(box.span.bytes, nonce: nonce.span.bytes, authenticating: aad.span.bytes, into: &bytes)
    }

    mutating func opened(_ box: [UInt8], nonce: [UInt8], aad: [UInt8]) throws(CryptographyError) -> [UInt8] {
        var output = [UInt8](repeating: 0x55, count: max(0, box.count - AES256GCM.tagSize))
        try open(box, nonce: nonce, aad: aad, into: &output)
        return output
    }
}

struct GCMVector: Sendable, CustomTestStringConvertible {
    var name: String
    var key: [UInt8]
    var nonce: [UInt8]
    var aad: [UInt8]
    var text: [UInt8]
    var box: [UInt8]
    var testDescription: String { name }

    /// The AES-256 cases with 96-bit nonces of "The Galois/Counter Mode of Operation" (McGrew and Viega), appendix B.
    static let published: [GCMVector] = {
        let zeroKey = [UInt8](repeating: 0, count: 32)
        let zeroNonce = [UInt8](repeating: 0, count: 12)
        let key = hexBytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let nonce = hexBytes("cafebabefacedbaddecaf888")
        let text = hexBytes(
            """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
            1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
            """)
        let ciphertext = hexBytes(
            """
            522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
            8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad
            """)
        return [
            GCMVector(
                name: "test case 13", key: zeroKey, nonce: zeroNonce, aad: [], text: [],
                box: hexBytes("530f8afbc74536b9a963b4f1c4cb738b")),
            GCMVector(
                name: "test case 14", key: zeroKey, nonce: zeroNonce, aad: [], text: [UInt8](repeating: 0, count: 16),
                box: hexBytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")),
            GCMVector(
                name: "test case 15", key: key, nonce: nonce, aad: [], text: text,
                box: ciphertext + hexBytes("b094dac5d93471bdec1a502270e3cc6c")),
            GCMVector(
                name: "test case 16", key: key, nonce: nonce,
                aad: hexBytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"), text: Array(text.prefix(60)),
                box: ciphertext.prefix(60) + hexBytes("76fc6ece0f4e1768cddf8853bb2d551b")),
        ]
    }()
}

@Suite(.seeded) struct AESGCMTests {
    @Test(arguments: GCMVector.published)
    func knownAnswers(_ vector: GCMVector) throws {
        var cipher = try AES256GCM(key: try secret(vector.key))
        let box = try cipher.sealed(vector.text, nonce: vector.nonce, aad: vector.aad)
        #expect(box == vector.box)
        let text = try cipher.opened(vector.box, nonce: vector.nonce, aad: vector.aad)
        #expect(text == vector.text)
    }

    @Test("two parts seal as one message, wherever they are cut")
    func parts() throws {
        let vector = GCMVector.published[3]
        var cipher = try AES256GCM(key: try secret(vector.key))
        for cut in 0...vector.text.count {
            let box = try cipher.sealed(
                Array(vector.text[..<cut]), Array(vector.text[cut...]), nonce: vector.nonce, aad: vector.aad)
            #expect(box == vector.box, "cut at \(cut)")
        }
    }

    @Test("any flipped bit is refused, the output wiped, and the cipher goes on working")
    func flippedBits() throws {
        var random = SeededGenerator()
        var cipher = try AES256GCM(key: try secret(random.bytes(32)))
        for round in 0..<300 {
            let text = random.bytes(Int.random(in: 0...80, using: &random))
            let aad = random.bytes(Int.random(in: 0...40, using: &random))
            let nonce = random.bytes(12)
            let box = try cipher.sealed(text, nonce: nonce, aad: aad)

            var (badBox, badNonce, badAAD) = (box, nonce, aad)
            let bit = Int.random(in: 0..<8 * (box.count + nonce.count + aad.count), using: &random)
            let (place, mask) = (bit / 8, UInt8(1) << UInt8(bit % 8))
            if place < box.count {
                badBox[place] ^= mask
            } else if place < box.count + nonce.count {
                badNonce[place - box.count] ^= mask
            } else {
                badAAD[place - box.count - nonce.count] ^= mask
            }
            var output = [UInt8](repeating: 0x55, count: text.count)
            #expect(throws: CryptographyError.authenticationFailed, "round \(round), bit \(bit)") {
                try cipher.open(badBox, nonce: badNonce, aad: badAAD, into: &output)
            }
            #expect(output.allSatisfy { $0 == 0 }, "round \(round)")

            let again = try cipher.opened(box, nonce: nonce, aad: aad)
            #expect(again == text, "round \(round)")
        }
    }

    @Test func cutOrExtendedBoxesAreRefused() throws {
        var cipher = try AES256GCM(key: try secret([UInt8](repeating: 7, count: 32)))
        let nonce = [UInt8](repeating: 1, count: 12)
        let box = try cipher.sealed([1, 2, 3, 4, 5], nonce: nonce, aad: [9])
        for size in AES256GCM.tagSize..<box.count {
            #expect(throws: CryptographyError.authenticationFailed) {
                try cipher.opened(Array(box.prefix(size)), nonce: nonce, aad: [9])
            }
        }
        for size in 0..<AES256GCM.tagSize {
            #expect(throws: CryptographyError.invalidSize) {
                try cipher.opened(Array(box.prefix(size)), nonce: nonce, aad: [9])
            }
        }
        #expect(throws: CryptographyError.authenticationFailed) {
            try cipher.opened(box + [0], nonce: nonce, aad: [9])
        }
    }

    @Test(arguments: [0, 1, 16, 24, 31, 33, 64])
    func keysOfOtherSizesAreRefused(_ size: Int) throws {
        let key = try secret([UInt8](repeating: 1, count: size))
        #expect(throws: CryptographyError.invalidSize) { _ = try AES256GCM(key: key) }
    }

    @Test func otherSizesAreRefused() throws {
        var cipher = try AES256GCM(key: try secret([UInt8](repeating: 7, count: 32)))
        let nonce = [UInt8](repeating: 1, count: 12)
        let box = try cipher.sealed([1, 2, 3], nonce: nonce, aad: [])
        for size in [0, 2, 4, 19] {
            var output = [UInt8](repeating: 0x55, count: size)
            #expect(throws: CryptographyError.invalidSize) {
                try cipher.open(box, nonce: nonce, aad: [], into: &output)
            }
        }
        for size in [0, 8, 11, 13, 16] {
            #expect(throws: CryptographyError.invalidSize) {
                try cipher.opened(box, nonce: [UInt8](repeating: 1, count: size), aad: [])
            }
        }
        for size in [0, 3, 18, 20] {
            #expect(throws: CryptographyError.invalidSize) {
                try cipher.sealed([1, 2], [3], nonce: nonce, aad: [], outputSize: size)
            }
        }
    }

    @Test("ciphers made and used on many threads at once do not disturb each other")
    func threads() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<50 {
                        let vector = GCMVector.published[(task + round) % 4]
                        var cipher = try AES256GCM(key: try secret(vector.key))
                        let box = try cipher.sealed(vector.text, nonce: vector.nonce, aad: vector.aad)
                        let text = try cipher.opened(box, nonce: vector.nonce, aad: vector.aad)
                        if box != vector.box || text != vector.text { return false }
                    }
                    return true
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
