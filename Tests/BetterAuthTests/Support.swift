import BetterAuth
import BetterAuthGzip
import BetterAuthMessages
import Cryptography
import Foundation
import SecretMemory
import Testing

/// A vector file of the messages' tests.
func vectors<T: Decodable>(_ name: String, as type: T.Type = T.self) throws -> T {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let file = folder.appending(path: "BetterAuthMessagesTests/Vectors/\(name).json")
    return try JSONDecoder().decode(type, from: Data(contentsOf: file))
}

func hexBytes(_ text: String) throws -> [UInt8] {
    let digits = Array(text)
    return try stride(from: 0, to: digits.count, by: 2).map {
        try #require(UInt8(String(digits[$0..<Swift.min($0 + 2, digits.count)]), radix: 16))
    }
}

/// A key from a scalar, so that a test is the same each time.
func signingKey(_ hexadecimal: String) throws -> SoftwareSigningKey {
    let bytes = try hexBytes(hexadecimal)
    let scalar = try unsafe SecretBytes(copying: bytes.span.bytes)
    return try SoftwareSigningKey(scalar: scalar)
}

func time(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

extension [UInt8] {
    var text: String { String(decoding: self, as: UTF8.self) }
}

/// SplitMix64: a random source that repeats from its seed, which a failing test prints.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// The file Vectors/transcript.json.
struct Transcript: Decodable {
    struct Key: Decodable {
        let privateScalarHex: String
        let publicKey: String
    }
    struct Exchange: Decodable {
        let path: String?
        let client: String
        let now: String?
        let request: String?
        let response: String?
        let linkContainer: String?
    }
    let keys: [String: Key]
    let exchanges: [Exchange]

    static func load() throws -> Transcript { try vectors("transcript") }

    func key(_ name: String) throws -> SoftwareSigningKey {
        try signingKey(#require(keys[name]).privateScalarHex)
    }
}
