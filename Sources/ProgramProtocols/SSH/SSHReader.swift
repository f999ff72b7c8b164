/// A place in what SSH programs send (RFC 4251, section 5): big-endian numbers, and strings behind their 32-bit length.
/// Every read is bounds-checked; strings are named by where they lie.
struct SSHReader {
    private var position: Int
    private let end: Int

    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position == end }
    var rest: Range<Int> { position..<end }

    mutating func byte(_ bytes: RawSpan) throws(SSHError) -> UInt8 {
        guard position < end else { throw .truncated }
        defer { position += 1 }
        return unsafe bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self)
    }

    mutating func number(_ bytes: RawSpan) throws(SSHError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 { value = value << 8 | UInt32(try byte(bytes)) }
        return value
    }

    mutating func flag(_ bytes: RawSpan) throws(SSHError) -> Bool { try byte(bytes) != 0 }

    mutating func string(_ bytes: RawSpan) throws(SSHError) -> Range<Int> {
        let count = Int(try number(bytes))
        guard count <= end - position else { throw .truncated }
        defer { position += count }
        return position..<position + count
    }

    /// A short text: a name of SSH's, a comment.
    mutating func text(_ bytes: RawSpan, atMost limit: Int = 1024) throws(SSHError) -> String {
        let range = try string(bytes)
        guard range.count <= limit else { throw .invalid }
        let text = unsafe bytes.extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
        guard let text else { throw .invalid }
        return text
    }

    /// A number that is not negative (RFC 4251, section 5, mpint), without the zeros before it.
    mutating func magnitude(_ bytes: RawSpan) throws(SSHError) -> Range<Int> {
        let number = try string(bytes)
        guard let first = number.first else { return number }
        guard bytes[byte: first] & 0x80 == 0 else { throw .invalid }
        return (number.first { bytes[byte: $0] != 0 } ?? number.upperBound)..<number.upperBound
    }

    mutating func skip(_ count: Int) throws(SSHError) {
        guard count <= end - position else { throw .truncated }
        position += count
    }

    func expectEnd() throws(SSHError) {
        guard isAtEnd else { throw .invalid }
    }
}

/// Why bytes of SSH's are not what they should be.
package enum SSHError: Error, Sendable, Hashable {
    /// They end early, or a length reaches over the end.
    case truncated
    /// A field holds what it may not.
    case invalid
    /// A kind of key that is not kept here.
    case otherKey
    /// An RSA key of a size, or with an exponent, that none should have.
    case unsafeKey
    /// The key is encrypted.
    case encrypted
}

/// Writes what ``SSHReader`` reads; nothing secret.
package struct SSHWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    package mutating func number(_ value: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    package mutating func string(_ value: [UInt8]) {
        number(UInt32(clamping: value.count))
        bytes += value
    }

    package mutating func string(_ value: String) { string(Array(value.utf8)) }

    /// A number that is not negative, without zeros before it (RFC 4251, section 5, mpint).
    package mutating func magnitude(_ value: [UInt8]) {
        let short = Array(value.drop { $0 == 0 })
        string((short.first ?? 0) & 0x80 != 0 ? [0] + short : short)
    }
}
