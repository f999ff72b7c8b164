public import SecretMemory

/// What a cryptographic operation can refuse. Never carries a key, a text or a library's own message.
public enum CryptographyError: Error, Sendable, Hashable {
    /// The authentication tag did not match: wrong key, or the data was changed. The output was wiped.
    case authenticationFailed
    /// A key, nonce, salt, buffer or count has a size the operation does not take.
    case invalidSize
    /// A P-256 scalar is zero or not below the group order.
    case scalarOutOfRange
    /// Bytes that should be a compressed P-256 point are not one on the curve.
    case invalidPoint
    /// Locked memory could not be had.
    case memory(SecretMemoryError)
    /// The library refused or ran out of memory; the number is its own error code.
    case library(code: UInt)
}

// SecretBytes for callers that throw CryptographyError.
extension SecretBytes {
    /// Reserves `count` bytes, all zero.
    /// - Throws: ``CryptographyError/memory(_:)``.
    static func zeroed(_ count: Int, lifetime: SecretLifetime) throws(CryptographyError) -> SecretBytes {
        do throws(SecretMemoryError) {
            return try SecretBytes(zeroed: count, lifetime: lifetime)
        } catch {
            throw .memory(error)
        }
    }

    /// An independent secret with the same bytes.
    /// - Throws: ``CryptographyError/memory(_:)``.
    borrowing func duplicate() throws(CryptographyError) -> SecretBytes {
        do throws(SecretMemoryError) {
            return try copy()
        } catch {
            throw .memory(error)
        }
    }
}
