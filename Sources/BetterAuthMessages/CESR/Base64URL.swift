/// Base64 with `-` and `_` and without padding (RFC 4648, section 5), strict: one text for each value.
enum Base64URL {
    /// The sextets of 16 characters; above 63 where a character is outside the alphabet.
    @inline(__always)
    static func sextets(_ text: SIMD16<UInt8>) -> SIMD16<UInt8> {
        let upper = text &- 65
        let lower = text &- 97
        let digit = text &- 48
        var value = SIMD16<UInt8>(repeating: 0xFF)
        value.replace(with: upper, where: upper .< 26)
        value.replace(with: lower &+ 26, where: lower .< 26)
        value.replace(with: digit &+ 52, where: digit .< 10)
        value.replace(with: 62, where: text .== 45)
        value.replace(with: 63, where: text .== 95)
        return value
    }

    /// The characters of 16 sextets, each below 64.
    @inline(__always)
    static func characters(_ value: SIMD16<UInt8>) -> SIMD16<UInt8> {
        var text = value &+ 65
        text.replace(with: value &+ 71, where: value .>= 26)
        text.replace(with: value &- 4, where: value .>= 52)
        text.replace(with: 45, where: value .== 62)
        text.replace(with: 95, where: value .== 63)
        return text
    }

    /// Decodes whole blocks of 16 characters to 12 bytes each, in place; false when a character is foreign.
    ///
    /// - Parameter buffer: At least 16 times `blocks` bytes.
    @inline(__always)
    static func decode(blocks: Int, in buffer: UnsafeMutableRawPointer) -> Bool {
        var foreign = SIMD16<UInt8>()
        for block in 0..<blocks {
            let text = unsafe buffer.loadUnaligned(fromByteOffset: 16 * block, as: SIMD16<UInt8>.self)
            let value = sextets(text)
            foreign |= value
            // Four sextets of a group come as one little-endian word and leave as three bytes, the first one first.
            let word = unsafe unsafeBitCast(value, to: SIMD4<UInt32>.self)
            let low = (word & 0x3F) &<< 2 | (word & 0x3000) &>> 12
            let middle = (word & 0x0F00) &<< 4 | (word & 0x3C_0000) &>> 10
            let high = (word & 0x03_0000) &<< 6 | (word & 0x3F00_0000) &>> 8
            let group = low | middle | high
            // Each store overlaps the next one's place by a byte, and never reaches text that is still to be read.
            for lane in 0..<4 {
                unsafe buffer.storeBytes(
                    of: group[lane].littleEndian, toByteOffset: 12 * block + 3 * lane, as: UInt32.self)
            }
        }
        return foreign.max() < 64
    }

    /// Encodes 12 bytes per block to 16 characters, from one buffer into another.
    ///
    /// - Parameter bytes: 12 bytes for each block and one more, which is read and not used.
    @inline(__always)
    static func encode(blocks: Int, _ bytes: UnsafeRawPointer, into text: UnsafeMutableRawPointer) {
        for block in 0..<blocks {
            var word = SIMD4<UInt32>()
            for lane in 0..<4 {
                word[lane] = unsafe UInt32(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: 12 * block + 3 * lane, as: UInt32.self))
            }
            let first = (word & 0xFC) &>> 2
            let second = (word & 0x03) &<< 12 | (word & 0xF000) &>> 4
            let third = (word & 0x0F00) &<< 10 | (word & 0xC0_0000) &>> 6
            let fourth = (word & 0x3F_0000) &<< 8
            let value = unsafe unsafeBitCast(first | second | third | fourth, to: SIMD16<UInt8>.self)
            unsafe text.storeBytes(of: characters(value), toByteOffset: 16 * block, as: SIMD16<UInt8>.self)
        }
    }
}
