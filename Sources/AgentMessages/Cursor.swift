/// A place in a message that is read field by field; every read is bounds-checked. Integers are little-endian.
struct Cursor {
    private var position = 0
    private let end: Int

    init(_ bytes: RawSpan) { end = bytes.byteCount }

    mutating func integer<T: FixedWidthInteger & UnsignedInteger>(
        _ bytes: RawSpan, _ type: T.Type
    ) throws(MessageError) -> T {
        let size = T.bitWidth / 8
        let range = try take(size)
        var value: T = 0
        for offset in range.reversed() { value = value << 8 | T(byte(bytes, offset)) }
        return value
    }

    /// 0 or 1 and nothing else.
    mutating func flag(_ bytes: RawSpan, _ field: StaticString) throws(MessageError) -> Bool {
        switch try integer(bytes, UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw .invalid(field: field)
        }
    }

    /// An integer behind a flag; without the flag its bytes are zero.
    mutating func optional<T: FixedWidthInteger & UnsignedInteger>(
        _ bytes: RawSpan, _ type: T.Type, _ field: StaticString
    ) throws(MessageError) -> T? {
        let isThere = try flag(bytes, field)
        let value = try integer(bytes, type)
        guard isThere || value == 0 else { throw .invalid(field: field) }
        return isThere ? value : nil
    }

    /// UTF-8 behind a 16-bit length. Text that is not valid is refused, never repaired: a repaired name is another
    /// name.
    mutating func text(_ bytes: RawSpan, _ sizes: ClosedRange<Int>, _ field: StaticString) throws(MessageError)
        -> String
    {
        let count = Int(try integer(bytes, UInt16.self))
        guard sizes.contains(count) else { throw .invalid(field: field) }
        let units = try take(count).map { byte(bytes, $0) }
        guard let text = String(validating: units, as: UTF8.self) else { throw .invalid(field: field) }
        return text
    }

    /// As ``text(_:_:_:)``, behind a flag.
    mutating func optionalText(_ bytes: RawSpan, _ sizes: ClosedRange<Int>, _ field: StaticString) throws(MessageError)
        -> String?
    {
        try flag(bytes, field) ? try text(bytes, sizes, field) : nil
    }

    /// How many entries follow.
    mutating func count(_ bytes: RawSpan, _ counts: ClosedRange<Int>, _ field: StaticString) throws(MessageError)
        -> Int
    {
        let count = Int(try integer(bytes, UInt16.self))
        guard counts.contains(count) else { throw .invalid(field: field) }
        return count
    }

    /// All that is left.
    mutating func rest(_ sizes: ClosedRange<Int>, _ field: StaticString) throws(MessageError) -> Range<Int> {
        let range = position..<end
        guard sizes.contains(range.count) else { throw .invalid(field: field) }
        position = end
        return range
    }

    var isAtEnd: Bool { position == end }

    func expectEnd() throws(MessageError) {
        guard isAtEnd else { throw .trailingBytes }
    }

    private mutating func take(_ count: Int) throws(MessageError) -> Range<Int> {
        guard end - position >= count else { throw .truncated }
        defer { position += count }
        return position..<position + count
    }

    /// Inside of the span: ``take(_:)`` made sure.
    private func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
        unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}

/// Writes what ``Cursor`` reads.
struct Writer {
    private(set) var bytes: [UInt8] = []

    mutating func integer<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
        for index in 0..<(T.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: value >> T(8 * index))) }
    }

    mutating func flag(_ value: Bool) { integer(UInt8(value ? 1 : 0)) }

    mutating func optionalText(_ text: String?, atMost limit: Int) {
        flag(text != nil)
        if let text { self.text(text, atMost: limit) }
    }

    mutating func optional<T: FixedWidthInteger & UnsignedInteger>(_ value: T?) {
        flag(value != nil)
        integer(value ?? 0)
    }

    /// Cut at a whole character where it is too long for its field.
    mutating func text(_ text: String, atMost limit: Int) {
        let units = Writer.units(of: text, limit)
        integer(UInt16(clamping: units.count))
        bytes += units
    }

    /// The start of a text that is as long as a field may be.
    static func prefix(of text: String, _ limit: Int) -> String {
        String(decoding: units(of: text, limit), as: UTF8.self)
    }

    private static func units(of text: String, _ limit: Int) -> [UInt8] {
        var units = Array(text.utf8)
        if units.count > limit {
            var end = limit
            while end > 0, units[end] & 0xC0 == 0x80 { end -= 1 }
            units.removeLast(units.count - end)
        }
        return units
    }

    /// Entries behind their number; those beyond a limit are left out.
    mutating func list<Entry>(_ entries: [Entry], atMost limit: Int, _ write: (inout Writer, Entry) -> Void) {
        let entries = entries.prefix(limit)
        integer(UInt16(clamping: entries.count))
        for entry in entries { write(&self, entry) }
    }
}

/// Why bytes from the other side of the socket are no message. The connection ends then: nothing behind them has a
/// meaning.
package enum MessageError: Error, Sendable, Hashable {
    /// The other side speaks a version that this one does not know.
    case otherVersion(UInt8)
    /// The length is more than a message of this kind may have.
    case tooLong(Int)
    /// No message has this number.
    case unknownKind(UInt8)
    /// The message ends before its fields do.
    case truncated
    /// There are bytes behind the last field.
    case trailingBytes
    /// A field holds what it may not.
    case invalid(field: StaticString)

    /// Compares what is wrong, not where the text of a field lies.
    package static func == (left: MessageError, right: MessageError) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) { hasher.combine(words) }

    /// For people; nothing of the message is in it.
    package var words: String {
        switch self {
        case .otherVersion(let version): "the message has version \(version), not \(Frame.version)"
        case .tooLong(let count): "a message of \(count) bytes is too long"
        case .unknownKind(let kind): "there is no message \(kind)"
        case .truncated: "the message ends early"
        case .trailingBytes: "there are bytes behind the message"
        case .invalid(let field): "the message's \(field) is not valid"
        }
    }
}
