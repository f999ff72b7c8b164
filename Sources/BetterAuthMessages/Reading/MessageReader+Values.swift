// What the members of the protocol hold. All of it is plain text: an escape there is a second spelling, so refused.
extension MessageReader {
    /// The member's name, then its value, a text of CESR.
    @inline(__always)
    mutating func read<T: CESRValue>(
        _ type: T.Type = T.self, _ object: inout ObjectProgress
    ) throws(MessageError) -> T {
        try member(&object)
        return try readText(object)
    }

    /// The member's value, a text of CESR, when the member is there.
    mutating func readOptional<T: CESRValue>(
        _ type: T.Type, _ object: inout ObjectProgress
    ) throws(MessageError) -> T? {
        try optionalMember(&object) ? try readText(object) : nil
    }

    /// Whether the member is there; it then says `true`.
    mutating func readFlag(_ object: inout ObjectProgress) throws(MessageError) -> Bool {
        guard try optionalMember(&object) else { return false }
        let start = position
        do throws(MessageError) {
            try word("true", object.path)
        } catch {
            throw error.reason == .truncated ? error : MessageError(.wrongType, object.path, at: start)
        }
        return true
    }

    @inline(__always)
    private mutating func readText<T: CESRValue>(_ object: ObjectProgress) throws(MessageError) -> T {
        let first = position + 1
        let last = first + T.textSize
        guard last < end, bytes[position] == UInt8(ascii: "\""), bytes[last] == UInt8(ascii: "\""),
            let value = lend(first..<last, T.init(text:))
        else { throw refusedText(.invalidEncoding, object) }
        position = last + 1
        return value
    }

    /// The member's name, then its value, a time.
    mutating func readTime(_ object: inout ObjectProgress) throws(MessageError) -> Timestamp {
        try member(&object)
        let start = position
        let range = try plainText(object, limit: Timestamp.longTextSize, or: .invalidTimestamp)
        guard let time = lend(range, { Timestamp(text: $0) }) else {
            throw MessageError(.invalidTimestamp, object.path, at: start)
        }
        return time
    }

    /// The member's name, then its value, an access token.
    mutating func readToken(_ object: inout ObjectProgress) throws(MessageError) -> TokenText {
        try member(&object)
        let start = position
        let range = try plainText(object, limit: MessageLimits.token, or: .tokenTooLarge)
        do throws(TokenText.Refusal) {
            return try lend(range) { text throws(TokenText.Refusal) in try TokenText(checking: text) }
        } catch {
            throw MessageError(error.reason, object.path, at: start)
        }
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
        try member(&object)
        let start = position
        let text = bytes[try plainText(object, limit: 64, or: .invalidEncoding)]
        guard !text.isEmpty, text.allSatisfy({ $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "a") < 26 }) else {
            throw MessageError(.invalidEncoding, object.path, at: start)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The member's name, then its value, any JSON.
    mutating func readApplicationData(_ object: inout ObjectProgress) throws(MessageError) -> ApplicationData {
        try member(&object)
        let start = position
        try value(object.path)
        return ApplicationData(checked: Array(bytes[start..<position]))
    }

    /// The range of a text between quotation marks, of printable ASCII without escapes.
    /// - Parameter reason: What a longer text is called.
    private mutating func plainText(
        _ object: ObjectProgress, limit: Int, or reason: MessageError.Reason
    ) throws(MessageError) -> Range<Int> {
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
