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
            let pair = unit(offset).flatMap { Unicode.Scalar(first, $0) }
            if pair != nil { offset += 2 }
            guard let encoded = (pair ?? Unicode.Scalar(first)).flatMap(UTF8.encode) else {
                take(0xFF)
                continue
            }
            for byte in encoded { take(byte) }
        }
        if offset < bytes.byteCount { take(0xFF) }
    }
}

extension Unicode.Scalar {
    /// What two halves of UTF-16 are together; nil for what are none.
    init?(_ leading: UInt32, _ trailing: UInt32) {
        guard leading & ~0x3FF == 0xD800, trailing & ~0x3FF == 0xDC00 else { return nil }
        self.init(0x10000 + (leading & 0x3FF) << 10 | (trailing & 0x3FF))
    }
}
