internal import COpenSSL
package import SecretMemory

/// HMAC with SHA-256 (RFC 2104, FIPS 198-1).
package enum OpenSSLHMACSHA256 {
    /// Computes the 32-byte tag of `message`.
    /// - Parameter key: 1 byte or more.
    /// - Throws: ``CryptographyError/invalidSize`` for an empty key, ``CryptographyError/library(code:)``.
    package static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes
    ) throws(CryptographyError) -> Digest {
        guard key.count > 0 else { throw .invalidSize }
        var digest = Digest()
        try OpenSSL.authenticate(message, key: key, hash: "SHA2-256", size: 32) { digest.withMutableBytes($0) }
        return digest
    }
}

enum OpenSSLOneTimeMAC {
    private static func name(_ hash: OneTimeHash) -> StaticString {
        switch hash {
        case .sha1: "SHA1"
        case .sha256: "SHA2-256"
        case .sha512: "SHA2-512"
        }
    }

    static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes, hash: OneTimeHash
    ) throws(CryptographyError) -> SecretBytes {
        var tag = try SecretBytes.zeroed(hash.size, lifetime: .transient)
        try OpenSSL.authenticate(message, key: key, hash: name(hash), size: hash.size) { tag.withMutableBytes($0) }
        return tag
    }
}

extension OpenSSL {
    /// HMAC with the hash of this name.
    /// - Parameter lend: Lends the `size` bytes that the tag goes to.
    fileprivate static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes, hash: StaticString, size: Int,
        _ lend: ((inout MutableRawSpan) -> Bool) -> Bool
    ) throws(CryptographyError) {
        try OpenSSL.start()
        let algorithm = try unsafe OpenSSL.hmac.pointer()
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { throw OpenSSL.takeError() }
        defer { unsafe EVP_MAC_CTX_free(context) }
        let parameters = unsafe [OpenSSL.parameter("digest", text: hash), OSSL_PARAM_construct_end()]
        let initialised = key.withBytes { key in
            unsafe parameters.withUnsafeBufferPointer { parameters in
                unsafe key.withPointer { unsafe EVP_MAC_init(context, $0, key.byteCount, parameters.baseAddress) == 1 }
            }
        }
        var written = 0
        let computed =
            unsafe initialised
            && message.withPointer { unsafe EVP_MAC_update(context, $0, message.byteCount) == 1 }
            && lend { tag in
                let room = tag.byteCount
                return unsafe tag.withMutablePointer { unsafe EVP_MAC_final(context, $0, &written, room) == 1 }
            }
        guard computed, written == size else { throw OpenSSL.takeError() }
    }
}

enum OpenSSLSHA256 {
    static func hash(_ bytes: RawSpan) -> Digest {
        var digest = Digest()
        let succeeded = unsafe bytes.withUnsafeBytes { source in
            digest.withMutableBytes { target in
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe EVP_Digest(source.baseAddress, source.count, target.baseAddress, nil, EVP_sha256(), nil) == 1
                }
            }
        }
        if !succeeded { fatalError("no SHA-256 in libcrypto") }  // because: no input causes it
        return digest
    }
}

enum OpenSSLSHA1 {
    static func hash(_ bytes: RawSpan, into digest: inout MutableRawSpan) throws(CryptographyError) {
        // libcrypto cleanses what it kept of the bytes.
        let succeeded = unsafe bytes.withUnsafeBytes { source in
            unsafe digest.withUnsafeMutableBytes { target in
                unsafe target.count == SHA1.size
                    && EVP_Digest(source.baseAddress, source.count, target.baseAddress, nil, EVP_sha1(), nil) == 1
            }
        }
        guard succeeded else { throw OpenSSL.takeError() }
    }
}

/// HKDF with SHA-256 (RFC 5869), extract and expand.
package enum OpenSSLHKDFSHA256 {
    /// Derives `count` bytes from key material that is already hard to guess; it does not stretch a passcode.
    /// - Parameters:
    ///   - inputKey: 1 byte or more.
    ///   - salt: Any size; empty means 32 zero bytes.
    ///   - info: Purpose of the result, up to 1,024 bytes.
    ///   - count: 1 to 8,160 bytes.
    ///   - lifetime: Where the result lies.
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/memory(_:)``,
    ///   ``CryptographyError/library(code:)``.
    package static func derive(
        _ inputKey: borrowing SecretBytes, salt: RawSpan, info: RawSpan, count: Int,
        lifetime: SecretLifetime = .transient
    ) throws(CryptographyError) -> SecretBytes {
        guard inputKey.count > 0, inputKey.count <= OpenSSL.maximumCount, salt.byteCount <= OpenSSL.maximumCount,
            info.byteCount <= 1024, count >= 1, count <= maximumCount
        else { throw .invalidSize }
        try OpenSSL.start()
        let algorithm = try unsafe OpenSSL.hkdf.pointer()
        var output = try SecretBytes.zeroed(count, lifetime: lifetime)
        guard let context = unsafe EVP_KDF_CTX_new(algorithm) else { throw OpenSSL.takeError() }
        defer { unsafe EVP_KDF_CTX_free(context) }  // cleanses its copy of the input key
        let status = output.withMutableBytes { output in
            inputKey.withBytes { key in
                unsafe withParameters(key, salt, info) { parameters in
                    unsafe output.withMutablePointer { unsafe EVP_KDF_derive(context, $0, count, parameters) }
                }
            }
        }
        guard status == 1 else { throw OpenSSL.takeError() }
        return output
    }

    /// The parameters point into the spans, so they exist only while the spans are lent.
    private static func withParameters(
        _ key: RawSpan, _ salt: RawSpan, _ info: RawSpan, _ body: (UnsafePointer<OSSL_PARAM>?) -> Int32
    ) -> Int32 {
        unsafe key.withPointer { keyBytes in
            unsafe salt.withPointer { saltBytes in
                unsafe info.withPointer { infoBytes in
                    var parameters = unsafe [
                        OpenSSL.parameter("digest", text: "SHA2-256"),
                        OpenSSL.parameter("key", keyBytes, key.byteCount),
                    ]
                    // A parameter of no bytes at no address is refused, so nothing is said instead.
                    if salt.byteCount > 0 {
                        unsafe parameters.append(OpenSSL.parameter("salt", saltBytes, salt.byteCount))
                    }
                    if info.byteCount > 0 {
                        unsafe parameters.append(OpenSSL.parameter("info", infoBytes, info.byteCount))
                    }
                    unsafe parameters.append(OSSL_PARAM_construct_end())
                    return unsafe parameters.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
                }
            }
        }
    }
}

extension OpenSSL {
    /// A named text; both live as long as the process.
    @unsafe static func parameter(_ name: StaticString, text: StaticString) -> OSSL_PARAM {
        unsafe OSSL_PARAM_construct_utf8_string(name.cName, UnsafeMutablePointer(mutating: text.cName), 0)
    }

    /// Named bytes that the caller keeps alive; libcrypto only reads them.
    @unsafe static func parameter(_ name: StaticString, _ bytes: UnsafePointer<UInt8>?, _ count: Int) -> OSSL_PARAM {
        unsafe OSSL_PARAM_construct_octet_string(name.cName, UnsafeMutableRawPointer(mutating: bytes), count)
    }
}
