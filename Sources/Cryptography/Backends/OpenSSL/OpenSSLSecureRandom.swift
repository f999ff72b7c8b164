internal import COpenSSL
internal import SecretMemory

/// Random bytes from libcrypto's per-thread CTR-DRBG (NIST SP 800-90A), seeded by the kernel, reseeded after a fork.
package enum OpenSSLSecureRandom {
    /// Overwrites `bytes` with random bytes fit for keys.
    /// - Throws: ``CryptographyError/library(code:)`` when the generator could not be seeded (`bytes` is then wiped),
    ///   ``CryptographyError/invalidSize`` from 2 GiB on, ``CryptographyError/memory(_:)`` without locked memory.
    package static func fill(_ bytes: inout MutableRawSpan) throws(CryptographyError) {
        try unsafe fill(&bytes) { unsafe RAND_priv_bytes($0, $1) }
    }

    /// Overwrites `bytes` with random bytes that will be seen by others. They come from a generator of their own, so
    /// that nothing can be learnt from them about keys.
    /// - Throws: as ``fill(_:)``.
    package static func fillPublic(_ bytes: inout MutableRawSpan) throws(CryptographyError) {
        try unsafe fill(&bytes) { unsafe RAND_bytes($0, $1) }
    }

    private static func fill(
        _ bytes: inout MutableRawSpan, _ generate: (UnsafeMutablePointer<UInt8>?, Int32) -> Int32
    ) throws(CryptographyError) {
        try OpenSSL.start()
        let count = bytes.byteCount
        guard count <= OpenSSL.maximumCount else { throw .invalidSize }
        guard count > 0 else { return }
        guard unsafe bytes.withMutablePointer({ unsafe generate($0, Int32(count)) }) == 1 else {
            bytes.wipe()
            throw OpenSSL.takeError()
        }
    }
}
