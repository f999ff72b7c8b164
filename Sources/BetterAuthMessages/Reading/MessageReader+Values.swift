// What the members of the protocol hold. All of it is plain text: an escape there is a second spelling, so refused.
extension MessageReader {
    /// The member's name, then its value.
    @inline(__always)
    mutating func read<T: MemberValue>(_ object: inout ObjectProgress) throws(MessageError) -> T {
        try T(reading: &self, &object)
    }

    /// The member's value, a text of CESR, when the member is there.
    mutating func readOptional<T: CESRValue>(_ object: inout ObjectProgress) throws(MessageError) -> T? {
        optionalMember(&object) ? try readText(object) : nil
    }

    /// Whether the member is there; it then says `true`.
    mutating func readFlag(_ object: inout ObjectProgress) throws(MessageError) -> Bool {
        guard optionalMember(&object) else { return false }
        let start = position
        do throws(MessageError) {
            try word("true", object.path)
        } catch {
            throw error.reason == .truncated ? error : MessageError(.wrongType, object.path, at: start)
        }
        return true
    }

    @inline(__always)
    fileprivate mutating func readText<T: CESRValue>(_ object: ObjectProgress) throws(MessageError) -> T {
        let first = position + 1
        let last = first + T.textSize
        guard last < end, bytes[position] == UInt8(ascii: "\""), bytes[last] == UInt8(ascii: "\""),
            let value = lend(first..<last, T.init(text:))
        else { throw refusedText(.invalidEncoding, object) }
        position = last + 1
        return value
    }

    /// The member's name, then its value, a whole number below 2^53 without sign or leading zero.
    mutating func readCount(_ object: inout ObjectProgress) throws(MessageError) -> UInt64 {
        try member(&object)
        let start = position
        guard let first = next else { throw failure(.truncated, object.path) }
        guard first &- UInt8(ascii: "0") < 10 else { throw failure(.wrongType, object.path) }
        var value: UInt64 = 0
        while let byte = next, byte &- UInt8(ascii: "0") < 10 {
            value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
            position += 1
            guard value < 1 << 53, first != UInt8(ascii: "0") || position == start + 1 else {
                throw MessageError(.invalidNumber, object.path, at: start)
            }
        }
        return value
    }

    /// The member's name, then its value, a short word: lower-case letters and hyphens.
    mutating func readWord(_ object: inout ObjectProgress) throws(MessageError) -> String {
        let range = try plainText(&object, limit: 64, or: .invalidEncoding)
        let text = bytes[range]
        guard !text.isEmpty, text.allSatisfy({ $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "a") < 26 }) else {
            throw MessageError(.invalidEncoding, object.path, at: range.lowerBound - 1)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The member's name, then its value, a text of printable ASCII without escapes.
    /// - Parameter reason: What a longer text is called.
    /// - Returns: Its range, between the quotation marks.
    fileprivate mutating func plainText(
        _ object: inout ObjectProgress, limit: Int, or reason: MessageError.Reason
    ) throws(MessageError) -> Range<Int> {
        try member(&object)
        guard next == UInt8(ascii: "\"") else { throw refusedText(.wrongType, object) }
        var index = position + 1
        while index < end, bytes[index] != UInt8(ascii: "\"") {
            guard index - position <= limit else { throw refusedText(reason, object) }
            guard bytes[index] != UInt8(ascii: "\\"), bytes[index] &- 0x20 < 0x5F else {
                throw refusedText(reason, object)
            }
            index += 1
        }
        guard index < end else { throw MessageError(.truncated, object.path, at: end) }
        defer { position = index + 1 }
        return position + 1..<index
    }

    /// Says why the value that begins here is not the text it should be.
    @inline(never)
    private func refusedText(_ reason: MessageError.Reason, _ object: ObjectProgress) -> MessageError {
        var probe = self
        guard let first = probe.next else { return MessageError(.truncated, object.path, at: end) }
        guard first == UInt8(ascii: "\"") else { return MessageError(.wrongType, object.path, at: position) }
        do throws(MessageError) {
            let text = try probe.string(object.path)
            return MessageError(text.hasEscapes ? .invalidEscape : reason, object.path, at: position)
        } catch {
            return error
        }
    }
}

/// The value of a member, which has one spelling.
package protocol MemberValue: Sendable, Hashable {
    /// Reads the member's name, then its value.
    init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError)
    /// Writes the value.
    func write(to writer: inout MessageWriter)
}

extension CESRValue {
    /// Reads the member's name, then its value, a text of CESR.
    @inline(__always)
    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        try reader.member(&object)
        self = try reader.readText(object)
    }

    /// Writes the value.
    @inline(__always)
    package func write(to writer: inout MessageWriter) { writer.quoted(self) }
}

extension Timestamp: MemberValue {
    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        let range = try reader.plainText(&object, limit: Timestamp.longTextSize, or: .invalidTimestamp)
        guard let time = reader.lend(range, { Timestamp(text: $0) }) else {
            throw MessageError(.invalidTimestamp, object.path, at: range.lowerBound - 1)
        }
        self = time
    }

    package func write(to writer: inout MessageWriter) { writer.quoted(text) }
}

extension TokenText: MemberValue {
    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        let range = try reader.plainText(&object, limit: MessageLimits.token, or: .tokenTooLarge)
        do throws(TokenText.Refusal) {
            self = try reader.lend(range) { text throws(TokenText.Refusal) in try TokenText(checking: text) }
        } catch {
            throw MessageError(error.reason, object.path, at: range.lowerBound - 1)
        }
    }

    package func write(to writer: inout MessageWriter) { writer.quoted(bytes) }
}

extension ApplicationData: MemberValue {
    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        try reader.member(&object)
        let start = reader.position
        try reader.value(object.path)
        self.init(checked: Array(reader.bytes[start..<reader.position]))
    }

    package func write(to writer: inout MessageWriter) { writer.raw(bytes) }
}
