/// Words as a shell reads them.
package enum ShellWord {
    /// The word itself where it means nothing but itself to any shell, else in single quotation marks.
    package static func quoted(_ word: String) -> String {
        let plain = Set("/._-+:@%,=".utf8)
        let isPlain = word.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || plain.contains(byte)
        }
        let isSpecial = word.isEmpty || word.hasPrefix("-") || word.hasPrefix("=")
        guard !isPlain || isSpecial else { return word }
        return always(word)
    }

    /// In single quotation marks, where nothing but they mean anything.
    package static func always(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
