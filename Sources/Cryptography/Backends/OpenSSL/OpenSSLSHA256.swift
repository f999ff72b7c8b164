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
        if !succeeded { fatalError("no SHA-256 in libcrypto") }  // because: no input causes it
        return digest
    }
}
