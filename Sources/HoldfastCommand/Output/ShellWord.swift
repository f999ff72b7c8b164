/// Words as a shell reads them.
enum ShellWord {
    /// The word itself where it means nothing but itself to any shell, else in single quotation marks.
    static func quoted(_ word: String) -> String {
        let plain = Set("/._-+:@%,".utf8)
        let isPlain = word.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || plain.contains(byte)
        }
        guard !isPlain || word.isEmpty || word.utf8.first == UInt8(ascii: "-") else { return word }
        return always(word)
    }

    /// In single quotation marks, where nothing but they mean anything.
    static func always(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
