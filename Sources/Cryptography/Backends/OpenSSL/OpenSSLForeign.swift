internal import COpenSSL
package import SecretMemory

// What files of other programs are encrypted with. The vault itself does not use these.

/// AES-256 as other programs use it.
package enum BlockCipher {
    /// Decrypts in CBC mode (NIST SP 800-38A) and removes the padding of PKCS #7. Check a tag first: an error says that
    /// the padding is wrong.
    /// - Throws: ``CryptographyError/invalidSize`` for other sizes, ``CryptographyError/library(code:)`` for wrong
    ///   padding.
    package static func decryptCBC(
        _ content: RawSpan, key: borrowing SecretBytes, vector: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard vector.byteCount == 16, content.byteCount > 0, content.byteCount % 16 == 0 else { throw .invalidSize }
        // The last block first, whose padding says how much all of it is: the content is not copied to get rid of it.
        let start = content.byteCount - 16
        let before = start > 0 ? content.extracting(start - 16..<start) : vector
        let last = try unsafe OpenSSLStream.run(
            EVP_aes_256_cbc(), content.extracting(start..<content.byteCount), key: key, vector: before, encrypts: false)
        return try unsafe OpenSSLStream.run(
            EVP_aes_256_cbc(), content, key: key, vector: vector, encrypts: false, room: start + last.count)
    }

    /// As ``decryptCBC(_:key:vector:)``, the other way.
    /// - Throws: As it.
    package static func encryptCBC(
        _ content: RawSpan, key: borrowing SecretBytes, vector: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        try unsafe OpenSSLStream.run(EVP_aes_256_cbc(), content, key: key, vector: vector, encrypts: true)
    }

    /// Encrypts two blocks again and again, each by itself, as KeePass derives keys.
    /// - Throws: ``CryptographyError/invalidSize`` unless both are 32 bytes.
    package static func transform(
        _ blocks: borrowing SecretBytes, key: borrowing SecretBytes, rounds: UInt64
    ) throws(CryptographyError) -> SecretBytes {
        guard blocks.count == 32, key.count == 32 else { throw .invalidSize }
        try OpenSSL.start()
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSL.takeError() }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var isDone = key.withBytes { key in
            unsafe key.withPointer { unsafe EVP_EncryptInit_ex(context, EVP_aes_256_ecb(), nil, $0, nil) == 1 }
        }
        unsafe EVP_CIPHER_CTX_set_padding(context, 0)
        var state = try SecretBytes.copy(of: blocks)
        state.withMutableBytes { state in
            unsafe state.withMutablePointer { state in
                guard let state = unsafe state else { return }
                var round: UInt64 = 0
                while isDone, round < rounds {
                    var count: Int32 = 0
                    isDone = unsafe EVP_EncryptUpdate(context, state, &count, state, 32) == 1 && count == 32
                    round += 1
                }
            }
        }
        guard isDone else { throw OpenSSL.takeError() }
        return state
    }
}

/// ChaCha20 (RFC 8439) without a tag.
package enum StreamCipher {
    /// Encrypts or decrypts from the beginning of the stream.
    /// - Parameter nonce: 12 bytes.
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/library(code:)``.
    package static func chacha20(
        _ content: RawSpan, key: borrowing SecretBytes, nonce: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard nonce.byteCount == 12 else { throw .invalidSize }
        // libcrypto's vector begins with the counter of 32 bits.
        let vector = [0, 0, 0, 0] + (0..<12).map { unsafe nonce.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        return try unsafe OpenSSLStream.run(
            EVP_chacha20(), content, key: key, vector: vector.span.bytes, encrypts: true)
    }
}

/// AES-256-GCM with a tag that lies elsewhere.
package enum AuthenticatedCipher {
    /// - Throws: ``CryptographyError/library(code:)`` for a wrong key or changed bytes.
    package static func open(
        _ content: RawSpan, tag: RawSpan, key: borrowing SecretBytes, nonce: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard tag.byteCount == 16, nonce.byteCount == 12 else { throw .invalidSize }
        return try unsafe OpenSSLStream.run(
            EVP_aes_256_gcm(), content, key: key, vector: nonce, encrypts: false, tag: tag)
    }
}

/// One run of a cipher over bytes that are all there.
enum OpenSSLStream {
    /// - Parameter room: Bytes that come out, where it is known; there is no copy then.
    static func run(
        _ cipher: OpaquePointer?, _ content: RawSpan, key: borrowing SecretBytes, vector: RawSpan, encrypts: Bool,
        tag: RawSpan? = nil, isPadded: Bool = true, room: Int? = nil
    ) throws(CryptographyError) -> SecretBytes {
        guard unsafe Int(EVP_CIPHER_get_key_length(cipher)) == key.count, content.byteCount <= OpenSSL.maximumCount
        else { throw .invalidSize }
        try OpenSSL.start()
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSL.takeError() }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var isDone = key.withBytes { key in
            unsafe key.withPointer { key in
                unsafe vector.withPointer {
                    unsafe EVP_CipherInit_ex(context, cipher, nil, key, $0, encrypts ? 1 : 0) == 1
                }
            }
        }
        if !isPadded { unsafe EVP_CIPHER_CTX_set_padding(context, 0) }
        if let tag, isDone {
            var copy = (0..<tag.byteCount).map { unsafe tag.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            isDone = unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(copy.count), &copy) == 1
        }
        let isStream = unsafe EVP_CIPHER_get_block_size(cipher) == 1
        // Never nothing: what has no address would be decrypted by nobody, and its tag not checked.
        var output = try SecretBytes.zeroed(
            max(1, room ?? (isStream ? content.byteCount : content.byteCount + 16)), lifetime: .transient)
        var (count, rest): (Int32, Int32) = (0, 0)
        output.withMutableBytes { output in
            unsafe output.withMutablePointer { output in
                guard let output = unsafe output, isDone else {
                    isDone = false
                    return
                }
                isDone = unsafe content.withPointer {
                    unsafe EVP_CipherUpdate(context, output, &count, $0, Int32(content.byteCount)) == 1
                }
                if isDone { isDone = unsafe EVP_CipherFinal_ex(context, output + Int(count), &rest) == 1 }
            }
        }
        guard isDone else { throw OpenSSL.takeError() }
        guard Int(count + rest) < output.count else { return output }
        do throws(SecretMemoryError) { return try output.copy(0..<Int(count + rest)) } catch { throw .memory(error) }
    }
}

