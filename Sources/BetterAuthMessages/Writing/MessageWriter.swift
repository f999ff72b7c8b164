/// Writes the one spelling of a message: compact, members in the protocol's order (protocol.md 3.3).
package struct MessageWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving count: Int = 1536) { bytes.reserveCapacity(count) }

    mutating func literal(_ text: StaticString) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(text))
    }

    mutating func raw(_ more: [UInt8]) { bytes += more }

    mutating func raw(_ more: ArraySlice<UInt8>) { bytes += more }

    /// A text that needs no escapes, between quotation marks.
    mutating func quoted(_ text: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        bytes += text
        bytes.append(UInt8(ascii: "\""))
    }

    @inline(__always)
    mutating func quoted<T: CESRValue>(_ value: T) {
        bytes.append(UInt8(ascii: "\""))
        value.withText { text in unsafe text.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A whole object of values, under the names of its shape.
    @inline(__always)
    mutating func object<each T: MemberValue>(_ shape: ObjectShape, _ values: repeat each T) {
        var index = 0
        literal("{")
        repeat member(shape, &index, each values)
        literal("}")
    }

    @inline(__always)
    private mutating func member(_ shape: ObjectShape, _ index: inout Int, _ value: some MemberValue) {
        raw(shape.heads[index])
        index += 1
        value.write(to: &self)
    }

    /// Any text, with the escapes that `JSON.stringify` writes and no others.
    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): literal(#"\""#)
            case UInt8(ascii: "\\"): literal(#"\\"#)
            case 0x08: literal(#"\b"#)
            case 0x0C: literal(#"\f"#)
            case 0x0A: literal(#"\n"#)
            case 0x0D: literal(#"\r"#)
            case 0x09: literal(#"\t"#)
            case 0..<0x20:
                literal(#"\u00"#)
                bytes.append(UInt8(ascii: "0") + byte >> 4)
                bytes.append(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") + byte & 15 - 10)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func number(_ value: some BinaryInteger) { bytes += Array(String(value).utf8) }
}
