internal import COpenSSL
package import SecretMemory

/// AES-256 in Galois/counter mode (NIST SP 800-38D) under one key, with a context that is kept between operations.
///
/// The expanded key lies in libcrypto's heap, which is not locked memory; it is cleansed when this value goes.
@safe package struct OpenSSLAES256GCM: ~Copyable, @unchecked Sendable {  // sole owner of its context
    // One context serves both directions: GCM runs the cipher forwards either way, so only the IV changes.
    private let context: OpaquePointer

    /// Expands a key of 32 bytes.
    /// - Throws: ``CryptographyError/invalidSize`` for another size, ``CryptographyError/library(code:)``.
    package init(key: borrowing SecretBytes) throws(CryptographyError) {
        guard key.count == Self.keySize else { throw .invalidSize }
        try OpenSSL.start()
        let cipher = try unsafe OpenSSL.aes256GCM.pointer()
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSL.takeError() }
        let status = key.withBytes { key in
            unsafe key.withPointer { unsafe EVP_EncryptInit_ex(context, cipher, nil, $0, nil) }
        }
        guard status == 1 else {
            unsafe EVP_CIPHER_CTX_free(context)
            throw OpenSSL.takeError()
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Encrypts two parts as one message, so that a header need not be joined with its text first.
    /// - Parameters:
    ///   - first: Start of the plaintext.
    ///   - second: Rest of the plaintext; may be empty.
    ///   - nonce: Never used before with this key.
    ///   - aad: Authenticated but not encrypted; may be empty.
    ///   - output: Receives ciphertext then tag; its size is that of both parts and 16 bytes.
    /// - Throws: ``CryptographyError/invalidSize`` for an output of another size or a message from 2 GiB on,
    ///   ``CryptographyError/library(code:)`` (the output is then wiped).
    package mutating func seal(
        _ first: RawSpan, _ second: RawSpan, nonce: Nonce96, authenticating aad: RawSpan,
        into output: inout MutableRawSpan
    ) throws(CryptographyError) {
        let limit = OpenSSL.maximumCount
        guard first.byteCount <= limit, second.byteCount <= limit - first.byteCount, aad.byteCount <= limit,
            output.byteCount == first.byteCount + second.byteCount + Self.tagSize
        else { throw .invalidSize }
        let initialised = nonce.withBytes { nonce in
            unsafe nonce.withPointer { unsafe EVP_EncryptInit_ex(context, nil, nil, nil, $0) == 1 }
        }
        let sealed = unsafe output.withMutablePointer { output in
            guard initialised, let output = unsafe output else { return false }
            let secondOutput = unsafe output + first.byteCount
            let tag = unsafe secondOutput + second.byteCount
            var none: Int32 = 0
            return unsafe update(nil, aad) && update(output, first) && update(secondOutput, second)
                && EVP_EncryptFinal_ex(context, tag, &none) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagSize), tag) == 1
        }
        guard sealed else {
            output.wipe()
            throw OpenSSL.takeError()
        }
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
        let limit = OpenSSL.maximumCount
        let textSize = box.byteCount - Self.tagSize
        guard textSize >= 0, textSize <= limit, aad.byteCount <= limit, output.byteCount == textSize,
            nonce.byteCount == Self.nonceSize
        else { throw .invalidSize }
        let tag = box.extracting(textSize..<box.byteCount)
        let isPrepared = unsafe nonce.withPointer { unsafe EVP_DecryptInit_ex(context, nil, nil, nil, $0) == 1 }
        let isDecrypted =
            unsafe isPrepared && update(nil, aad)
            && output.withMutablePointer { unsafe update($0, box.extracting(0..<textSize)) }
            && tag.withPointer { tag in
                unsafe EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagSize), UnsafeMutableRawPointer(mutating: tag)) == 1
            }
        guard isDecrypted else {
            output.wipe()
            throw OpenSSL.takeError()
        }
        // Writes nothing in this mode, but takes an address for it.
        var nothing: (UInt64, UInt64) = (0, 0)
        var none: Int32 = 0
        let isAuthentic = unsafe withUnsafeMutableBytes(of: &nothing) { nothing in
            unsafe EVP_DecryptFinal_ex(context, nothing.baseAddress?.assumingMemoryBound(to: UInt8.self), &none) == 1
        }
        guard isAuthentic else {
            output.wipe()
            ERR_clear_error()
            throw .authenticationFailed
        }
    }

    /// Runs `input` through the context; without an output it is authenticated data.
    @inline(__always)
    private borrowing func update(_ output: UnsafeMutablePointer<UInt8>?, _ input: RawSpan) -> Bool {
        guard input.byteCount > 0 else { return true }
        var written: Int32 = 0
        return unsafe input.withPointer {
            unsafe EVP_CipherUpdate(context, output, &written, $0, Int32(input.byteCount)) == 1
        }
    }
}
