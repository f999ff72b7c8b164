internal import Holdfast
internal import SecretMemory
internal import VaultFormat
internal import SystemCalls

/// JSON (RFC 8259) that may have secrets in it, written into locked memory.
struct SecretJSON: ~Copyable {
    private var buffer = SecretBuffer()

    /// Text that is JSON already.
    mutating func raw(_ text: String) throws(CommandError) {
        try memory { (buffer) throws(SecretMemoryError) in try buffer.append(text) }
    }

    /// A value as a string, with what could act on a terminal escaped. What is not UTF-8 is written as the member
    /// `base64` of an object.
    mutating func value(_ bytes: RawSpan) throws(CommandError) {
        guard bytes.isUTF8 else { return try base64(bytes) }
        try memory { (buffer) throws(SecretMemoryError) in
            try buffer.append(UInt8(ascii: "\""))
            var offset = 0
            while offset < bytes.byteCount {
                let first = bytes.byte(at: offset)
                let size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
                let piece = bytes.extracting(offset..<min(offset + size, bytes.byteCount))
                offset += size
                try SecretJSON.append(piece, to: &buffer)
            }
            try buffer.append(UInt8(ascii: "\""))
        }
    }

    private static func append(_ character: RawSpan, to buffer: inout SecretBuffer) throws(SecretMemoryError) {
        var scalar = UInt32(character.byte(at: 0))
        if character.byteCount > 1 {
            scalar &= character.byteCount == 2 ? 0x1F : character.byteCount == 3 ? 0x0F : 0x07
            for offset in 1..<character.byteCount { scalar = scalar << 6 | UInt32(character.byte(at: offset) & 0x3F) }
        }
        switch scalar {
        case 0x22, 0x5C:
            try buffer.append(UInt8(ascii: "\\"))
            try buffer.append(character)
        default:
            guard let unicode = Unicode.Scalar(scalar), unicode != " ", Escaping.isUnsafe(unicode) else {
                return try buffer.append(character)
            }
            for unit in scalar > 0xFFFF ? [0xD800 + (scalar - 0x10000) >> 10, 0xDC00 + (scalar & 0x3FF)] : [scalar] {
                try buffer.append(UInt8(ascii: "\\"))
                try buffer.append(UInt8(ascii: "u"))
                for shift in [12, 8, 4, 0] as [UInt32] {
                    let digit = UInt8(truncatingIfNeeded: unit >> shift & 15)
                    try buffer.append(digit < 10 ? 48 + digit : 87 + digit)
                }
            }
        }
    }

    /// `{"base64":"..."}`
    mutating func base64(_ bytes: RawSpan) throws(CommandError) {
        try memory { (buffer) throws(SecretMemoryError) in
            try buffer.append("{\"base64\":\"")
            try Base64.append(bytes, to: &buffer)
            try buffer.append("\"}")
        }
    }

    /// All of it.
    borrowing func bytes() throws(CommandError) -> SecretBytes {
        do throws(SecretMemoryError) { return try buffer.bytes() } catch { throw CommandError(error) }
    }

    /// Writes all of it and a line's end to standard output.
    borrowing func write() throws(CommandError) {
        try buffer.withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: STDOUT_FILENO) }
        try Output.write("\n")
    }

    private mutating func memory(
        _ body: (inout SecretBuffer) throws(SecretMemoryError) -> Void
    ) throws(CommandError) {
        do throws(SecretMemoryError) { try body(&buffer) } catch { throw CommandError(error) }
    }
}
