/// The sizes that what travels has, so that a road learns no other.
package enum EntrySize {
    /// All of them: 1 to 32 KiB. The largest fits as base64 into one access request.
    package static let allowed = (0...5).map { 1024 << $0 }
    package static let signature = 64
    package static let tag = 16
    /// What is in an entry besides its plaintext: front, tag, signature.
    package static let overhead = EntryFront.size + tag + signature
    /// Bytes of the longest plaintext.
    package static let longestPlaintext = (1024 << 5) - overhead

    /// The smallest size for a plaintext; nil where none is large enough.
    package static func fitting(plaintext count: Int) -> Int? {
        guard count >= 0 else { return nil }
        return allowed.first { count <= $0 - overhead }
    }
}
