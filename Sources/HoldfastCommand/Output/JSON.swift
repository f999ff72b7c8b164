/// A JSON value (RFC 8259) that writes itself on one line with sorted keys.
enum JSON: Sendable {
    case object([String: JSON])
    case array([JSON])
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case null

    static func count(_ value: UInt64) -> JSON { .integer(Int64(clamping: value)) }

    var encoded: String {
        var output = ""
        write(to: &output)
        return output
    }

    private func write(to output: inout String) {
        switch self {
        case .object(let members):
            output += "{"
            for (index, key) in members.keys.sorted().enumerated() {
                if index > 0 { output += "," }
                JSON.quote(key, to: &output)
                output += ":"
                members[key]?.write(to: &output)
            }
            output += "}"
        case .array(let elements):
            output += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { output += "," }
                element.write(to: &output)
            }
            output += "]"
        case .text(let text): JSON.quote(text, to: &output)
        case .integer(let number): output += String(number)
        case .boolean(let value): output += value ? "true" : "false"
        case .null: output += "null"
        }
    }

    /// Escapes more than the standard asks for: what could play tricks on a terminal stays harmless there, and means
    /// the same to a parser.
    private static func quote(_ text: String, to output: inout String) {
        output += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            case "\r": output += "\\r"
            case "\t": output += "\\t"
            case let scalar where Escaping.isUnsafe(scalar):
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    output += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            case let scalar: output.unicodeScalars.append(scalar)
            }
        }
        output += "\""
    }
}
