import Cryptography
import SecretMemory
import TestSupport
import Testing

/// What files of other programs are encrypted with, by the vectors of the standards.
@Suite struct ForeignCipherTests {
    /// NIST SP 800-38A, F.1.5 and F.2.5.
    private static let key = hexBytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    private static let text = hexBytes(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")

    @Test func `AES-256 in CBC mode by NIST's example, padded and back`() throws {
        let vector = hexBytes("000102030405060708090a0b0c0d0e0f")
        let key = try secret(Self.key)
        let sealed = try unsafe BlockCipher.encryptCBC(
            Self.text.span.bytes, key: key, vector: vector.span.bytes
        ).revealed()
        #expect(sealed.count == 48)
        #expect(
            Array(sealed.prefix(32))
                == hexBytes("f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"))
        let opened = try unsafe BlockCipher.decryptCBC(sealed.span.bytes, key: key, vector: vector.span.bytes)
        #expect(opened.revealed() == Self.text)
        // Without its last block the end is no padding.
        let cut = Array(sealed.prefix(32))
        #expect(throws: CryptographyError.self) {
            _ = try unsafe BlockCipher.decryptCBC(cut.span.bytes, key: key, vector: vector.span.bytes).count
        }
        let odd = Array(sealed.prefix(31))
        #expect(throws: CryptographyError.invalidSize) {
            _ = try unsafe BlockCipher.decryptCBC(odd.span.bytes, key: key, vector: vector.span.bytes).count
        }
    }

    /// The padding is looked at before the content is decrypted: one block, several, and each length.
    @Test func `each size comes back from CBC mode, and a wrong last byte is refused`() throws {
        let vector = [UInt8](repeating: 7, count: 16)
        let key = try secret(Self.key)
        for count in 0...49 {
            let text = (0..<count).map { UInt8($0) }
            var sealed = try unsafe BlockCipher.encryptCBC(text.span.bytes, key: key, vector: vector.span.bytes)
                .revealed()
            #expect(
                try unsafe BlockCipher.decryptCBC(sealed.span.bytes, key: key, vector: vector.span.bytes).revealed()
                    == text, "\(count)")
            #expect(throws: CryptographyError.invalidSize) {
                _ = try unsafe BlockCipher.decryptCBC(
                    sealed.span.bytes, key: key, vector: vector.span.bytes.extracting(0..<15)
                ).count
            }
            // A padding of one byte, turned into 0x81: none is that long.
            guard count % 16 == 15 else { continue }
            if count > 16 { sealed[sealed.count - 17] ^= 0x80 }
            var first = vector
            if count < 16 { first[15] ^= 0x80 }
            #expect(throws: CryptographyError.self) {
                _ = try unsafe BlockCipher.decryptCBC(sealed.span.bytes, key: key, vector: first.span.bytes).count
            }
        }
    }

    @Test func `KeePass' derivation is AES in ECB mode, again and again`() throws {
        let key = try secret(Self.key)
        let blocks = try secret(Self.text)
        let once = hexBytes("f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870")
        #expect(try BlockCipher.transform(blocks, key: key, rounds: 1).revealed() == once)
        let again = try BlockCipher.transform(secret(once), key: key, rounds: 1).revealed()
        #expect(try BlockCipher.transform(blocks, key: key, rounds: 2).revealed() == again)
    }

    /// RFC 8439, section 2.4.2, whose text begins at the second block.
    @Test func `ChaCha20 by the RFC's example, from the beginning of its stream`() throws {
        let key = try secret((0..<32).map { UInt8($0) })
        let nonce = hexBytes("000000000000004a00000000")
        let text = Array(
            """
            Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.
            """.utf8)
        let content = [UInt8](repeating: 0, count: 64) + text
        let sealed = try unsafe StreamCipher.chacha20(content.span.bytes, key: key, nonce: nonce.span.bytes).revealed()
        #expect(
            Array(sealed.dropFirst(64))
                == hexBytes(
                    """
                    6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b3571639d624e65152ab\
                    8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab77937365af90bbf74a35be6b40b8eedf2785e42874d
                    """))
    }

    @Test func `AES-256-GCM with its tag elsewhere opens, and nothing that was changed`() throws {
        let key = try secret([UInt8](repeating: 0, count: 32))
        let (nonce, content) = ([UInt8](repeating: 0, count: 12), hexBytes("cea7403d4d606b6e074ec5d3baf39d18"))
        var tag = hexBytes("d0d1c8a799996bf0265b98b5d48ab919")
        let opened = try unsafe AuthenticatedCipher.open(
            content.span.bytes, tag: tag.span.bytes, key: key, nonce: nonce.span.bytes)
        #expect(opened.revealed() == [UInt8](repeating: 0, count: 16))
        tag[0] ^= 1
        let wrong = tag
        #expect(throws: CryptographyError.self) {
            _ = try unsafe AuthenticatedCipher.open(
                content.span.bytes, tag: wrong.span.bytes, key: key, nonce: nonce.span.bytes
            ).count
        }
    }

    /// NIST's first example of AES-256-GCM: nothing has a tag as well.
    @Test func `the tag of nothing is checked`() throws {
        let key = try secret([UInt8](repeating: 0, count: 32))
        let (nonce, content) = ([UInt8](repeating: 0, count: 12), [UInt8]())
        var tag = hexBytes("530f8afbc74536b9a963b4f1c4cb738b")
        let opened = try unsafe AuthenticatedCipher.open(
            content.span.bytes, tag: tag.span.bytes, key: key, nonce: nonce.span.bytes)
        #expect(opened.count == 0)
        tag[15] ^= 1
        let wrong = tag
        #expect(throws: CryptographyError.self) {
            _ = try unsafe AuthenticatedCipher.open(
                content.span.bytes, tag: wrong.span.bytes, key: key, nonce: nonce.span.bytes
            ).count
        }
    }

    /// RFC 7914, section 11.
    @Test func `PBKDF2 by the RFC's example`() throws {
        let salt = Array("salt".utf8)
        let derived = try unsafe PBKDF2SHA256.derive(
            secret(Array("passwd".utf8)), salt: salt.span.bytes, rounds: 1, count: 64)
        #expect(
            derived.revealed()
                == hexBytes(
                    """
                    55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc\
                    49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783
                    """))
    }

    /// RFC 7914, section 12.
    @Test(arguments: [
        (
            "", "", 16, 1, 1,
            """
            77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442\
            fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906
            """
        ),
        (
            "password", "NaCl", 1024, 8, 16,
            """
            fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162\
            2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
            """
        ),
    ])
    func `scrypt by the RFC's examples`(
        _ password: String, _ salt: String, _ cost: Int, _ block: Int, _ lanes: Int, _ expected: String
    ) throws {
        let salt = Array(salt.utf8)
        let derived = try unsafe Scrypt.derive(
            secret(Array(password.utf8)), salt: salt.span.bytes, cost: cost, block: block, lanes: lanes, count: 64)
        #expect(derived.revealed() == hexBytes(expected))
    }

    /// FIPS 180-4's example of one block.
    @Test func `SHA-512 of three letters`() throws {
        let text = Array("abc".utf8)
        #expect(
            try unsafe SHA512.hash(text.span.bytes).revealed()
                == hexBytes(
                    """
                    ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                    2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
                    """))
    }
}
