package import SecretMemory
internal import VaultFormat

/// An entry of `pass` or gopass, decrypted.
///
/// Its first line is the password, or a one-time code where it begins with `otpauth://` (`pass otp insert` makes such
/// entries). Below it, lines of the form `key: value` are fields or codes, `otpauth://` lines are codes, and the rest
/// are notes. Two forms of gopass differ: `GOPASS-SECRET-1.0` has headers in place of the first line, and what follows
/// a line `---` is YAML, of which the plain pairs become fields and everything else stays as it is, in the notes.
package enum PassImport {
    /// - Parameters:
    ///   - path: Folders and name of the entry, without `.gpg`.
    ///   - text: What gpg gave.
    package static func read(
        _ path: [String], _ text: borrowing SecretBytes, into result: inout Imported
    ) throws(ImportError) {
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        let item = try ImportedItem(.login, path: path, place: "")
        try text.withBytes { text throws(ImportError) in
            let all = lines(text)
            var rest = all[...]
            if let first = rest.first, text.equals(mimeMark, first) {
                rest = try headers(rest.dropFirst(), text, item)
            } else if let first = rest.popFirst() {
                let line = text.extracting(first)
                if try !addCode(line, "code", to: item) { try item.add(.secret, "password", bytes: line) }
            }
            try body(rest, text, item)
        }
        try result.append(item)
    }

    /// The first line of an entry that gopass wrote from version 1.9 to 1.11.
    private static let mimeMark: StaticString = "GOPASS-SECRET-1.0"
    private static let yamlMark: StaticString = "---"

    /// Lines without their ends, of which Windows has two characters; without an empty one at the end.
    private static func lines(_ text: RawSpan) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for end in 0...text.byteCount where end == text.byteCount || text[end] == UInt8(ascii: "\n") {
            let isCut = end > start && text[end - 1] == UInt8(ascii: "\r")
            if end < text.byteCount || end > start { lines.append(start..<(isCut ? end - 1 : end)) }
            start = end + 1
        }
        return lines
    }

    /// Headers as of a mail, up to an empty line.
    /// - Returns: The lines behind them.
    private static func headers(
        _ lines: ArraySlice<Range<Int>>, _ text: RawSpan, _ item: ImportedItem
    ) throws(ImportError) -> ArraySlice<Range<Int>> {
        var rest = lines
        while let line = rest.popFirst(), !line.isEmpty {
            let content = text.extracting(line)
            if let pair = pair(content), pair.label.lowercased() == "password" {
                try item.add(.secret, "password", bytes: content.extracting(pair.value))
            } else if try !addPair(content, to: item) {
                try addNote([line], text, item)
            }
        }
        return rest
    }

    private static func body(
        _ lines: ArraySlice<Range<Int>>, _ text: RawSpan, _ item: ImportedItem
    ) throws(ImportError) {
        let mark = lines.firstIndex { text.equals(yamlMark, $0) } ?? lines.endIndex
        var notes: [Range<Int>] = []
        for line in lines[..<mark] {
            let content = text.extracting(line)
            if try !addCode(content, "code", to: item), try !addPair(content, to: item) { notes.append(line) }
        }
        let others = try yaml(lines[mark...].dropFirst(), text, item)
        // Without anything behind it the mark says nothing.
        if !others.isEmpty || mark == lines.endIndex - 1 { notes += [lines[mark]] + others }
        while let line = notes.last, line.isEmpty { notes.removeLast() }
        while let line = notes.first, line.isEmpty { notes.removeFirst() }
        try addNote(notes, text, item)
    }

    /// - Returns: The lines that are no plain pair: lists, maps, texts of several lines, comments.
    private static func yaml(
        _ lines: ArraySlice<Range<Int>>, _ text: RawSpan, _ item: ImportedItem
    ) throws(ImportError) -> [Range<Int>] {
        var others: [Range<Int>] = []
        for (index, line) in zip(lines.indices, lines) {
            let content = text.extracting(line)
            // The lines below may belong to it.
            let isWhole = index + 1 == lines.endIndex || !isDeeper(text.extracting(lines[index + 1]))
            if isWhole, !isMarked(content), let pair = pair(content), let value = plain(content, pair.value) {
                try add(content.extracting(value), pair.label, to: item)
            } else if !line.isEmpty || !others.isEmpty {
                others.append(line)
            }
        }
        return others
    }

    /// Whether a line of YAML is a part of what is above it.
    private static func isDeeper(_ line: RawSpan) -> Bool {
        line.byteCount > 0 && Array(" \t-".utf8).contains(line[0])
    }

    /// Whether a line of YAML begins with no plain key.
    private static func isMarked(_ line: RawSpan) -> Bool {
        line.byteCount > 0 && Array(" \t-#?\"'[{&*!|>%@`".utf8).contains(line[0])
    }

    /// The value of a YAML scalar in one line, without its quotes; nil for one that has to be computed.
    private static func plain(_ line: RawSpan, _ value: Range<Int>) -> Range<Int>? {
        let first = line[value.lowerBound]
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            guard value.count > 2, line[value.upperBound - 1] == first else { return nil }
            let inner = value.lowerBound + 1..<value.upperBound - 1
            let isPlain = inner.allSatisfy { line[$0] != first && (line[$0] != UInt8(ascii: "\\") || first == 0x27) }
            return isPlain ? inner : nil
        }
        guard !Array("[]{}&*!|>%@`#,?".utf8).contains(first) else { return nil }
        // A comment ends it, and a colon makes it a map.
        let isPlain = value.dropLast().allSatisfy { offset in
            !(line[offset] == UInt8(ascii: " ") && line[offset + 1] == UInt8(ascii: "#"))
                && !(line[offset] == UInt8(ascii: ":") && line[offset + 1] == UInt8(ascii: " "))
        }
        return isPlain ? value : nil
    }
}

