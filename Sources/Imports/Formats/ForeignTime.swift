/// Times as other programs write them.
enum ForeignTime {
    /// `2024-03-01T12:00:00.123Z`, with or without a fraction, with Z or an offset: milliseconds since 1970. Nil for
    /// anything else.
    static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 40 else { return nil }
        func number(_ start: Int, _ count: Int) -> Int64? {
            guard start + count <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[start..<start + count] {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int64(byte) - 48
            }
            return value
        }
        guard let year = number(0, 4), bytes[4] == 45, let month = number(5, 2), bytes[7] == 45, let day = number(8, 2),
            bytes[10] == 84 || bytes[10] == 32, let hour = number(11, 2), bytes[13] == 58, let minute = number(14, 2),
            bytes[16] == 58, let second = number(17, 2), (1...12).contains(month), (1...31).contains(day), hour < 24,
            minute < 60,
            second < 61
        else { return nil }
        var place = 19
        var fraction: Int64 = 0
        if place < bytes.count, bytes[place] == 46 {
            place += 1
            var scale: Int64 = 100
            while place < bytes.count, (48...57).contains(bytes[place]) {
                fraction += Int64(bytes[place] - 48) * scale
                scale /= 10
                place += 1
            }
        }
        var offset: Int64 = 0
        if place < bytes.count, bytes[place] == 43 || bytes[place] == 45 {
            guard let hours = number(place + 1, 2), place + 3 < bytes.count, bytes[place + 3] == 58,
                let minutes = number(place + 4, 2), place + 6 == bytes.count
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[place] == 43 ? 60 : -60)
        } else {
            guard place + 1 == bytes.count, bytes[place] == 90 else { return nil }
        }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return seconds * 1000 + fraction
    }

    /// `2031-12-24`; nil outside of the years 1 to 9999.
    static func day(milliseconds: Int64) -> String? {
        // The inverse of `days`, by the same calendar.
        let days = Int64((Double(milliseconds) / 86_400_000).rounded(.down)) + 719_468
        guard days > 0, days < 4_000_000 else { return nil }
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        guard (1...9999).contains(year) else { return nil }
        func digits(_ number: Int64, _ count: Int) -> String {
            String(repeating: "0", count: max(0, count - String(number).utf8.count)) + String(number)
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    }

    /// Days since 1970 in the Gregorian calendar; March begins the year, so that leap days end it.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
