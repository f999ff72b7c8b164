internal import SecretMemory

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
