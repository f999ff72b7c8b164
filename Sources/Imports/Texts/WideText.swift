internal import SecretMemory

/// A text in UTF-16 with a byte order mark.
struct WideText {
    private let isBigEndian: Bool

    /// Nil for bytes without the mark.
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= 2 else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0xFE, 0xFF): isBigEndian = true
        case (0xFF, 0xFE): isBigEndian = false
        default: return nil
        }
    }

    /// Bytes that it takes in UTF-8, without the mark.
    func size(in bytes: RawSpan) -> Int {
        var size = 0
        visit(bytes) { byte in size += 1 }
        return size
    }

    /// The text in UTF-8, in locked memory. Half of a character becomes bytes that are not UTF-8, so that it is found
    /// where it is.
    func text(in bytes: RawSpan, size: Int) throws(ImportError) -> SecretBytes {
        var text = try memory(SecretBytes(zeroed: size))
        text.withMutableBytes { text in
            var offset = 0
            visit(bytes) { byte in
                text.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
                offset += 1
            }
        }
        return text
    }

    private func visit(_ bytes: RawSpan, _ take: (UInt8) -> Void) {
        var offset = 2
        func unit(_ offset: Int) -> UInt32? {
            guard offset + 1 < bytes.byteCount else { return nil }
            return UInt32(bytes[isBigEndian ? offset : offset + 1]) << 8
                | UInt32(bytes[isBigEndian ? offset + 1 : offset])
        }
        while let first = unit(offset) {
            offset += 2
            var scalar = first
            if first & 0xFC00 == 0xD800, let second = unit(offset), second & 0xFC00 == 0xDC00 {
                scalar = 0x10000 + (first & 0x3FF) << 10 | (second & 0x3FF)
                offset += 2
            }
            switch scalar {
            case 0..<0x80: take(UInt8(scalar))
            case 0x80..<0x800:
                take(UInt8(0xC0 | scalar >> 6))
                take(UInt8(0x80 | scalar & 0x3F))
            case 0x800..<0x10000:
                take(UInt8(0xE0 | scalar >> 12))
                take(UInt8(0x80 | scalar >> 6 & 0x3F))
                take(UInt8(0x80 | scalar & 0x3F))
            default:
                take(UInt8(0xF0 | scalar >> 18))
                take(UInt8(0x80 | scalar >> 12 & 0x3F))
                take(UInt8(0x80 | scalar >> 6 & 0x3F))
                take(UInt8(0x80 | scalar & 0x3F))
            }
        }
        if offset < bytes.byteCount { take(0xFF) }
    }
}
