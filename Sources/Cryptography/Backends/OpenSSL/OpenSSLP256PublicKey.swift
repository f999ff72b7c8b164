internal import COpenSSL

/// A point on P-256 that verifies signatures. Making one costs about as much as a third of a verification: keep those
/// that are used again.
package final class OpenSSLP256PublicKey: Sendable {
    let key: OpenSSLP256.Key
    private let verifications: OpenSSLP256.Operations
    /// The point in 33 bytes: 02 or 03, then x.
    package let compressed: [UInt8]

    /// Takes a compressed point (SEC 1, section 2.3.4).
    /// - Throws: ``CryptographyError/invalidPoint`` unless it is 33 bytes that start with 02 or 03, with x below the
    ///   field's prime and on the curve; ``CryptographyError/library(code:)``.
    package init(compressed bytes: RawSpan) throws(CryptographyError) {
        guard bytes.byteCount == Self.compressedSize else { throw .invalidPoint }
        let compressed = bytes.array
        guard compressed[0] == 2 || compressed[0] == 3 else { throw .invalidPoint }
        key = try OpenSSLP256.publicKey(bytes)
        verifications = OpenSSLP256.Operations(.verify, with: key)
        self.compressed = compressed
    }

    /// Takes the 65 bytes 04, x, y, as a private key gives them.
    init(uncompressed bytes: RawSpan) throws(CryptographyError) {
        guard bytes.byteCount == 65 else { throw .invalidPoint }
        let point = bytes.array
        guard point[0] == 4 else { throw .invalidPoint }
        key = try OpenSSLP256.publicKey(bytes)
        verifications = OpenSSLP256.Operations(.verify, with: key)
        compressed = [2 | point[64] & 1] + point[1...32]
    }

    /// The point as 04, x, y: 65 bytes.
    /// - Throws: ``CryptographyError/library(code:)``.
    package func uncompressed() throws(CryptographyError) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: 1 + 2 * OpenSSLP256.size)
        point[0] = 4
        // Not "pub": that is the point in the form in which the key was given.
        for (name, start) in [("qx" as StaticString, 1), ("qy", 1 + OpenSSLP256.size)] {
            var coordinate: OpaquePointer?
            defer { unsafe BN_free(coordinate) }
            guard unsafe EVP_PKEY_get_bn_param(key.pointer, name.cName, &coordinate) == 1 else {
                throw OpenSSL.takeError()
            }
            let count = unsafe point.withUnsafeMutableBufferPointer { point in
                unsafe BN_bn2binpad(coordinate, point.baseAddress! + start, Int32(OpenSSLP256.size))
            }
            guard count == OpenSSLP256.size else { throw .invalidPoint }
        }
        return point
    }

    /// Verifies an ECDSA signature over the SHA-256 of `message`.
    /// - Parameter signature: r then s, 64 bytes; a high s is accepted.
    /// - Returns: False for any other size, for r or s outside 1 to n - 1, and also when libcrypto fails.
    package func isValid(signature: RawSpan, for message: RawSpan) -> Bool {
        guard signature.byteCount == 2 * OpenSSLP256.size, let digest = try? OpenSSLP256.digest(message) else {
            return reportInvalid()
        }
        let isValid = try? unsafe verifications.withContext { context in
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: OpenSSLP256.maximumDERCount) { der in
                guard let base = der.baseAddress, let count = unsafe OpenSSLP256.encodeDER(signature, into: base)
                else { return false }
                return digest.withBytes { digest in
                    unsafe digest.withPointer {
                        unsafe EVP_PKEY_verify(context, base, count, $0, digest.byteCount) == 1
                    }
                }
            }
        }
        return isValid == true ? true : reportInvalid()
    }

    private func reportInvalid() -> Bool {
        ERR_clear_error()
        return false
    }
}

extension RawSpan {
    /// A copy; never of a secret.
    var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
