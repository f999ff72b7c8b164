#if canImport(CryptoKit)
internal import Security
internal import SecretMemory

/// Random bytes from the system's generator, which the kernel seeds and which survives a fork.
package enum CryptoKitSecureRandom {
    /// Overwrites `bytes` with random bytes fit for keys.
    /// - Throws: ``CryptographyError/library(code:)`` when the generator fails (`bytes` is then wiped),
    ///   ``CryptographyError/invalidSize`` from 2 GiB on.
    package static func fill(_ bytes: inout MutableRawSpan) throws(CryptographyError) {
        guard bytes.byteCount <= Int(Int32.max) - 64 else { throw .invalidSize }
        guard bytes.byteCount > 0 else { return }
        let status = unsafe bytes.withUnsafeMutableBytes { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return errSecParam }
            return unsafe SecRandomCopyBytes(kSecRandomDefault, bytes.count, base)
        }
        guard status == errSecSuccess else {
            bytes.wipe()
            throw .library(code: UInt(status.magnitude))
        }
    }

    /// Overwrites `bytes` with random bytes that will be seen by others; the system has one generator for both.
    /// - Throws: as ``fill(_:)``.
    package static func fillPublic(_ bytes: inout MutableRawSpan) throws(CryptographyError) { try fill(&bytes) }
}
#endif
