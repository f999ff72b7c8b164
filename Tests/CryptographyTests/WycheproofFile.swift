import Foundation
import TestSupport
import Testing

/// A file of Project Wycheproof, with those fields that our primitives need.
struct WycheproofFile<Group: Decodable & Sendable>: Decodable, Sendable {
    var numberOfTests: Int
    var testGroups: [Group]

    /// Reads a file that ``SharedVectors`` has.
    static func load(_ name: String) throws -> WycheproofFile {
        let data = try #require(SharedVectors.data(wycheproofPath(name)))
        return try JSONDecoder().decode(WycheproofFile.self, from: data)
    }
}

func wycheproofPath(_ name: String) -> String { "vectors/wycheproof/\(name).json" }

/// What a vector asks for. An unknown word fails the decoding: "acceptable" does not occur in these files.
enum WycheproofResult: String, Decodable, Sendable {
    case valid
    case invalid
}

/// Bytes written in hexadecimal.
struct HexBytes: Decodable, Sendable {
    var bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        bytes = hexBytes(try decoder.singleValueContainer().decode(String.self))
    }
}
