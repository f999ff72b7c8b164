internal import COpenSSL
internal import SecretMemory

enum OpenSSLOneTimeMAC {
    private static func parameter(_ hash: OneTimeHash) -> OSSL_PARAM {
        switch hash {
        case .sha1: unsafe OpenSSL.parameter("digest", text: "SHA1")
        case .sha256: unsafe OpenSSL.parameter("digest", text: "SHA2-256")
        case .sha512: unsafe OpenSSL.parameter("digest", text: "SHA2-512")
        }
    }

    static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes, hash: OneTimeHash
    ) throws(CryptographyError) -> SecretBytes {
        try OpenSSL.start()
        let algorithm = try unsafe OpenSSL.hmac.pointer()
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { throw OpenSSL.takeError() }
        defer { unsafe EVP_MAC_CTX_free(context) }
        let parameters = unsafe [parameter(hash), OSSL_PARAM_construct_end()]
        let initialised = key.withBytes { key in
            unsafe parameters.withUnsafeBufferPointer { parameters in
                unsafe key.withPointer { unsafe EVP_MAC_init(context, $0, key.byteCount, parameters.baseAddress) == 1 }
            }
        }
        var tag = try SecretBytes.zeroed(hash.size, lifetime: .transient)
        var written = 0
        let computed =
            unsafe initialised
            && message.withPointer { unsafe EVP_MAC_update(context, $0, message.byteCount) == 1 }
            && tag.withMutableBytes { tag in
                let size = tag.byteCount
                return unsafe tag.withMutablePointer { unsafe EVP_MAC_final(context, $0, &written, size) == 1 }
            }
        guard computed, written == hash.size else { throw OpenSSL.takeError() }
        return tag
    }
}
