internal import SecretMemory

/// Deflate (RFC 1951) into locked memory, with a limit that is checked before each byte is written.
struct Inflate {
    private var position: Int
    private let end: Int
    private var bits: UInt32 = 0
    private var bitCount = 0

    private init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// Expands a stream.
    /// - Returns: What it was made of, and the offset behind it.
    /// - Throws: `malformed` for what is no stream; `tooLarge` beyond the limit.
    static func expand(
        _ bytes: RawSpan, _ range: Range<Int>, limit: Int = ImportLimits.expanded
    ) throws(ImportError) -> (content: SecretBufferBox, end: Int) {
        var reader = Inflate(range)
        let output = SecretBufferBox(limit: limit)
        try reader.run(bytes, output)
        return (output, reader.position - reader.bitCount / 8)
    }

    private func fault() -> ImportError { ImportError(.malformed, "byte \(position)", "compressed data is damaged") }

    private mutating func take(_ count: Int, _ bytes: RawSpan) throws(ImportError) -> Int {
        while bitCount < count {
            guard position < end else { throw fault() }
            bits |= UInt32(bytes[position]) << UInt32(bitCount)
            position += 1
            bitCount += 8
        }
        defer {
            bits >>= UInt32(count)
            bitCount -= count
        }
        return Int(bits & (1 << UInt32(count) - 1))
    }

    private mutating func run(_ bytes: RawSpan, _ output: SecretBufferBox) throws(ImportError) {
        var isLast = false
        while !isLast {
            isLast = try take(1, bytes) == 1
            switch try take(2, bytes) {
            case 0: try stored(bytes, output)
            case 1: try compressed(bytes, output, Inflate.fixedLengths, Inflate.fixedDistances)
            case 2:
                let (lengths, distances) = try tables(bytes)
                try compressed(bytes, output, lengths, distances)
            default: throw fault()
            }
        }
    }

    private mutating func stored(_ bytes: RawSpan, _ output: SecretBufferBox) throws(ImportError) {
        // Whole bytes that were read ahead go back.
        position -= bitCount / 8
        (bits, bitCount) = (0, 0)
        guard end - position >= 4 else { throw fault() }
        let size = Int(bytes[position]) | Int(bytes[position + 1]) << 8
        let check = Int(bytes[position + 2]) | Int(bytes[position + 3]) << 8
        position += 4
        guard size ^ check == 0xFFFF, end - position >= size else { throw fault() }
        try output.append(bytes.extracting(position..<position + size))
        position += size
    }

    private mutating func compressed(
        _ bytes: RawSpan, _ output: SecretBufferBox, _ lengths: Huffman, _ distances: Huffman
    ) throws(ImportError) {
        while true {
            let symbol = try self.symbol(lengths, bytes)
            if symbol < 256 {
                try output.append(UInt8(symbol))
                continue
            }
            if symbol == 256 { return }
            guard symbol < 286 else { throw fault() }
            let length = try Inflate.lengthBases[symbol - 257] + take(Inflate.lengthExtra[symbol - 257], bytes)
            let code = try self.symbol(distances, bytes)
            guard code < 30 else { throw fault() }
            let distance = try Inflate.distanceBases[code] + take(Inflate.distanceExtra[code], bytes)
            guard distance <= output.count else { throw fault() }
            try output.repeatBytes(distance: distance, count: length)
        }
    }

    private mutating func tables(_ bytes: RawSpan) throws(ImportError) -> (Huffman, Huffman) {
        let lengthCount = try take(5, bytes) + 257
        let distanceCount = try take(5, bytes) + 1
        let codeCount = try take(4, bytes) + 4
        guard lengthCount <= 286, distanceCount <= 30 else { throw fault() }
        var codes = [Int](repeating: 0, count: 19)
        for place in Inflate.codeOrder.prefix(codeCount) { codes[place] = try take(3, bytes) }
        guard let code = Huffman(codes) else { throw fault() }
        var sizes: [Int] = []
        while sizes.count < lengthCount + distanceCount {
            let symbol = try self.symbol(code, bytes)
            switch symbol {
            case 0...15: sizes.append(symbol)
            case 16:
                guard let last = sizes.last else { throw fault() }
                sizes += [Int](repeating: last, count: 3 + (try take(2, bytes)))
            case 17: sizes += [Int](repeating: 0, count: 3 + (try take(3, bytes)))
            default: sizes += [Int](repeating: 0, count: 11 + (try take(7, bytes)))
            }
        }
        guard sizes.count == lengthCount + distanceCount, sizes[256] > 0,
            let lengths = Huffman(Array(sizes[..<lengthCount])), let distances = Huffman(Array(sizes[lengthCount...]))
        else { throw fault() }
        return (lengths, distances)
    }

