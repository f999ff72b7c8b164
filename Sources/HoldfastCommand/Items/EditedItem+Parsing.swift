internal import Holdfast
internal import OneTimeCodes
internal import SecretMemory
internal import VaultFormat

/// What is wrong with an edited text. Says the line, never what is in it.
struct EditError: Error, Equatable {
    let line: Int
    let what: String
}

extension EditedItem {
    /// Reads a text.
    init(parsing text: RawSpan) throws(EditError) {
        var lines = TextLines(text)
        while let line = lines.next() {
            guard !line.isBlank(text), text.byte(at: line.range.lowerBound) != UInt8(ascii: "#") else { continue }
            try parse(line, &lines, text)
        }
    }

    private mutating func parse(_ line: TextLines.Line, _ lines: inout TextLines, _ text: RawSpan) throws(EditError) {
        var words = LineReader(line)
        var word = try words.word(text)
        let isBase64 = word == "base64"
        if isBase64 { word = try words.word(text) }
        switch word {
        case "kind:": kind = try EditedItem.kind(words.openText(text), line.number)
        case "favourite:":
            switch words.openText(text) {
            case "yes": isFavourite = true
            case "no": isFavourite = false
            default: throw EditError(line: line.number, what: "favourite is yes or no")
            }
        case "tag:": tags.append(words.openText(text))
        case "notes:":
            guard notes == nil else { throw EditError(line: line.number, what: "there are notes already") }
            notes = try EditedItem.value(words, &lines, text, isBase64: isBase64, line.number)
        default:
            guard let kind = EditedItem.fieldKind(word) else {
                throw EditError(
                    line: line.number,
                    what: "a line begins with text, secret, url, otp, date, file, tag:, notes:, kind: or favourite:")
            }
            let label = try words.label(text)
            var value = try EditedItem.value(words, &lines, text, isBase64: isBase64, line.number)
            if kind == .oneTimeCode {
                do throws(CommandError) { value = Value(try OneTimeCode.text(of: value.bytes)) } catch {
                    throw EditError(line: line.number, what: error.what)
                }
            }
            let isValid = value.bytes.withBytes { kind == .file || ItemValue.isValid($0, kind) }
            guard isValid else {
                throw EditError(
                    line: line.number,
                    what: kind == .date ? "a date looks like 2031-12-24 or 2031-12" : "this is no value of its kind")
            }
            fields.append(Field(kind: kind, label: label, value: value, line: line.number))
        }
    }

    private static func kind(_ word: String, _ line: Int) throws(EditError) -> ItemKind {
        if let template = ItemTemplate.named(word) { return template.kind }
        guard let number = UInt8(word), number > 0 else {
            let words = ItemTemplate.all.map(\.word).joined(separator: ", ")
            throw EditError(line: line, what: "the kind is one of: \(words)")
        }
        return ItemKind(rawValue: number)
    }

    private static func fieldKind(_ word: String) -> FieldKind? {
        if let kind = FieldKind.words.first(where: { $0.1 == word })?.0 { return kind }
        guard word.hasPrefix("kind"), let number = UInt8(word.dropFirst(4)), number > 0 else { return nil }
        return FieldKind(rawValue: number)
    }

    private static func value(
        _ words: LineReader, _ lines: inout TextLines, _ text: RawSpan, isBase64: Bool, _ line: Int
    ) throws(EditError) -> Value {
        do throws(SecretMemoryError) {
            var value = SecretBuffer(limit: ItemText.limit)
            if isBase64 {
                guard try Base64.decode(text.extracting(words.rest), into: &value) else {
                    throw SecretMemoryError.invalidSize(-1)
                }
                return Value(try value.bytes())
            }
            try value.append(text.extracting(words.rest))
            guard words.rest.isEmpty else { return Value(try value.bytes()) }
            var isFirst = true
            while let next = lines.nextOfValue(text) {
                if !isFirst { try value.append(UInt8(ascii: "\n")) }
                try value.append(text.extracting(next))
                isFirst = false
            }
            return Value(try value.bytes())
        } catch {
            if case .invalidSize = error {
                throw EditError(
                    line: line, what: isBase64 ? "this is not base 64" : "this is longer than an entry can be")
            }
            throw EditError(line: line, what: "\(error)")
        }
    }
}

