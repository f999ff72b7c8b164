/// Base64 with `-` and `_` and without padding (RFC 4648, section 5), strict: one text for each value.
///
/// By tables: the SIMD types are slower here by an order of magnitude (their masks are taken apart lane by lane).
enum Base64URL {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// For each byte its sextet and 48, so that the table is text; `~`, which gives 78, for a byte outside the
    /// alphabet.
    private static let sextets: StaticString = """
        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~n~~defghijklm~~~~~~\
        ~0123456789:;<=>?@ABCDEFGHI~~~~o~JKLMNOPQRSTUVWXYZ[\\]^_`abc~~~~~\
        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\
        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
        """

    /// Decodes whole blocks of 16 characters to 12 bytes each, in place; false when a character is foreign.
    ///
    /// - Parameter buffer: At least 16 times `blocks` bytes.
    @inline(__always)
    static func decode(blocks: Int, in buffer: UnsafeMutableRawPointer) -> Bool {
        let table = unsafe sextets.utf8Start
        var foreign: UInt32 = 0
        for group in 0..<4 * blocks {
            let text = unsafe UInt32(
                littleEndian: buffer.loadUnaligned(fromByteOffset: 4 * group, as: UInt32.self))
            let first = unsafe UInt32(table[Int(text & 0xFF)]) &- 48
            let second = unsafe UInt32(table[Int(text >> 8 & 0xFF)]) &- 48
            let third = unsafe UInt32(table[Int(text >> 16 & 0xFF)]) &- 48
            let fourth = unsafe UInt32(table[Int(text >> 24)]) &- 48
            foreign |= first | second | third | fourth
            let word = first << 26 | second << 20 | third << 14 | fourth << 8
            // Each store overlaps the next one's place by a byte, and never reaches text that is still to be read.
            unsafe buffer.storeBytes(of: word.bigEndian, toByteOffset: 3 * group, as: UInt32.self)
        }
        return foreign < 64
    }

    /// Encodes 12 bytes per block to 16 characters, from one buffer into another.
    ///
    /// - Parameter bytes: 12 bytes for each block and one more, which is read and not used.
    @inline(__always)
    static func encode(blocks: Int, _ bytes: UnsafeRawPointer, into text: UnsafeMutableRawPointer) {
        let table = unsafe alphabet.utf8Start
        for group in 0..<4 * blocks {
            let word = unsafe UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 3 * group, as: UInt32.self))
            let first = unsafe UInt32(table[Int(word >> 26)])
            let second = unsafe UInt32(table[Int(word >> 20 & 63)])
            let third = unsafe UInt32(table[Int(word >> 14 & 63)])
            let fourth = unsafe UInt32(table[Int(word >> 8 & 63)])
            let four = first | second << 8 | third << 16 | fourth << 24
            unsafe text.storeBytes(of: four.littleEndian, toByteOffset: 4 * group, as: UInt32.self)
        }
    }
}