    private mutating func symbol(_ table: Huffman, _ bytes: RawSpan) throws(ImportError) -> Int {
        var (code, first, index) = (0, 0, 0)
        for length in 1...15 {
            code |= try take(1, bytes)
            let count = table.counts[length]
            if code - first < count { return table.symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw fault()
    }

    /// Codes by their lengths, in the order of RFC 1951, section 3.2.2.
    struct Huffman: Sendable {
        let counts: [Int]
        let symbols: [Int]

        /// Nil where there are more codes than can be. One code alone may be incomplete.
        init?(_ lengths: [Int]) {
            var counts = [Int](repeating: 0, count: 16)
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            var left = 1
            for length in 1...15 {
                left = left << 1 - counts[length]
                if left < 0 { return nil }
            }
            let used = counts.reduce(0, +)
            guard left == 0 || used <= 1 else { return nil }
            self.counts = counts
            symbols = (1...15).flatMap { length in lengths.indices.filter { lengths[$0] == length } }
        }
    }

    private static let codeOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthExtra = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193,
        12289, 16385, 24577,
    ]
    private static let distanceExtra = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    // The fixed codes are complete, so they are never nil.
    private static let fixedLengths = Huffman(
        [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
            + [Int](repeating: 8, count: 8))!
    private static let fixedDistances = Huffman([Int](repeating: 5, count: 32))!
}

/// Expanded bytes in locked memory, shared by reference while they grow.
final class SecretBufferBox {
    private var buffer: SecretBuffer

    init(limit: Int) { buffer = SecretBuffer(limit: limit) }

    var count: Int { buffer.count }

    func append(_ byte: UInt8) throws(ImportError) {
        do throws(SecretMemoryError) { try buffer.append(byte) } catch { throw ImportError(error) }
    }

    func append(_ bytes: RawSpan) throws(ImportError) {
        do throws(SecretMemoryError) { try buffer.append(bytes) } catch { throw ImportError(error) }
    }

    /// Appends what was written so far before, byte by byte, since the two parts may overlap.
    func repeatBytes(distance: Int, count: Int) throws(ImportError) {
        for _ in 0..<count {
            let byte = buffer.withBytes { $0[$0.byteCount - distance] }
            try append(byte)
        }
    }

    func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try buffer.withBytes(body)
    }

    func bytes() throws(ImportError) -> SecretBytes {
        do throws(SecretMemoryError) { return try buffer.bytes() } catch { throw ImportError(error) }
    }
}

/// Gzip (RFC 1952), one member.
enum GzipFile {
    static func expand(_ bytes: RawSpan) throws(ImportError) -> SecretBufferBox {
        guard bytes.byteCount >= 18, bytes[0] == 0x1F, bytes[1] == 0x8B, bytes[2] == 8, bytes[3] & 0xE0 == 0 else {
            throw .malformed("", "the compressed content is no gzip")
        }
        var position = 10
        func need(_ count: Int) throws(ImportError) {
            guard bytes.byteCount - position >= count else { throw .malformed("", "the compressed content is cut off") }
        }
        if bytes[3] & 4 != 0 {
            try need(2)
            position += 2 + Int(bytes[position]) + Int(bytes[position + 1]) << 8
        }
        for flag in [8, 16] as [UInt8] where bytes[3] & flag != 0 {
            try need(1)
            while bytes[position] != 0 {
                position += 1
                try need(1)
            }
            position += 1
        }
        if bytes[3] & 2 != 0 { position += 2 }
        try need(8)
        let (content, end) = try Inflate.expand(bytes, position..<bytes.byteCount - 8)
        guard end == bytes.byteCount - 8 else { throw .malformed("", "something follows the compressed content") }
        let (check, size) = (bytes.word(end), bytes.word(end + 4))
        guard content.withBytes({ Checksum.crc32($0) }) == check, size == UInt32(truncatingIfNeeded: content.count)
        else {
            throw .malformed("", "the checksum of the compressed content is wrong")
        }
        return content
    }
}

enum Checksum {
    private static let table: [UInt32] = (0..<256).map { value in
        (0..<8).reduce(UInt32(value)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }

    static func crc32(_ bytes: RawSpan) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for offset in 0..<bytes.byteCount { crc = table[Int((crc ^ UInt32(bytes[offset])) & 0xFF)] ^ crc >> 8 }
        return ~crc
    }
}

extension RawSpan {
    /// 32 bits, little-endian; outside is our own mistake and traps.
    func word(_ offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32(8 * $1) }
    }

    /// 16 bits, little-endian.
    func half(_ offset: Int) -> Int { Int(self[offset]) | Int(self[offset + 1]) << 8 }
}