extension PassImport {
    /// - Returns: False for a line that is no pair.
    private static func addPair(_ line: RawSpan, to item: ImportedItem) throws(ImportError) -> Bool {
        guard let pair = pair(line) else { return false }
        try add(line.extracting(pair.value), pair.label, to: item)
        return true
    }

    /// A key of at most 64 bytes and the value behind it, without the spaces around; nil for another line.
    private static func pair(_ line: RawSpan) -> (label: String, value: Range<Int>)? {
        var colon = 0
        while colon < line.byteCount, colon <= 64, line[colon] != UInt8(ascii: ":") { colon += 1 }
        guard colon > 0, colon <= 64, colon + 1 < line.byteCount, line[colon + 1] == UInt8(ascii: " ") else {
            return nil
        }
        var start = colon + 1
        while start < line.byteCount, line[start] == UInt8(ascii: " ") { start += 1 }
        guard start < line.byteCount else { return nil }
        return (line.openText(0..<colon), start..<line.byteCount)
    }

    private static func add(_ value: RawSpan, _ label: String, to item: ImportedItem) throws(ImportError) {
        switch label.lowercased() {
        case "totp", "otp", "otpauth":
            // gopass took the scheme of an address for a key, and put a space behind it.
            let scheme: StaticString = value.begins(with: "//") ? "otpauth:" : ""
            let code = try memory { () throws(SecretMemoryError) in
                var code = SecretBuffer()
                try code.append("\(scheme)")
                try code.append(value)
                return try code.bytes()
            }
            try item.addCode("code", code)
        case _ where try addCode(value, label, to: item): break
        case "user", "username", "login": try item.add(.text, "username", bytes: value)
        case "email": try item.add(.text, "email", bytes: value)
        case "url", "uri", "website", "site": try item.add(.url, "website", bytes: value)
        // What nobody said is no secret may be one.
        default: try item.add(.secret, label, bytes: value)
        }
    }

    /// - Returns: False for what does not begin as a one-time code.
    private static func addCode(_ text: RawSpan, _ label: String, to item: ImportedItem) throws(ImportError) -> Bool {
        guard text.begins(with: "otpauth://") else { return false }
        try item.addCode(label, memory(SecretBytes(copying: text)))
        return true
    }

    private static func addNote(
        _ lines: [Range<Int>], _ text: RawSpan, _ item: ImportedItem
    ) throws(ImportError) {
        let notes = try memory { () throws(SecretMemoryError) in
            var notes = SecretBuffer()
            for (number, line) in lines.enumerated() {
                if number > 0 { try notes.append(UInt8(ascii: "\n")) }
                try notes.append(text.extracting(line))
            }
            return try notes.bytes()
        }
        try item.addNotes(notes)
    }
}
