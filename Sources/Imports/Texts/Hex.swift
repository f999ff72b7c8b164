internal import SecretMemory

/// Hexadecimal digits.
enum Hex {
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - 55
        default: nil
        }
    }

    /// Nil for what is not hexadecimal.
    static func decode(_ text: RawSpan) throws(ImportError) -> SecretBytes? {
        guard text.byteCount % 2 == 0 else { return nil }
        var bytes = try memory(SecretBytes(zeroed: text.byteCount / 2))
        for offset in 0..<bytes.count {
            guard let high = value(text[2 * offset]), let low = value(text[2 * offset + 1]) else { return nil }
            bytes.withMutableBytes { $0.storeBytes(of: high << 4 | low, toByteOffset: offset, as: UInt8.self) }
        }
        return bytes
    }
}
