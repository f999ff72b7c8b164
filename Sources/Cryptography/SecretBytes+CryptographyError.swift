internal import SecretMemory

extension SecretBytes {
    /// Reserves `count` bytes, all zero, for callers that throw ``CryptographyError``.
    /// - Throws: ``CryptographyError/memory(_:)``.
    static func zeroed(_ count: Int, lifetime: SecretLifetime) throws(CryptographyError) -> SecretBytes {
        do throws(SecretMemoryError) {
            return try SecretBytes(zeroed: count, lifetime: lifetime)
        } catch {
            throw .memory(error)
        }
    }
}
