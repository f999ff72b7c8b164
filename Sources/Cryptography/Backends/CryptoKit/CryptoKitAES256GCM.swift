#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
package import SecretMemory

/// AES-256 in Galois/counter mode (NIST SP 800-38D) by CryptoKit.
///
/// What is decrypted passes through memory of CryptoKit's that is not locked; it is wiped before the call returns.
package struct CryptoKitAES256GCM: ~Copyable, Sendable {
    private let key: SymmetricKey

    /// Takes a key of 32 bytes.
    /// - Throws: ``CryptographyError/invalidSize`` for another size.
    package init(key: borrowing SecretBytes) throws(CryptographyError) {
        guard key.count == Self.keySize else { throw .invalidSize }
        self.key = SymmetricKey(copying: key)
    }

    /// Encrypts two parts as one message, so that a header need not be joined with its text first.
    /// - Parameters:
    ///   - first: Start of the plaintext.
    ///   - second: Rest of the plaintext; may be empty.
    ///   - nonce: Never used before with this key.
    ///   - aad: Authenticated but not encrypted; may be empty.
    ///   - output: Receives ciphertext then tag; its size is that of both parts and 16 bytes.
    /// - Throws: ``CryptographyError/invalidSize`` for an output of another size or a message from 2 GiB on,
    ///   ``CryptographyError/library(code:)``, ``CryptographyError/memory(_:)`` (the output is then wiped).
    package mutating func seal(
        _ first: RawSpan, _ second: RawSpan, nonce: Nonce96, authenticating aad: RawSpan,
        into output: inout MutableRawSpan
    ) throws(CryptographyError) {
        let limit = Self.maximumCount
        guard first.byteCount <= limit, second.byteCount <= limit - first.byteCount, aad.byteCount <= limit,
            output.byteCount == first.byteCount + second.byteCount + Self.tagSize
        else { throw .invalidSize }
        do throws(CryptographyError) {
            if second.byteCount == 0 { return try seal(first, nonce, aad, &output) }
            // CryptoKit takes one piece.
            var joined = try SecretBytes.zeroed(first.byteCount + second.byteCount, lifetime: .transient)
            joined.withMutableBytes { joined in
                joined.copy(first, at: 0)
                joined.copy(second, at: first.byteCount)
            }
            try joined.withBytes { text throws(CryptographyError) in try seal(text, nonce, aad, &output) }
        } catch {
            output.wipe()
            throw error
        }
    }

    private func seal(
        _ text: RawSpan, _ nonce: Nonce96, _ aad: RawSpan, _ output: inout MutableRawSpan
    ) throws(CryptographyError) {
        let key = key
        let box = try CryptographyError.converting {
            try nonce.withBytes { nonce in
                try unsafe nonce.withUnsafeBytes { nonce in
                    try unsafe text.withUnsafeBytes { text in
                        try unsafe aad.withUnsafeBytes { aad in
                            try unsafe AES.GCM.seal(
                                text, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: aad)
                        }
                    }
                }
            }
        }
        output.copy(box.ciphertext, at: 0)
        output.copy(box.tag, at: text.byteCount)
    }

    /// Decrypts a box after checking its tag; nothing decrypted is left in `output` unless the tag matched.
    /// - Parameters:
    ///   - box: Ciphertext then tag, 16 bytes or more.
    ///   - nonce: 12 bytes.
    ///   - aad: What was authenticated beside it.
    ///   - output: Receives the plaintext; its size is that of the box less 16 bytes.
    /// - Throws: ``CryptographyError/authenticationFailed`` (the output is then wiped),
    ///   ``CryptographyError/invalidSize``, ``CryptographyError/library(code:)``.
    package mutating func open(
        _ box: RawSpan, nonce: RawSpan, authenticating aad: RawSpan, into output: inout MutableRawSpan
    ) throws(CryptographyError) {
        let limit = Self.maximumCount
        let textSize = box.byteCount - Self.tagSize
        guard textSize >= 0, textSize <= limit, aad.byteCount <= limit, output.byteCount == textSize,
            nonce.byteCount == Self.nonceSize
        else { throw .invalidSize }
        let key = key
        var text: Data
        do throws(CryptographyError) {
            text = try CryptographyError.converting {
                try unsafe nonce.withUnsafeBytes { nonce in
                    try unsafe box.withUnsafeBytes { box in
                        try unsafe aad.withUnsafeBytes { aad in
                            let sealed = try unsafe AES.GCM.SealedBox(
                                nonce: AES.GCM.Nonce(data: nonce), ciphertext: box[..<textSize], tag: box[textSize...])
                            return try unsafe AES.GCM.open(sealed, using: key, authenticating: aad)
                        }
                    }
                }
            }
        } catch {
            output.wipe()
            throw error
        }
        output.copy(text, at: 0)
        text.wipe()
    }

    private static let maximumCount = Int(Int32.max) - 64
}
#endif
