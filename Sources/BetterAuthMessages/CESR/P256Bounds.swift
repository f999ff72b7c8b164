/// Numbers of NIST P-256 (FIPS 186-5; SP 800-186, section 3.2.1.3), as big-endian words, the highest first.
enum P256Bounds {
    typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// The order of the base point.
    static let order: Words = (
        0xffff_ffff_0000_0000, 0xffff_ffff_ffff_ffff, 0xbce6_faad_a717_9e84, 0xf3b9_cac2_fc63_2551
    )
    /// The prime of the field.
    static let prime: Words = (
        0xffff_ffff_0000_0001, 0x0000_0000_0000_0000, 0x0000_0000_ffff_ffff, 0xffff_ffff_ffff_ffff
    )

    /// Whether the 32 bytes at an offset are below the bound. The caller knows that they are there.
    @inline(__always)
    static func isBelow(_ bound: Words, _ bytes: UnsafeRawPointer) -> Bool {
        unsafe words(bytes) < bound
    }

    @inline(__always)
    static func isZero(_ bytes: UnsafeRawPointer) -> Bool {
        let value = unsafe words(bytes)
        return value.0 | value.1 | value.2 | value.3 == 0
    }

    @inline(__always)
    private static func words(_ bytes: UnsafeRawPointer) -> Words {
        unsafe (word(bytes), word(bytes + 8), word(bytes + 16), word(bytes + 24))
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer) -> UInt64 {
        unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}
