package import SecretMemory
internal import VaultFormat

/// An entry of `pass`, decrypted: its first line is the password, lines of the form `key: value` are fields, an
/// `otpauth://` line is a one-time code, and the rest are notes.
package enum PassImport {
    /// - Parameters:
    ///   - path: Folders and name of the entry, without `.gpg`.
    ///   - text: What gpg gave.
    package static func read(
        _ path: [String], _ text: borrowing SecretBytes, into result: inout Imported
    ) throws(ImportError) {
        let item = try ImportedItem(.login, path: path, place: "")
        try text.withBytes { text throws(ImportError) in
            var notes = SecretBuffer()
            for (number, line) in lines(text).enumerated() {
                let content = text.extracting(line)
                if number == 0 {
                    try item.add(.secret, "password", bytes: content)
                } else if content.begins(with: "otpauth://") {
                    let code = try memory(SecretBytes(copying: content))
                    try item.addCode("code", code)
                } else if try !addField(content, to: item) {
                    try memory { () throws(SecretMemoryError) in
                        if notes.count > 0 { try notes.append(UInt8(ascii: "\n")) }
                        try notes.append(content)
                    }
                }
            }
            try item.addNotes(try memory(notes.bytes()))
        }
        try result.append(item)
    }

    private static func lines(_ text: RawSpan) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for offset in 0..<text.byteCount where text[offset] == 10 {
            lines.append(start..<offset)
            start = offset + 1
        }
        if start < text.byteCount { lines.append(start..<text.byteCount) }
        return lines
    }

    /// - Returns: False for a line that is no field.
    private static func addField(_ line: RawSpan, to item: ImportedItem) throws(ImportError) -> Bool {
        var colon = 0
        while colon < line.byteCount, colon <= 64, line[colon] != UInt8(ascii: ":") { colon += 1 }
        guard colon > 0, colon <= 64, colon + 1 < line.byteCount, line[colon + 1] == UInt8(ascii: " ") else {
            return false
        }
        var start = colon + 1
        while start < line.byteCount, line[start] == UInt8(ascii: " ") { start += 1 }
        guard start < line.byteCount else { return false }
        let label = line.openText(0..<colon)
        let value = line.extracting(start..<line.byteCount)
        switch label.lowercased() {
        case "user", "username", "login", "email": try item.add(.text, "username", bytes: value)
        case "url", "uri", "website", "site": try item.add(.url, "website", bytes: value)
        // What nobody said is no secret may be one.
        default: try item.add(.secret, label, bytes: value)
        }
        return true
    }
}
