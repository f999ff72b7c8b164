import Cryptography
import TestSupport
import Testing

@Suite struct RecoveryPhraseChecksumTests {
    /// FIPS 180-4 examples (NIST, "SHA256.pdf") and the digest of nothing.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func sha256(_ text: String, _ digest: String) {
        let bytes = Array(text.utf8)
        let found = unsafe SHA256.hash(bytes.span.bytes)
        #expect(hexadecimal(found.bytes) == digest)
    }
}
