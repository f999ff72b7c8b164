internal import CommandLineArguments
internal import SystemCalls

/// Writes a value to standard output as it comes, piece by piece.
///
/// A value may be a stranger's: what is in the inbox was written without the passcode. So on a terminal, which acts on
/// control characters, all of those but tabs and line breaks are shown as `\u{...}`, and bytes that are no text as
/// `\xNN`. Anywhere else, and with `--raw`, the bytes are written as they are.
struct ShownValue {
    private let isEscaped: Bool
    /// The beginning of a character whose other bytes come with the next piece.
    private var rest: [UInt8] = []
    private var endsLine = true

    /// - Parameter isRaw: Whether the bytes are wanted as they are, on a terminal too.
    init(isRaw: Bool) { isEscaped = !isRaw && Descriptors.isTerminal(STDOUT_FILENO) }

    mutating func write(_ bytes: RawSpan) throws(CommandError) {
        guard isEscaped else { return try Descriptors.write(bytes, to: STDOUT_FILENO) }
        let all = rest + (0..<bytes.byteCount).map { bytes.byte(at: $0) }
        let end = ShownValue.wholeCharacters(all)
        rest = Array(all[end...])
        try show(all[..<end])
    }

    /// After the last piece: what was cut short, and on a terminal the line's end.
    mutating func end() throws(CommandError) {
        guard isEscaped else { return }
        try show(rest[...])
        rest = []
        if !endsLine { try Output.write("\n", to: STDOUT_FILENO) }
    }

    private mutating func show(_ bytes: ArraySlice<UInt8>) throws(CommandError) {
        guard !bytes.isEmpty else { return }
        try Output.write(ShownValue.shown(bytes), to: STDOUT_FILENO)
        endsLine = bytes.last == UInt8(ascii: "\n")
    }

    /// The bytes as text that a terminal only draws.
    static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        var decoder = UTF8()
        var place = bytes.startIndex
        while place < bytes.endIndex {
            var following = bytes[place...].makeIterator()
            switch decoder.decode(&following) {
            case .scalarValue(let scalar):
                let isDrawn = scalar == "\n" || scalar == "\t" || scalar == " " || !Escaping.isUnsafe(scalar)
                if isDrawn { text.unicodeScalars.append(scalar) } else { text += Escaping.sentence(String(scalar)) }
                place += UTF8.width(scalar)
            case .error, .emptyInput:
                let digits = String(bytes[place], radix: 16)
                text += "\\x" + (digits.count < 2 ? "0" : "") + digits
                place += 1
            }
            decoder = UTF8()
        }
        return text
    }

    /// Where the last character that is whole, or can never become one, ends.
    static func wholeCharacters(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let first = bytes[bytes.count - back]
            if first & 0xC0 == 0x80 { continue }
            let size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
            return size > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}
