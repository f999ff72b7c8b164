internal import SystemCalls
internal import Imports
internal import SecretMemory

/// Numbers and times in words.
package enum Format {
    /// A size with a unit of 1000s: `812 B`, `10.5 MB`.
    package static func size(_ bytes: UInt64) -> String {
        if bytes < 1000 { return "\(bytes) B" }
        let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
        var tenths = bytes / 100
        var unit = 0
        while tenths >= 10_000 && unit < units.count - 1 {
            tenths /= 1000
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A number with a comma between groups of three digits.
    package static func grouped(_ number: UInt64) -> String {
        var rest = String(number)[...]
        var groups: [Substring] = []
        while !rest.isEmpty {
            groups.append(rest.suffix(3))
            rest = rest.dropLast(3)
        }
        return groups.reversed().joined(separator: ",")
    }

    /// `1 entry`, `2 entries`.
    package static func count(_ number: some BinaryInteger, _ noun: String, _ nouns: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(nouns)"
    }

    /// `1 record`, `2 records`.
    package static func count(_ number: some BinaryInteger, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }

    static func roundedUpSeconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return max(0, seconds + (attoseconds > 0 ? 1 : 0))
    }

    /// A waiting time: `30 s`, `5 min`.
    package static func wait(_ duration: Duration) -> String {
        let seconds = roundedUpSeconds(duration)
        return seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
    }

    /// How long ago something was: `5 minutes`, `3 days`; the time itself where the clock does not agree.
    static func age(milliseconds: Int64, now: Int64 = WallClock.milliseconds) -> String {
        let seconds = (now - milliseconds) / 1000
        guard seconds >= 0 else { return localTime(milliseconds: milliseconds) }
        let units: [(Int64, String)] = [
            (365 * 86_400, "year"), (30 * 86_400, "month"), (86_400, "day"), (3600, "hour"), (60, "minute"),
        ]
        guard let (size, noun) = units.first(where: { seconds >= $0.0 }) else { return "now" }
        return count(seconds / size, noun)
    }

    /// A time in whole words, rounded up: `15 minutes`, `1 hour`.
    /// - Parameter milliseconds: How long.
    static func span(_ milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1000 + (milliseconds % 1000 > 0 ? 1 : 0)
        if seconds < 120 { return count(seconds, "second") }
        let minutes = (seconds + 59) / 60
        return minutes % 60 == 0 ? count(minutes / 60, "hour") : count(minutes, "minute")
    }

    /// A time as RFC 3339 in UTC; nil when it is out of range.
    static func timestamp(milliseconds: Int64) -> String? { SecretJSON.timestamp(milliseconds: milliseconds) }

    /// A time in the local zone, to the minute.
    static func localTime(milliseconds: Int64) -> String {
        unsafe format(milliseconds, "%Y-%m-%d %H:%M") { unsafe localtime_r($0, $1) } ?? "?"
    }

    private static func format(
        _ milliseconds: Int64, _ pattern: String,
        _ convert: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) -> String? {
        var seconds = time_t(milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0))
        var fields = unsafe tm()
        guard unsafe convert(&seconds, &fields) != nil else { return nil }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress, unsafe strftime(base, buffer.count, pattern, &fields) > 0 else {
                return nil
            }
            return unsafe String(validatingCString: base)
        }
    }
}
