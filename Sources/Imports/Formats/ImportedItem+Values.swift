internal import SecretMemory
internal import VaultFormat

// Values that programs write in more than one way.
extension ImportedItem {
    /// A date, or as a text what is none.
    func addDate(_ label: String, _ value: borrowing SecretBytes) throws(ImportError) {
        let isDate = value.withBytes { ItemValue.isValid($0, .date) }
        try add(isDate ? .date : .text, label, value)
    }

    /// When a card expires: a month and a year, of two or four digits, as a date; anything else as a text.
    func addExpiry(month: String?, year: String?) throws(ImportError) {
        let parts = [month, year].compactMap { $0 }.filter { !$0.isEmpty }
        let isPlain = parts.allSatisfy { $0.utf8.allSatisfy { (48...57).contains($0) } }
        guard isPlain, parts.count == 2, let month = Int(parts[0]), let year = Int(parts[1]), 1...12 ~= month,
            parts[1].utf8.count == 4 && year >= 1000 || parts[1].utf8.count == 2
        else { return try add(.text, "expires", text: parts.joined(separator: "/")) }
        try add(.date, "expires", text: "\(year < 100 ? 2000 + year : year)-" + (month < 10 ? "0" : "") + "\(month)")
    }

    /// Adds a file of an archive.
    func addFile(
        _ label: String, name: String, at path: String, in archive: borrowing ZipArchive
    ) throws(ImportError) {
        let content: SecretBytes
        do throws(ImportError) {
            guard case .some(let found) = try archive.content(path) else { return }
            content = found
        } catch {
            guard error.isOfPart else { throw error }
            return add(fault: error)
        }
        try addFile(label, name: name, content: content)
    }

    /// A label out of a member's name: `streetAddress` is `street address`.
    static func words(_ member: String) -> String {
        var words = ""
        for character in member {
            if character.isUppercase, let last = words.last, !last.isUppercase, last != " " { words.append(" ") }
            words.append(character)
        }
        return words.lowercased()
    }
}

extension String {
    /// What is between separators, without empty pieces. At most 1,000, more than any item can take: what is left over
    /// is the last one, so that a long text does not become millions.
    func pieces(_ isSeparator: (Character) -> Bool) -> [String] {
        split(maxSplits: 999, whereSeparator: isSeparator).map(String.init)
    }
}

extension SecretBytes {
    /// No bytes.
    static func none() throws(ImportError) -> SecretBytes { try memory(SecretBytes(zeroed: 0)) }
}
