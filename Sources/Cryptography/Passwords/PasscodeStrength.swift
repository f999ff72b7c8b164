/// How long a passcode would resist someone with a copy of the disk. It is an estimate, and says little about an
/// attacker who knows the user.
///
/// Counted are the characters that a guesser has to try one after the other: repeats, runs (`abc`, `321`, keys side by
/// side) and the passcodes that everybody tries first count for next to nothing. Nothing is copied or stored.
package struct PasscodeStrength: Sendable, Hashable {
    /// In words.
    package enum Level: Int, Sendable, Hashable, CaseIterable, Comparable {
        /// Nothing was typed.
        case none
        /// Found at once.
        case veryWeak
        /// Found in hours.
        case weak
        /// Months for one machine.
        case fair
        /// Years for many machines.
        case strong

        /// Whether `left` lasts less long.
        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// What would make it better, the most useful first.
    package enum Hint: Sendable, Hashable {
        /// It is one of those that are tried first.
        case common
        /// Characters repeat or follow each other.
        case pattern
        /// More characters.
        case longer
        /// Digits alone.
        case onlyDigits
    }

    /// Guesses needed, as a power of two.
    package let bits: Int
    /// In words.
    package let level: Level
    /// What would make it better.
    package let hints: [Hint]

    /// - Parameter passcode: UTF-8.
    package init(of passcode: RawSpan) {
        guard passcode.byteCount > 0 else {
            (bits, level, hints) = (0, .none, [])
            return
        }
        var shape = Shape()
        for offset in 0..<passcode.byteCount { shape.add(passcode.byte(at: offset)) }
        let isCommon = PasscodeStrength.isCommon(passcode)
        // Milli-bits, so that nothing here needs floating point.
        bits = isCommon ? min(shape.bits, 7) : shape.bits
        level =
            switch bits {
            case ..<20: .veryWeak
            case ..<32: .weak
            case ..<48: .fair
            default: .strong
            }
        var hints: [Hint] = []
        if isCommon { hints.append(.common) }
        if shape.predictable * 2 >= passcode.byteCount, passcode.byteCount > 2 { hints.append(.pattern) }
        if level < .strong { hints.append(.longer) }
        if shape.classes == [.digit], level < .strong { hints.append(.onlyDigits) }
        self.hints = hints
    }

    private struct Classes: OptionSet {
        let rawValue: UInt8
        static let digit = Classes(rawValue: 1)
        static let lower = Classes(rawValue: 2)
        static let upper = Classes(rawValue: 4)
        static let sign = Classes(rawValue: 8)
        static let beyond = Classes(rawValue: 16)

        /// Thousandths of the bits that one character of such an alphabet is worth.
        var milliBits: Int {
            let size =
                (contains(.digit) ? 10 : 0) + (contains(.lower) ? 26 : 0) + (contains(.upper) ? 26 : 0)
                + (contains(.sign) ? 33 : 0) + (contains(.beyond) ? 64 : 0)
            // log2 in thousandths, by halving.
            var (value, bits) = (size, 0)
            while value > 1 {
                value /= 2
                bits += 1000
            }
            let power = 1 << (bits / 1000)
            return bits + (size - power) * 1000 / max(1, power)
        }
    }

    /// What is needed of the characters, without keeping them.
    private struct Shape {
        var classes: Classes = []
        /// Characters that the one before gives away.
        var predictable = 0
        private var count = 0
        private var last: UInt8?
        private var step: Int?

        mutating func add(_ byte: UInt8) {
            classes.insert(Shape.kind(of: byte))
            // The later bytes of one character beyond ASCII are worth nothing of their own.
            if byte & 0xC0 == 0x80 { return }
            count += 1
            if let last {
                let difference = Int(byte) - Int(last)
                let isRun = difference == step && abs(difference) <= 1
                if difference == 0 || isRun || Shape.areNeighbours(last, byte) { predictable += 1 }
                step = difference
            }
            last = byte
        }

        var bits: Int { max(1, ((count - predictable) * classes.milliBits + predictable * 1000) / 1000) }

        private static func kind(of byte: UInt8) -> Classes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): .digit
            case UInt8(ascii: "a")...UInt8(ascii: "z"): .lower
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): .upper
            case 0x80...: .beyond
            default: .sign
            }
        }

        /// Whether the second key lies beside the first one, on most keyboards.
        private static func areNeighbours(_ first: UInt8, _ second: UInt8) -> Bool {
            for row in ["qwertyuiop", "qwertz", "asdfghjkl", "zxcvbnm", "yxcvbnm"] {
                var before: UInt8?
                for key in row.utf8 {
                    if let before, (before, key) == (first | 0x20, second | 0x20) { return true }
                    before = key
                }
            }
            return false
        }
    }

    /// The passcodes that are tried first, in lower case.
    private static let common = [
        "123456", "1234567", "12345678", "123456789", "1234567890", "password", "passwort", "qwerty", "qwertz",
        "letmein", "welcome", "admin", "iloveyou", "monkey", "dragon", "football", "baseball", "master", "sunshine",
        "princess", "shadow", "superman", "michael", "hallo", "schatz", "geheim", "passw0rd", "password1", "1q2w3e4r",
        "contraseña", "hola", "secret", "holdfast", "111111", "000000", "121212", "696969", "112233", "654321",
    ]

    private static func isCommon(_ passcode: RawSpan) -> Bool {
        common.contains { word in
            let letters = Array(word.utf8)
            guard letters.count == passcode.byteCount else { return false }
            return letters.indices.allSatisfy { index in
                let byte = passcode.byte(at: index)
                let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
                return lower == letters[index]
            }
        }
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
