import Foundation
import QRCodes

/// PNG files, made here: real ones, and such as nobody should decode.
enum PNGFile {
    /// A grey image (ISO/IEC 15948), its rows in stored blocks.
    /// - Parameter hasAlpha: Whether each pixel has its opacity behind it: 0 for light ones.
    static func grey(width: Int, rows: [[UInt8]], hasAlpha: Bool = false) -> [UInt8] {
        var raw: [UInt8] = []
        for row in rows { raw += [0] + (hasAlpha ? row.flatMap { [0, 255 - $0] } : row) }
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: raw.count, by: 65_535) {
            let block = raw[start..<min(start + 65_535, raw.count)]
            let isLast: UInt8 = start + block.count == raw.count ? 1 : 0
            let count = UInt16(block.count)
            stream +=
                [isLast, UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8)] + block
        }
        stream += word(adler(raw))
        return beginning + header(width, rows.count, color: hasAlpha ? 4 : 0) + chunk("IDAT", stream)
            + chunk("IEND", [])
    }

    /// An image that says it is so large, and has one row of nothing.
    static func bomb(width: Int, height: Int) -> [UInt8] {
        beginning + header(width, height, color: 0)
            + chunk("IDAT", [0x78, 0x01, 1, 1, 0, 0xFE, 0xFF, 0] + word(1)) + chunk("IEND", [])
    }

    /// A picture of a text's code, or of several beside each other; light on dark where it is `inverted`.
    static func codes(_ texts: [String], inverted: Bool = false, hasAlpha: Bool = false) -> [UInt8]? {
        let scale = 4
        let codes = texts.compactMap { QRMatrix(of: $0) }
        guard codes.count == texts.count, let tallest = codes.map(\.width).max() else { return nil }
        let side = tallest + 2 * QRMatrix.margin
        let rows = (0..<side * scale).map { y in
            codes.flatMap { code in
                (0..<side * scale).map { x -> UInt8 in
                    let isDark = code.isDark(y / scale - QRMatrix.margin, x / scale - QRMatrix.margin)
                    return isDark == inverted ? 255 : 0
                }
            }
        }
        return grey(width: side * scale * codes.count, rows: rows, hasAlpha: hasAlpha)
    }

    private static let beginning: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func header(_ width: Int, _ height: Int, color: UInt8) -> [UInt8] {
        chunk("IHDR", word(UInt32(width)) + word(UInt32(height)) + [8, color, 0, 0, 0])
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return word(UInt32(content.count)) + body + word(checksum(body))
    }

    private static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = .max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }
}