/// The lines of a text, where they lie.
struct TextLines {
    struct Line {
        let number: Int
        /// Without its end.
        let range: Range<Int>

        func isBlank(_ text: RawSpan) -> Bool {
            range.allSatisfy { [UInt8(ascii: " "), UInt8(ascii: "\t")].contains(text.byte(at: $0)) }
        }
    }

    private var lines: [Range<Int>] = []
    private var index = 0

    init(_ text: RawSpan) {
        var start = 0
        for offset in 0..<text.byteCount where text.byte(at: offset) == UInt8(ascii: "\n") {
            lines.append(start..<offset)
            start = offset + 1
        }
        if start < text.byteCount { lines.append(start..<text.byteCount) }
    }

    mutating func next() -> Line? {
        guard index < lines.count else { return nil }
        index += 1
        return Line(number: index, range: lines[index - 1])
    }

    /// The next line of a value of several, behind its bar; nil where another one begins.
    mutating func nextOfValue(_ text: RawSpan) -> Range<Int>? {
        guard index < lines.count, let first = lines[index].first, text.byte(at: first) == UInt8(ascii: "|") else {
            return nil
        }
        let line = lines[index]
        index += 1
        let hasSpace = line.count > 1 && text.byte(at: line.lowerBound + 1) == UInt8(ascii: " ")
        return line.lowerBound + (hasSpace ? 2 : 1)..<line.upperBound
    }
}

/// Reads one line from its beginning.
struct LineReader {
    private let line: Int
    /// What has not been read.
    private(set) var rest: Range<Int>

    init(_ line: TextLines.Line) {
        self.line = line.number
        rest = line.range
    }

    /// The next word, with a colon at its end if there is one; what separates it from the rest is passed over.
    mutating func word(_ text: RawSpan) throws(EditError) -> String {
        for offset in rest where text.byte(at: offset) < 0x20 && text.byte(at: offset) != UInt8(ascii: "\t") {
            throw EditError(line: line, what: "this line has a control character; write such a value in base 64")
        }
        let end = rest.first { text.byte(at: $0) == UInt8(ascii: " ") || text.byte(at: $0) == UInt8(ascii: ":") }
        guard let end else { throw EditError(line: line, what: "a colon is missing") }
        let isKey = text.byte(at: end) == UInt8(ascii: ":")
        let word = text.text(rest.lowerBound..<end) + (isKey ? ":" : "")
        rest = end + 1..<rest.upperBound
        if isKey { skipSpace(text) }
        return word
    }

    /// A label and the colon behind it.
    mutating func label(_ text: RawSpan) throws(EditError) -> String {
        guard let first = rest.first, text.byte(at: first) == UInt8(ascii: "\"") else {
            guard let end = rest.first(where: { text.byte(at: $0) == UInt8(ascii: ":") }), end > rest.lowerBound else {
                throw EditError(line: line, what: "a label and a colon are missing behind the kind")
            }
            let label = text.text(rest.lowerBound..<end)
            rest = end + 1..<rest.upperBound
            skipSpace(text)
            return label
        }
        var bytes: [UInt8] = []
        var offset = first + 1
        while offset < rest.upperBound, text.byte(at: offset) != UInt8(ascii: "\"") {
            if text.byte(at: offset) == UInt8(ascii: "\\") { offset += 1 }
            guard offset < rest.upperBound else { break }
            bytes.append(text.byte(at: offset))
            offset += 1
        }
        guard offset + 1 < rest.upperBound, text.byte(at: offset + 1) == UInt8(ascii: ":"),
            let label = String(validating: bytes, as: UTF8.self)
        else { throw EditError(line: line, what: "the label's closing quote and a colon are missing") }
        rest = offset + 2..<rest.upperBound
        skipSpace(text)
        return label
    }

    /// What is left, where it is no secret.
    func openText(_ text: RawSpan) -> String { text.text(rest) }

    private mutating func skipSpace(_ text: RawSpan) {
        if let first = rest.first, text.byte(at: first) == UInt8(ascii: " ") { rest = first + 1..<rest.upperBound }
    }
}
