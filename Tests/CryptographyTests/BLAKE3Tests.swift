import Foundation
import SecretMemory
import TestSupport
import Testing

@testable import Cryptography

@Suite(.seeded) struct BLAKE3Tests {
    @Test("official digest", arguments: BLAKE3Vector.digests)
    func digests(_ vector: BLAKE3Vector) throws { try Self.check(vector, outputLength: 32) }

    @Test("official output", arguments: BLAKE3Vector.outputs)
    func outputs(_ vector: BLAKE3Vector) throws { try Self.check(vector, outputLength: 131) }

    private static let vectorFile = "vectors/blake3/test_vectors.json"

    @Test(.enabled(if: SharedVectors.has(vectorFile), Comment(rawValue: SharedVectors.missing)))
    func everyOfficialVector() throws {
        struct File: Decodable {
            struct Case: Decodable {
                let inputLen: Int
                let hash, keyedHash, deriveKey: String
            }
            let key, contextString: String
            let cases: [Case]
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let file = try decoder.decode(File.self, from: try #require(SharedVectors.data(Self.vectorFile)))
        #expect(file.key == BLAKE3Vector.key)
        #expect(file.contextString == BLAKE3Vector.context)
        #expect(file.cases.count == 35)
        for vector in file.cases {
            let vector = BLAKE3Vector(
                vector.inputLen, hash: vector.hash, keyed: vector.keyedHash, derived: vector.deriveKey)
            try Self.check(vector, outputLength: 131)
        }
    }

    /// All ways to reach the answer of each mode.
    private static func check(_ vector: BLAKE3Vector, outputLength: Int) throws {
        let input = blake3Input(vector.length)
        let key = Array(BLAKE3Vector.key.utf8)
        let length: Comment = "\(vector.length) bytes"

        var plain = BLAKE3()
        plain.update(input)
        #expect(hexadecimal(blake3Output(&plain, outputLength)) == vector.hash, length)
        #expect(hexadecimal(plain.finalize().bytes) == vector.hash.prefix(64), length)
        #expect(hexadecimal(BLAKE3.hash(input).bytes) == vector.hash.prefix(64), length)

        var keyed = try BLAKE3(key: secret(key))
        keyed.update(input)
        let oneShot = try BLAKE3.keyedHash(input, key: key)
        #expect(hexadecimal(blake3Output(&keyed, outputLength)) == vector.keyed, length)
        #expect(hexadecimal(keyed.finalize().bytes) == vector.keyed.prefix(64), length)
        #expect(hexadecimal(oneShot.bytes) == vector.keyed.prefix(64), length)

        var deriving = try BLAKE3(deriveKeyContext: BLAKE3Vector.context)
        deriving.update(input)
        let material = try secret(input)
        let derived = try BLAKE3.deriveKey(context: BLAKE3Vector.context, material: material, lifetime: .transient)
        #expect(hexadecimal(blake3Output(&deriving, outputLength)) == vector.derived, length)
        #expect(hexadecimal(derived.revealed()) == vector.derived.prefix(64), length)
    }

    @Test func aPaddedBlockGivesTheDigestOfItsFirstBytes() throws {
        let key = Array(BLAKE3Vector.key.utf8)
        for count in 0...64 {
            let input = blake3Input(count)
            let block = input + [UInt8](repeating: 0, count: 64 - count)
            let digest = unsafe try BLAKE3.keyedHash(padded: block.span.bytes, count: count, key: key.span.bytes)
            #expect(try digest == BLAKE3.keyedHash(input, key: key), "\(count) bytes")
        }
        for (size, count) in [(63, 10), (65, 10), (64, 65), (64, -1)] {
            let block = [UInt8](repeating: 0, count: size)
            #expect(throws: CryptographyError.invalidSize) {
                unsafe try BLAKE3.keyedHash(padded: block.span.bytes, count: count, key: key.span.bytes)
            }
        }
    }

    @Test func splittingTheInputChangesNothing() throws {
        var random = SeededGenerator()
        let key = random.bytes(32)
        for _ in 0..<30 {
            let input = random.bytes(.random(in: 0...80_000, using: &random))
            let whole = try BLAKE3.keyedHash(input, key: key)
            var hasher = try BLAKE3(key: secret(key))
            let largest = [70, 1_500, 9_000, 40_000].randomElement(using: &random) ?? 70
            var offset = 0
            while offset < input.count {
                let piece = min(.random(in: 0...largest, using: &random), input.count - offset)
                hasher.update(input[offset..<(offset + piece)])
                offset += piece
            }
            let digest = hasher.finalize()
            #expect(digest == whole, "\(input.count) bytes in pieces of up to \(largest)")
        }
    }

    /// Whole-chunk pieces never take the four-lane path, so the two paths check each other around every tree shape.
    @Test(arguments: [-1, 0, 1])
    func chunkByChunkEqualsAllAtOnce(_ difference: Int) {
        let input = blake3Input(70 * 1024)
        for chunks in 1...69 {
            let count = chunks * 1024 + difference
            var hasher = BLAKE3()
            for offset in stride(from: 0, to: count, by: 1024) {
                hasher.update(input[offset..<min(offset + 1024, count)])
            }
            let digest = hasher.finalize()
            #expect(digest == BLAKE3.hash(input[..<count]), "\(count) bytes")
        }
    }

    /// The last chunk of the first four GiB of chunks is out of a test's reach, the carry of its number is not.
    @Test func laneCountersCarryIntoTheHighWord() {
        let input = blake3Input(4096)
        let key = BLAKE3.initialisationVector
        let counter = UInt64(UInt32.max) - 1
        let halves = unsafe BLAKE3.subtree(input.span.bytes, at: 0, chunks: 4, counter: counter, key: key, flags: 0)
        let chunks = (0..<4).map { index in
            unsafe BLAKE3.chunk(
                input.span.bytes, at: 1024 * index, count: 1024, counter: counter + UInt64(index), key: key, flags: 0)
        }
        func parent(_ children: [BLAKE3.ChainingValue]) -> BLAKE3.ChainingValue {
            unsafe children.withUnsafeBytes { block in
                unsafe BLAKE3.compress(
                    key, RawSpan(_unsafeBytes: block), at: 0, counter: 0, length: 64, flags: BLAKE3.Flag.parent)
            }
        }
        #expect(halves.left == parent(Array(chunks[..<2])))
        #expect(halves.right == parent(Array(chunks[2...])))
    }

    @Test func shorterOutputIsAPrefix() {
        var hasher = BLAKE3()
        hasher.update(blake3Input(1300))
        let long = blake3Output(&hasher, 512)
        #expect(hasher.finalize().bytes == Array(long.prefix(32)))
        for length in [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 131, 300, 511] {
            #expect(blake3Output(&hasher, length) == Array(long.prefix(length)), "\(length) bytes")
        }
        let blocks = Set(stride(from: 0, to: 512, by: 64).map { Array(long[$0..<($0 + 64)]) })
        #expect(blocks.count == 8)
    }

    @Test func finalizingDoesNotEndTheInput() {
        let input = blake3Input(5000)
        var hasher = BLAKE3()
        var offset = 0
        for piece in [0, 10, 54, 1, 959, 0, 1, 2048, 1024, 903] {
            hasher.update(input[offset..<(offset + piece)])
            offset += piece
            let digest = hasher.finalize()
            #expect(digest == BLAKE3.hash(input[..<offset]), "\(offset) bytes")
        }
        #expect(offset == input.count)
    }

    @Test(arguments: [0, 16, 31, 33, 64])
    func keysOfAnotherSizeAreRefused(_ size: Int) throws {
        let key = [UInt8](repeating: 1, count: size)
        #expect(throws: CryptographyError.invalidSize) {
            try BLAKE3.keyedHash(key, key: key)
        }
        let secret = try secret(key)
        #expect(throws: CryptographyError.invalidSize) {
            var hasher = try BLAKE3(key: secret)
            hasher.update(key)
        }
    }

    @Test func modesAndKeysGiveDifferentAnswers() throws {
        let input = blake3Input(100)
        var key = [UInt8](repeating: 0, count: 32)
        var answers: Set = [BLAKE3.hash(input)]
        for position in 0..<32 {
            key[position] ^= 0x80
            answers.insert(try BLAKE3.keyedHash(input, key: key))
        }
        for context in ["", "a", "b", String(repeating: "a", count: 2000)] {
            var hasher = try BLAKE3(deriveKeyContext: context)
            hasher.update(input)
            answers.insert(hasher.finalize())
        }
        #expect(answers.count == 37)
    }
}
