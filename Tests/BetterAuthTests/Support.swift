import BetterAuth
import BetterAuthVerification
import BetterAuthMessages
import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing

/// A vector file of the messages' tests.
func vectors<T: Decodable>(_ name: String, as type: T.Type = T.self) throws -> T {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let file = folder.appending(path: "BetterAuthMessagesTests/Vectors/\(name).json")
    return try JSONDecoder().decode(type, from: Data(contentsOf: file))
}

/// A key from a scalar, so that a test is the same each time.
func signingKey(_ hexadecimal: String) throws -> SoftwareSigningKey {
    let bytes = hexBytes(hexadecimal)
    let scalar = try unsafe SecretBytes(copying: bytes.span.bytes)
    return try SoftwareSigningKey(scalar: scalar)
}

func time(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

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
