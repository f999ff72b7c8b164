import TestSupport

/// Random JSON in the compact spelling, with everything that JSON allows.
enum JSONSample {
    static func value(_ random: inout SeededGenerator, depth: Int) -> [UInt8] {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
        case 0: return Array(["true", "false", "null"].randomElement(using: &random)!.utf8)
        case 1: return Array(number(&random).utf8)
        case 2, 3, 4: return string(&random)
        case 5:
            let count = Int.random(in: 0...3, using: &random)
            let values = (0..<count).map { _ in value(&random, depth: depth - 1) }
            return Array("[".utf8) + values.joined(separator: Array(",".utf8)) + Array("]".utf8)
        default:
            let count = Int.random(in: 0...12, using: &random)
            let members = (0..<count).map { index in
                Array("\"\(index)-".utf8) + string(&random).dropFirst() + Array(":".utf8)
                    + value(&random, depth: depth - 2)
            }
            return Array("{".utf8) + members.joined(separator: Array(",".utf8)) + Array("}".utf8)
        }
    }

    static func number(_ random: inout SeededGenerator) -> String {
        var text = Bool.random(using: &random) ? "-" : ""
        text += Bool.random(using: &random) ? "0" : "\(Int.random(in: 1...999_999, using: &random))"
        if Bool.random(using: &random) { text += ".\(Int.random(in: 0...999, using: &random))" }
        if Bool.random(using: &random) {
            text += ["e", "E", "e+", "E-"].randomElement(using: &random)! + "\(Int.random(in: 0...99, using: &random))"
        }
        return text
    }

    static func string(_ random: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "a", "Z", "0", " ", "/", "<", "é", "€", "😀", "\u{2028}", "\u{7F}", #"\""#, #"\\"#, #"\/"#, #"\b"#, #"\n"#,
            #"\u0041"#, #"\u00e9"#, #"\ud83d\ude00"#, #"\uFFFF"#, #"\u0000"#,
        ]
        let count = Int.random(in: 0...6, using: &random)
        let text = (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
        return Array("\"\(text)\"".utf8)
    }
}
