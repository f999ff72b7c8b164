internal import Holdfast

/// Locked memory for input.
func secret(_ count: Int) throws(CommandError) -> SecretBytes {
    do throws(SecretMemoryError) { return try SecretBytes(zeroed: count) } catch { throw CommandError(error) }
}

extension SecretBytes {
    /// A copy of the first bytes, the size that a secret really has.
    borrowing func prefix(_ count: Int) throws(CommandError) -> SecretBytes {
        do throws(SecretMemoryError) { return try copy(0..<count) } catch { throw CommandError(error) }
    }
}

extension RawSpan {
    /// One byte; an offset outside is our own mistake and traps.
    package func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
