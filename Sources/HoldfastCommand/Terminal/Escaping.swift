internal import Items

/// Makes text from elsewhere harmless to look at: record names, paths, arguments.
package enum Escaping {
    /// A name as it is shown: control characters, line breaks, invisible characters and those that change the direction
    /// of writing become `\u{...}`, and a backslash is doubled so that two names never look the same.
    static func name(_ text: String) -> String { PathText.escaped(text, spaces: false) }

    /// As ``name(_:)``, for sentences that hold names already escaped: backslashes stay.
    package static func sentence(_ text: String) -> String {
        text.unicodeScalars.map { isUnsafe($0) ? "\\u{" + String($0.value, radix: 16) + "}" : String($0) }.joined()
    }

    /// Whether a terminal may do anything with it but draw it in its place.
    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { scalar.isUnsafeToShow }

    /// Columns that text takes on a terminal, near enough to align a table: two for wide letters, none for accents.
    package static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    /// Lines of at most so many columns, broken at spaces; a word that is longer has a line of its own.
    /// - Parameter indent: Spaces before every line but the first.
    static func wrapped(_ text: String, to columns: Int, indent: Int = 0) -> String {
        var (lines, line) = ("", "")
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if !line.isEmpty, width(line) + 1 + width(String(word)) > columns {
                lines += line + "\n"
                line = String(repeating: " ", count: indent) + word
            } else {
                line += (line.isEmpty ? "" : " ") + word
            }
        }
        return lines + line + "\n"
    }

    /// Text of at most so many columns; what is cut ends in `…`.
    package static func cut(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        var (result, left) = ("", columns - 1)
        for character in text {
            left -= width(String(character))
            guard left >= 0 else { break }
            result.append(character)
        }
        return result + "…"
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0..<0x300: return 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark: return 0
            default: return 1
            }
        }
    }
}
