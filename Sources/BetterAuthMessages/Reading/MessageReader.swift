/// Reads a message once from front to back. Each read checks its bounds; nothing a peer sends can make one trap.
///
/// Members are taken in the protocol's own order and without whitespace (protocol.md 3.3): such a text has one spelling
/// only, so what was accepted is written again byte for byte. The exception is application data, kept as it came.
package struct MessageReader {
    let bytes: [UInt8]
    var position: Int
    let end: Int
    var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    /// Copies the bytes, once their number is known to be harmless.
    init(copying span: RawSpan, limit: Int, _ place: String) throws(MessageError) {
        guard span.byteCount <= limit else { throw MessageError(.tooLarge, place, at: 0) }
        self.init(span.copied)
    }

    @inline(__always)
    var next: UInt8? { position < end ? bytes[position] : nil }

    func failure(_ reason: MessageError.Reason, _ place: String) -> MessageError {
        MessageError(position >= end && reason != .trailingBytes ? .truncated : reason, place, at: position)
    }

    @inline(__always)
    mutating func expect(_ byte: UInt8, _ place: @autoclosure () -> String) throws(MessageError) {
        guard position < end, bytes[position] == byte else { throw failure(.unexpectedByte, place()) }
        position += 1
    }

    /// Whether the text stands here; moves past it then.
    @inline(__always)
    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard end - position >= count else { return false }
        let expected = unsafe UnsafeBufferPointer(start: text.utf8Start, count: count)
        for index in 0..<count where unsafe bytes[position + index] != expected[index] { return false }
        position += count
        return true
    }

    /// The end of the whole input.
    func expectEnd(_ place: String) throws(MessageError) {
        guard position == end else { throw failure(.trailingBytes, place) }
    }

    /// The bytes of a range, lent.
    @inline(__always)
    func lend<R, E: Error>(_ range: Range<Int>, _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(bytes.span.bytes.extracting(range))
    }
}

extension RawSpan {
    /// A copy as an array.
    var copied: [UInt8] {
        unsafe withUnsafeBytes { unsafe Array($0) }
    }
}
