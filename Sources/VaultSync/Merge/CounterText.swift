internal import VaultFormat

/// Fields with one-time codes that count (RFC 4226): a counter never goes down, whoever wrote last.
enum CounterText {
    /// Where the counter is in a field's bytes, and what it says; nil for anything but an `otpauth://hotp/` text with
    /// one.
    private static func counter(_ field: RawSpan) -> (digits: Range<Int>, number: UInt64)? {
        guard field.integer(at: 0, as: UInt8.self) == FieldKind.oneTimeCode.rawValue,
            let label = field.integer(at: 2, as: UInt16.self).map(Int.init), 4 + label <= field.byteCount
        else { return nil }
        let text = field.extracting(4 + label..<field.byteCount)
        guard text.begins(with: "otpauth://hotp/") else { return nil }
        let mark: StaticString = "counter="
        for start in 1..<max(1, text.byteCount - mark.utf8CodeUnitCount) {
            guard let before = text.integer(at: start - 1, as: UInt8.self),
                before == UInt8(ascii: "?") || before == UInt8(ascii: "&"),
                text.extracting(start..<text.byteCount).begins(with: mark)
            else { continue }
            var (end, number) = (start + mark.utf8CodeUnitCount, UInt64(0))
            let first = end
            while let byte = text.integer(at: end, as: UInt8.self), byte != UInt8(ascii: "&") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                let (tens, isTooMuch) = number.multipliedReportingOverflow(by: 10)
                let (sum, isAbove) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
                guard !isTooMuch, !isAbove else { return nil }
                number = sum
                end += 1
            }
            return end > first ? (4 + label + first..<4 + label + end, number) : nil
        }
        return nil
    }

    /// Whether two fields differ in the counter alone, and the second one's is the higher; nil where they differ
    /// otherwise, or are equal.
    static func isHigher(_ second: RawSpan, than first: RawSpan) -> Bool? {
        guard let (one, other) = counter(first).flatMap({ one in counter(second).map { (one, $0) } }),
            one.number != other.number,
            isEqual(first.extracting(0..<one.digits.lowerBound), second.extracting(0..<other.digits.lowerBound)),
            isEqual(
                first.extracting(one.digits.upperBound..<first.byteCount),
                second.extracting(other.digits.upperBound..<second.byteCount))
        else { return nil }
        return other.number > one.number
    }

    private static func isEqual(_ left: RawSpan, _ right: RawSpan) -> Bool {
        !left.isBefore(right) && !right.isBefore(left)
    }
}
