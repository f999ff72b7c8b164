internal import VaultCore
internal import VaultFormat

/// What a typed path can mean.
struct PathReading {
    /// The text without its escapes.
    let text: String
    /// Where it can be split: offsets of its slashes, without those written `\/`.
    private let splits: [Int]
    /// Whether its collection is written as an empty one.
    let hasEmptyCollection: Bool
    /// Whether a slash of it is written `\/`.
    let hasQuotedSlash: Bool

    /// With escapes: `\\`, `\u{HEX}`, `\/`, and `\-` alone before a slash. Any other backslash stands for itself.
    init(_ typed: String) {
        var rest = typed.unicodeScalars[...]
        hasEmptyCollection = typed.unicodeScalars.starts(with: "\\-/".unicodeScalars)
        if hasEmptyCollection { rest = rest.dropFirst(2) }
        var (text, splits, hasQuotedSlash) = ("", [Int](), false)
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                if scalar == "/" { splits.append(text.utf8.count) }
                text.unicodeScalars.append(scalar)
                continue
            }
            if rest.first == "\\" || rest.first == "/" {
                hasQuotedSlash = hasQuotedSlash || rest.first == "/"
                text.unicodeScalars.append(rest.removeFirst())
            } else if let (named, count) = PathReading.named(rest) {
                text.unicodeScalars.append(named)
                rest = rest.dropFirst(count)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        self.text = text
        self.splits = splits
        self.hasQuotedSlash = hasQuotedSlash
    }

    /// Without: every backslash stands for itself. Nil for a text that has none, which reads the same with them.
    init?(literal text: String) {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return nil }
        self.init(plain: text)
    }

    /// A text that has no escapes.
    init(plain text: String) {
        self.text = text
        splits = text.utf8.enumerated().compactMap { $1 == UInt8(ascii: "/") ? $0 : nil }
        hasEmptyCollection = false
        hasQuotedSlash = false
    }

    /// Where it is looked for, in this order: split at its first slash; as a whole in the default collection. None for
    /// an empty name.
    var places: [EntryPath] {
        let whole = EntryPath(name: text)
        guard let first = splits.first else { return text.isEmpty ? [] : [whole] }
        guard let split = split(first) else { return hasEmptyCollection ? [] : [whole] }
        return hasEmptyCollection ? [split] : [split, whole]
    }

    /// Where it can be if a collection's name has slashes.
    var further: [EntryPath] { hasEmptyCollection ? [] : splits.dropFirst().compactMap(split) }

    /// What it names if it ends with a slash: the first part, and the rest without that slash.
    var folder: (first: String, rest: String)? {
        guard let first = splits.first, let last = splits.last, last == text.utf8.count - 1,
            first > 0 || hasEmptyCollection
        else { return nil }
        let bytes = text.utf8
        let rest = first == last ? bytes.prefix(0) : bytes.dropFirst(first + 1).dropLast()
        return (String(decoding: bytes.prefix(first), as: UTF8.self), String(decoding: rest, as: UTF8.self))
    }

    /// A name of the default collection, split at its first slash as its path would be.
    static func split(_ name: String) -> EntryPath? {
        name.utf8.firstIndex(of: UInt8(ascii: "/")).flatMap { split(name, at: $0) }
    }

    private func split(_ offset: Int) -> EntryPath? {
        PathReading.split(text, at: text.utf8.index(text.utf8.startIndex, offsetBy: offset))
    }

    private static func split(_ text: String, at place: String.Index) -> EntryPath? {
        let name = text[text.utf8.index(after: place)...]
        return name.isEmpty ? nil : EntryPath(collection: String(text[..<place]), name: String(name))
    }

    /// The scalar that `u{HEX}` names, and the scalars that it takes.
    private static func named(_ text: Substring.UnicodeScalarView) -> (Unicode.Scalar, Int)? {
        guard text.starts(with: "u{".unicodeScalars) else { return nil }
        let digits = text.dropFirst(2).prefix(7).prefix { $0 != "}" }
        guard (1...6).contains(digits.count), text.dropFirst(2 + digits.count).first == "}",
            digits.allSatisfy(\.properties.isASCIIHexDigit), let value = UInt32(String(digits), radix: 16),
            let scalar = Unicode.Scalar(value)
        else { return nil }
        return (scalar, digits.count + 3)
    }
}

/// What a new entry may be called.
enum PlainName {
    /// What is wrong with it; nil for a plain one.
    static func problem(of text: String) -> String? {
        let parts = text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
        for (number, part) in parts.enumerated() {
            let place = parts.count == 1 ? "it" : "part \(number + 1)"
            guard let first = part.first, let last = part.last else {
                return number == 0
                    ? "it begins with a slash"
                    : number == parts.count - 1 ? "it ends with a slash" : "\(place) is empty"
            }
            if part.elementsEqual(".".unicodeScalars) || part.elementsEqual("..".unicodeScalars) {
                return "\(place) is \(String(part))"
            }
            if first.properties.isWhitespace || last.properties.isWhitespace {
                return "\(place) has a space at an end"
            }
            if part.contains(where: \.isUnsafeToShow) {
                return "\(place) has a control character or one that cannot be seen"
            }
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may do anything with it but draw it in its place, or a reader may not see it.
    package var isUnsafeToShow: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned,
            .spaceSeparator:
            return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }
}
