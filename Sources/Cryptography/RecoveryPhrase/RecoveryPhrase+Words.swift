extension RecoveryPhrase {
    /// Where the next word at or behind `offset` lies; `offset` moves behind it. Nil at the end of the text.
    package static func nextWord(_ text: RawSpan, _ offset: inout Int) throws(RecoveryPhraseError) -> Range<Int>? {
        var space = spaceLength(text, offset)
        while space > 0 {
            offset += space
            space = spaceLength(text, offset)
        }
        let start = offset
        while offset < text.byteCount, spaceLength(text, offset) == 0 {
            guard isText(byte(text, offset)) else { throw .notText }
            offset += 1
        }
        return start == offset ? nil : start..<offset
    }

    /// Bytes of the white space at `offset`, 0 for anything else and at the end.
    ///
    /// Takes what has the Unicode property White_Space, because pasted text has no-break and ideographic spaces, and
    /// the two invisible ones that files and web pages bring along (U+FEFF, U+200B).
    private static func spaceLength(_ text: RawSpan, _ offset: Int) -> Int {
        func next(_ distance: Int) -> UInt8 {
            offset + distance < text.byteCount ? byte(text, offset + distance) : 0
        }
        switch next(0) {
        case 0x09...0x0D, 0x20: return 1
        case 0xC2: return next(1) == 0x85 || next(1) == 0xA0 ? 2 : 0
        case 0xE1: return next(1) == 0x9A && next(2) == 0x80 ? 3 : 0
        case 0xE2:
            switch (next(1), next(2)) {
            case (0x80, 0x80...0x8B), (0x80, 0xA8), (0x80, 0xA9), (0x80, 0xAF), (0x81, 0x9F): return 3
            default: return 0
            }
        case 0xE3: return next(1) == 0x80 && next(2) == 0x80 ? 3 : 0
        case 0xEF: return next(1) == 0xBB && next(2) == 0xBF ? 3 : 0
        default: return 0
        }
    }

    /// Whether a byte can be part of a word in UTF-8: no control character, none of the bytes UTF-8 never has.
    private static func isText(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, 0xC0, 0xC1, 0xF5...0xFF: false
        default: true
        }
    }
}
