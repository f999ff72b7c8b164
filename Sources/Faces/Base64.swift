internal import SecretMemory
internal import VaultFormat

/// Base 64 (RFC 4648, section 4), for keys of SSH.
enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Of what is public.
    static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = Array(bytes[start..<min(start + 3, bytes.count)])
            let bits = part.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (16 - 8 * UInt32($1.offset)) }
            for index in 0..<4 {
                text.append(
                    index <= part.count ? letters[Int(bits >> (18 - 6 * UInt32(index)) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// What a text stands for, in locked memory; blanks and line ends are left out. Nil for any other character, and where it ends
    /// within a byte.
    static func decoded(_ text: RawSpan) throws(SecretMemoryError) -> SecretBytes? {
        var output = try SecretBytes(zeroed: text.byteCount * 3 / 4 + 3)
        let size: Int? = output.withMutableBytes { output in
            var (bits, count, end, padding) = (UInt32(0), 0, 0, 0)
            for offset in 0..<text.byteCount {
                let byte = text.present(at: offset, as: UInt8.self)
                if byte == 0x0A || byte == 0x0D || byte == 0x20 || byte == 0x09 { continue }
                if byte == UInt8(ascii: "=") {
                    padding += 1
                    continue
                }
                guard padding == 0, let value = value(byte) else { return nil }
                bits = bits << 6 | value
                count += 6
                guard count >= 8 else { continue }
                count -= 8
                output.storeBytes(
                    of: UInt8(truncatingIfNeeded: bits >> UInt32(count)), toByteOffset: end, as: UInt8.self)
                bits &= 1 << UInt32(count) - 1
                end += 1
            }
            return padding <= 2 && count < 6 && bits == 0 ? end : nil
        }
        guard let size else { return nil }
        return try output.copy(0..<size)
    }

    /// By arithmetic: a table would be read at places that depend on the key.
    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - 65)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - 71)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte + 4)
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
