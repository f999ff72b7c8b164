import Cryptography
import SecretMemory
import TestSupport
import Testing

@Suite struct SHA1Tests {
    /// FIPS 180-4's examples, and the empty message.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ), (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ])
    func `digests are those of the standard`(_ message: String, _ digest: String) throws {
        let found = try secret(message).withBytes { try SHA1.hash(ofSecret: $0) }
        #expect(found.revealed() == hexBytes(digest))
    }
}
