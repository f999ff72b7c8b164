package import Holdfast

/// Replaces values in what passes through, however it is cut into pieces. What may yet become a value is kept back
/// until it is one, or is not, or the end comes.
///
/// Time is linear in what passes: each value is followed by an automaton of its own (Knuth, Morris and Pratt), and only
/// those that have begun cost anything.
package struct Masker: ~Copyable {
    /// What stands in place of a value.
    package static let mask: StaticString = "<masked>"
    /// Values shorter than this are not replaced: they would be found everywhere.
    package static let shortest = 4
    /// Of a value with several lines, lines from this size on are replaced by themselves, too.
    private static let shortestLine = 8
    /// Values and lines that are looked for, at most.
    private static let mostPatterns = 4096
    /// Bytes that are looked at in one go.
    private static let longestPiece = 65_536

    private final class Pattern {
        let bytes: SecretBytes
        /// For each length of a beginning: how long the longest end of it is that is a beginning, too (4 bytes each).
        let fallback: SecretBytes
        var matched = 0

        init(_ value: RawSpan) throws(SecretMemoryError) {
            bytes = try SecretBytes(copying: value)
            var fallback = try SecretBytes(zeroed: 4 * value.byteCount)
            fallback.withMutableBytes { table in
                var length = 0
                for offset in 1..<max(1, value.byteCount) {
                    while length > 0, value.byte(at: offset) != value.byte(at: length) {
                        length = Pattern.entry(table.bytes, length - 1)
                    }
                    if value.byte(at: offset) == value.byte(at: length) { length += 1 }
                    table.storeBytes(of: UInt32(length), toByteOffset: 4 * offset, as: UInt32.self)
                }
            }
            self.fallback = fallback
        }

        static func entry(_ table: RawSpan, _ index: Int) -> Int {
            Int(unsafe table.unsafeLoad(fromByteOffset: 4 * index, as: UInt32.self))
        }

        /// - Returns: Whether the value ends with this byte.
        func matches(_ byte: UInt8) -> Bool {
            bytes.withBytes { bytes in
                fallback.withBytes { table in
                    while matched > 0, matched == bytes.byteCount || bytes.byte(at: matched) != byte {
                        matched = Pattern.entry(table, matched - 1)
                    }
                    if bytes.byte(at: matched) == byte { matched += 1 }
                    return matched == bytes.byteCount
                }
            }
        }

        /// Bytes of a value that may have begun.
        var begun: Int {
            matched == bytes.count ? fallback.withBytes { Pattern.entry($0, matched - 1) } : matched
        }
    }

    private let patterns: [Pattern]
    /// The numbers of the patterns that begin with a byte.
    private let beginnings: [[Int]]
    /// The numbers of those that have begun.
    private var active: [Int] = []
    private var held: SecretBytes
    private var count = 0
    /// What of the bytes that are held is a value; ascending, and none overlaps another.
    private var covered: [Range<Int>] = []
    /// The first of them has been told of already.
    private var isContinued = false

    /// - Parameter values: Those that are replaced. Ones that are too short are left out.
    package init(_ values: [RawValue]) throws(SecretMemoryError) {
        let patterns = try Masker.patterns(values)
        var beginnings = [[Int]](repeating: [], count: 256)
        for (number, pattern) in patterns.enumerated() {
            let first = pattern.bytes.withBytes { $0.byte(at: 0) }
            beginnings[Int(first)].append(number)
        }
        let longest = patterns.reduce(0) { max($0, $1.bytes.count) }
        held = try SecretBytes(zeroed: longest + Masker.longestPiece, lifetime: .longLived)
        self.patterns = patterns
        self.beginnings = beginnings
    }

    private static func patterns(_ values: [RawValue]) throws(SecretMemoryError) -> [Pattern] {
        var patterns: [Pattern] = []
        for value in values {
            for range in value.bytes.withBytes(ranges) where patterns.count < mostPatterns {
                patterns.append(
                    try value.bytes.withBytes { bytes throws(SecretMemoryError) in
                        try Pattern(bytes.extracting(range))
                    })
            }
        }
        return patterns
    }

    /// A value that is replaced.
    package final class RawValue: Sendable {
        fileprivate let bytes: SecretBytes

        package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    /// The value without line ends behind it, its lines where it has several, and each of these without the blanks at
    /// its ends, which a shell takes away from what stands without quotes. Each has the least length of its kind.
    private static func ranges(_ value: RawSpan) -> [Range<Int>] {
        func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || isEnd(byte) }
        func trimmed(_ range: Range<Int>) -> Range<Int> {
            var (start, end) = (range.lowerBound, range.upperBound)
            while end > start, isBlank(value.byte(at: end - 1)) { end -= 1 }
            while start < end, isBlank(value.byte(at: start)) { start += 1 }
            return start..<end
        }
        var end = value.byteCount
        while end > 0, isEnd(value.byte(at: end - 1)) { end -= 1 }
        var ranges: [Range<Int>] = []
        func add(_ range: Range<Int>, from least: Int) {
            for range in [range, trimmed(range)] where range.count >= least && ranges.last != range {
                ranges.append(range)
            }
        }
        add(0..<end, from: shortest)
        var start = 0
        for offset in 0...end where offset == end || isEnd(value.byte(at: offset)) {
            if offset - start < end { add(start..<offset, from: shortestLine) }
            start = offset + 1
        }
        return ranges
    }

    /// Takes the next bytes and passes on what is sure.
    /// - Throws: What `pass` throws.
    package mutating func mask<E: Error>(
        _ bytes: RawSpan, _ pass: (RawSpan) throws(E) -> Void
    ) throws(E) {
        var start = 0
        while start < bytes.byteCount {
            let end = min(bytes.byteCount, start + Masker.longestPiece)
            look(at: bytes.extracting(start..<end))
            let kept = active.reduce(0) { max($0, patterns[$1].begun) }
            try release(to: count - kept, pass)
            start = end
        }
    }

    /// Passes on the rest: nothing more comes.
    /// - Throws: What `pass` throws.
    package mutating func finish<E: Error>(_ pass: (RawSpan) throws(E) -> Void) throws(E) {
        active = []
        for pattern in patterns { pattern.matched = 0 }
        try release(to: count, pass)
        isContinued = false
    }

    private mutating func look(at bytes: RawSpan) {
        for offset in 0..<bytes.byteCount {
            let byte = bytes.byte(at: offset)
            let place = count
            held.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: place, as: UInt8.self) }
            count += 1
            if active.isEmpty, beginnings[Int(byte)].isEmpty { continue }
            var still: [Int] = []
            for number in active { advance(number, byte, &still) }
            for number in beginnings[Int(byte)] where patterns[number].matched == 0 { advance(number, byte, &still) }
            active = still
        }
    }

    private mutating func advance(_ number: Int, _ byte: UInt8, _ still: inout [Int]) {
        let pattern = patterns[number]
        if pattern.matches(byte) { cover(max(0, count - pattern.bytes.count)..<count) }
        if pattern.matched > 0 { still.append(number) }
    }

    private mutating func cover(_ range: Range<Int>) {
        var range = range
        while let last = covered.last, last.upperBound > range.lowerBound {
            range = min(last.lowerBound, range.lowerBound)..<max(last.upperBound, range.upperBound)
            covered.removeLast()
        }
        covered.append(range)
    }

    private mutating func release<E: Error>(to end: Int, _ pass: (RawSpan) throws(E) -> Void) throws(E) {
        var start = 0
        while let first = covered.first, first.lowerBound < end {
            if !isContinued {
                try held.withBytes { held throws(E) in
                    if start < first.lowerBound { try pass(held.extracting(start..<first.lowerBound)) }
                    try unsafe pass(
                        RawSpan(_unsafeStart: Masker.mask.utf8Start, byteCount: Masker.mask.utf8CodeUnitCount))
                }
            }
            start = min(first.upperBound, end)
            isContinued = first.upperBound > end
            if isContinued {
                covered[0] = end..<first.upperBound
                break
            }
            covered.removeFirst()
        }
        try held.withBytes { held throws(E) in
            if start < end { try pass(held.extracting(start..<end)) }
        }
        let (rest, count) = (count - end, count)
        held.withMutableBytes { held in
            unsafe held.withUnsafeMutableBytes { held in
                unsafe UnsafeMutableRawBufferPointer(rebasing: held[0..<rest]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: held[end..<count]))
            }
        }
        self.count = rest
        covered = covered.map { $0.lowerBound - end..<$0.upperBound - end }
    }
}
