internal import COpenSSL

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
        // Out of memory, or a libcrypto without SHA-256: no input brings this about, and no caller could go on.
        if !succeeded { fatalError("libcrypto cannot compute SHA-256") }
        return digest
    }
}