/// PBKDF2 with HMAC-SHA-256 (RFC 8018, section 5.2).
package enum PBKDF2SHA256 {
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/library(code:)``.
    package static func derive(
        _ password: borrowing SecretBytes, salt: RawSpan, rounds: Int, count: Int
    ) throws(CryptographyError) -> SecretBytes {
        guard (1...Int(Int32.max)).contains(rounds), (1...1024).contains(count) else { throw .invalidSize }
        return try unsafe OpenSSL.derive(password, salt, count) { password, salted, output in
            unsafe PKCS5_PBKDF2_HMAC(
                password.baseAddress, Int32(password.count), salted, Int32(salt.byteCount), Int32(rounds),
                EVP_sha256(), Int32(count), output)
        }
    }
}

/// scrypt (RFC 7914).
package enum Scrypt {
    /// Working memory that a derivation may take, in bytes.
    private static let memory: UInt64 = 1 << 30

    /// - Parameters:
    ///   - cost: N, a power of two.
    ///   - block: r.
    ///   - lanes: p.
    /// - Throws: ``CryptographyError/library(code:)`` also when more than 1 GiB were needed.
    package static func derive(
        _ password: borrowing SecretBytes, salt: RawSpan, cost: Int, block: Int, lanes: Int, count: Int
    ) throws(CryptographyError) -> SecretBytes {
        guard cost > 1, block > 0, lanes > 0, (1...1024).contains(count) else { throw .invalidSize }
        return try unsafe OpenSSL.derive(password, salt, count) { password, salted, output in
            unsafe EVP_PBE_scrypt(
                password.baseAddress, password.count, salted, salt.byteCount, UInt64(cost), UInt64(block),
                UInt64(lanes), memory, output, count)
        }
    }
}

extension OpenSSL {
    /// Lends a password, a salt and the place of `count` derived bytes to a function that says 1 once they are there.
    @unsafe fileprivate static func derive(
        _ password: borrowing SecretBytes, _ salt: RawSpan, _ count: Int,
        _ body: (UnsafeBufferPointer<CChar>, UnsafePointer<UInt8>?, UnsafeMutablePointer<UInt8>?) -> Int32
    ) throws(CryptographyError) -> SecretBytes {
        try OpenSSL.start()
        var output = try SecretBytes.zeroed(count, lifetime: .transient)
        let status = password.withBytes { password in
            unsafe password.withUnsafeBytes { password in
                unsafe salt.withPointer { salt in
                    output.withMutableBytes { output in
                        unsafe output.withMutablePointer {
                            unsafe body(password.assumingMemoryBound(to: CChar.self), salt, $0)
                        }
                    }
                }
            }
        }
        guard status == 1 else { throw OpenSSL.takeError() }
        return output
    }
}

/// SHA-512 (FIPS 180-4).
package enum SHA512 {
    /// The 64 bytes, in locked memory.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package static func hash(_ bytes: RawSpan) throws(CryptographyError) -> SecretBytes {
        var digest = try SecretBytes.zeroed(64, lifetime: .transient)
        let isDone = unsafe bytes.withUnsafeBytes { source in
            digest.withMutableBytes { target in
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe EVP_Digest(source.baseAddress, source.count, target.baseAddress, nil, EVP_sha512(), nil) == 1
                }
            }
        }
        guard isDone else { throw OpenSSL.takeError() }
        return digest
    }
}

extension SecretBytes {
    fileprivate static func copy(of bytes: borrowing SecretBytes) throws(CryptographyError) -> SecretBytes {
        do throws(SecretMemoryError) { return try bytes.copy() } catch { throw .memory(error) }
    }
}
