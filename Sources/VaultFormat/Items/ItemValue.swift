/// What may stand in an item. Looked at where it lies: no text is made of a value that may be a secret.
package enum ItemValue {
    /// What a one-time code's text begins with.
    package static let oneTimeCodePrefix: StaticString = "otpauth://"

    /// Whether these bytes are a value of this kind. Those of a kind that this program does not know are.
    package static func isValid(_ value: RawSpan, _ kind: FieldKind) -> Bool {
        switch kind {
        case .text, .url: value.isUTF8
        case .oneTimeCode: value.begins(with: oneTimeCodePrefix) && value.isUTF8
        case .date: isDate(value)
        case .file: fileContent(value) != nil
        default: true
        }
    }

    /// A label or a tag: UTF-8 of at least one byte, without control characters.
    package static func isLabel(_ text: RawSpan, limit: Int) -> Bool {
        guard (1...limit).contains(text.byteCount), text.isUTF8 else { return false }
        for offset in 0..<text.byteCount where text.isControl(at: offset) { return false }
        return true
    }

    /// Where the content is in a file's value, behind the name and its size; nil where the value is none. A name has no
    /// slash and no control characters, and is neither of the two names that every folder has.
    package static func fileContent(_ value: RawSpan) -> (name: Range<Int>, content: Range<Int>)? {
        guard let size = value.integer(at: 0, as: UInt16.self), Int(size) <= value.byteCount - 2 else { return nil }
        let name = 2..<2 + Int(size)
        let text = value.extracting(name)
        guard isLabel(text, limit: ItemLimits.fileName) else { return nil }
        var points = 0
        for offset in 0..<text.byteCount {
            if text.integer(at: offset, as: UInt8.self) == UInt8(ascii: "/") { return nil }
            if text.integer(at: offset, as: UInt8.self) == UInt8(ascii: ".") { points += 1 }
        }
        guard points < text.byteCount || points > 2 else { return nil }
        return (name, name.upperBound..<value.byteCount)
    }

    /// `2031-12-24` or `2031-12`. Which days a month has is not asked: papers have been seen with others.
    private static func isDate(_ value: RawSpan) -> Bool {
        guard value.byteCount == 7 || value.byteCount == 10 else { return false }
        var numbers = [0]
        for offset in 0..<value.byteCount {
            guard let byte = value.integer(at: offset, as: UInt8.self) else { return false }
            if offset == 4 || offset == 7 {
                guard byte == UInt8(ascii: "-") else { return false }
                numbers.append(0)
            } else {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return false }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte) - 48
            }
        }
        return (1...12).contains(numbers[1]) && (numbers.count < 3 || (1...31).contains(numbers[2]))
    }
}

extension RawSpan {
    /// Whether these bytes are UTF-8, looked at where they lie.
    package var isUTF8: Bool {
        unsafe withUnsafeBytes { bytes in
            // Most texts begin with much ASCII, eight bytes of which are looked at together.
            var start = 0
            while start + 8 <= bytes.count,
                unsafe bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            { start += 8 }
            var parser = Unicode.UTF8.ForwardParser()
            var iterator = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...]).makeIterator()
            while true {
                switch unsafe parser.parseScalar(from: &iterator) {
                case .valid: continue
                case .emptyInput: return true
                case .error: return false
                }
            }
        }
    }

    /// Whether the bytes come before others: in ascending order, a beginning before what it begins.
    package func isBefore(_ other: RawSpan) -> Bool {
        for offset in 0..<min(byteCount, other.byteCount) {
            let (left, right) = (
                present(at: offset, as: UInt8.self), other.present(at: offset, as: UInt8.self)
            )
            if left != right { return left < right }
        }
        return byteCount < other.byteCount
    }

    /// Whether the bytes begin with an ASCII text.
    package func begins(with text: StaticString) -> Bool {
        guard text.utf8CodeUnitCount <= byteCount else { return false }
        for offset in 0..<text.utf8CodeUnitCount {
            let byte = unsafe text.utf8Start[offset]
            if integer(at: offset, as: UInt8.self) != byte { return false }
        }
        return true
    }

    fileprivate func isControl(at offset: Int) -> Bool {
        guard let byte = integer(at: offset, as: UInt8.self) else { return true }
        return byte < 0x20 || byte == 0x7F
    }
}
