internal import Cryptography

/// The word by which a program tells its vaults apart where floors are kept.
package struct FloorProfile: Sendable, Hashable {
    /// 1 to 64 bytes.
    package let name: String

    package static let standard = FloorProfile(checked: "default")

    /// - Returns: Nil for a word that is empty or longer than 64 bytes.
    package init?(_ name: String) {
        guard (1...64).contains(name.utf8.count) else { return nil }
        self.init(checked: name)
    }

    private init(checked name: String) { self.name = name }

    /// SHA-256 of "holdfast/1/floor" and the word: what the floor is found by.
    var digest: [UInt8] {
        let text = Array("holdfast/1/floor".utf8) + Array(name.utf8)
        return unsafe SHA256.hash(text.span.bytes).bytes
    }
}
