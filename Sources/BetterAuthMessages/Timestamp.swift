/// A moment in UTC, in whole milliseconds since 1970: `2025-10-19T17:26:07.097Z` (protocol.md 2.4).
///
/// Three fractional digits are written. Nine are read too, since old peers send them; what is below a millisecond is
/// cut off, as every peer does.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Characters that are written.
    package static let textSize = 24
    static let longTextSize = 30
    /// 9999-12-31T23:59:59.999Z.
    static let latest: Int64 = 253_402_300_799_999

    /// Milliseconds since the first moment of 1970.
    public let milliseconds: Int64

    /// Takes milliseconds since 1970; nil before that year and after the year 9999, which the form cannot hold.
    package init?(milliseconds: Int64) {
        guard (0...Timestamp.latest).contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// Takes what a clock shows; what the form cannot hold becomes the first or the last moment that it can.
    package init(clamping milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, 0), Timestamp.latest)
    }

    /// Reads a text; nil unless it has one of the two forms and names a moment that exists. No leap seconds.
    package init?(text: RawSpan) {
        let count = text.byteCount
        guard count == Timestamp.textSize || count == Timestamp.longTextSize else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for index in range {
                let digit = unsafe text.unsafeLoad(fromByteOffset: index, as: UInt8.self) &- UInt8(ascii: "0")
                guard digit < 10 else { return nil }
                value = value * 10 + Int64(digit)
            }
            return value
        }
        func stands(_ character: Unicode.Scalar, at offset: Int) -> Bool {
            unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: character)
        }
        guard stands("-", at: 4), stands("-", at: 7), stands("T", at: 10), stands(":", at: 13), stands(":", at: 16),
            stands(".", at: 19), stands("Z", at: count - 1),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let fraction = number(20..<23), number(23..<count - 1) != nil,
            year >= 1970, (1...12).contains(month), day >= 1, day <= Timestamp.days(in: month, of: year),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Timestamp.days(before: year, month, day)
        milliseconds = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction
    }

    /// Reads a text; nil unless it has one of the two forms and names a moment that exists.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        unsafe self.init(text: bytes.span.bytes)
    }

    /// Whether one is earlier than the other.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// Later by a duration, in whole milliseconds; nil beyond the years that the form can hold.
    package func adding(_ duration: Duration) -> Timestamp? { adding(milliseconds: duration.clampedMilliseconds) }

    package func adding(milliseconds more: Int64) -> Timestamp? {
        let (sum, overflow) = milliseconds.addingReportingOverflow(more)
        return overflow ? nil : Timestamp(milliseconds: sum)
    }

    /// The text, with three fractional digits.
    public var description: String { String(decoding: text, as: UTF8.self) }

    var text: [UInt8] {
        let (days, time) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let date = Timestamp.date(ofDay: days)
        var text = Array("0000-00-00T00:00:00.000Z".utf8)
        func put(_ value: Int64, _ range: Range<Int>) {
            var rest = value
            for index in range.reversed() {
                text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
        put(date.year, 0..<4)
        put(date.month, 5..<7)
        put(date.day, 8..<10)
        put(time / 3_600_000, 11..<13)
        put(time / 60_000 % 60, 14..<16)
        put(time / 1000 % 60, 17..<19)
        put(time % 1000, 20..<23)
        return text
    }

    // The Gregorian calendar, counted in years that begin in March, so that the leap day is the last one.

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func days(before year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let months = (month + 9) % 12
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (months * 153 + 2) / 5 + day - 719_469
    }

    private static func date(ofDay number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = number + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let months = (5 * dayOfYear + 2) / 153
        let month = months < 10 ? months + 3 : months - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * months + 2) / 5 + 1)
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; the furthest that there is where they are too many.
    package var clampedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        guard !isTooLong else { return seconds < 0 ? .min : .max }
        let (sum, isOver) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return isOver ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Timestamp {
    /// Milliseconds by which the clocks of machines that belong together may differ.
    package static let tolerance: Int64 = 60_000

    /// Whether it cannot have been yet, however much the clock that made it differs.
    package func isAhead(of now: Timestamp) -> Bool { milliseconds - now.milliseconds > Timestamp.tolerance }
}
