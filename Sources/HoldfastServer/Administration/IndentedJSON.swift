/// JSON with a line for each member, for people to read and programs too.
enum IndentedJSON {
    /// - Parameter text: Compact JSON whose strings have no escapes.
    static func text(_ text: String) -> String {
        var result = ""
        var depth = 0
        var (isQuoted, isLineDue) = (false, false)
        func line() -> String { "\n" + String(repeating: "  ", count: depth) }
        for character in text {
            if !isQuoted, character == "}" || character == "]" {
                depth -= 1
                // Nothing between the two: they stay on one line.
                result += (isLineDue ? "" : line()) + String(character)
                isLineDue = false
                continue
            }
            if isLineDue { result += line() }
            isLineDue = false
            if character == "\"" { isQuoted.toggle() }
            result.append(character)
            guard !isQuoted else { continue }
            switch character {
            case ":": result += " "
            case "{", "[":
                depth += 1
                isLineDue = true
            case ",": isLineDue = true
            default: break
            }
        }
        return result + "\n"
    }
}
