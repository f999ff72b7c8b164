extension RecoveryPhrase.WordList {
    /// Letters that tell a word when it is not written out.
    private static var shortestPrefix: Int { 4 }
    private static var padding: UInt8 { UInt8(ascii: ".") }

    /// The number of the word written in `letters`, upper or lower case, whole or at least its first four letters; nil
    /// when there is none.
    static func index(of letters: RawSpan) -> Int? {
        guard letters.byteCount > 0, letters.byteCount <= paddedLength, let sought = packed(letters) else { return nil }
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if word(middle) < sought { low = middle + 1 } else { high = middle }
        }
        guard low < count else { return nil }
        let found = word(low)
        if found == sought { return low }
        // Padding is below every letter, so the words with this beginning start here.
        let written = ~UInt64(0) << UInt64(8 * (paddedLength - letters.byteCount))
        return letters.byteCount >= shortestPrefix && found & written == sought & written ? low : nil
    }

    /// Writes a word in lower case at `offset` and returns the offset behind it.
    static func write(_ index: Int, into text: inout MutableRawSpan, at offset: Int) -> Int {
        let word = word(index)
        var end = offset
        for shift in stride(from: 56, through: 0, by: -8) {
            let letter = UInt8(truncatingIfNeeded: word >> UInt64(shift))
            if letter == padding { break }
            text.storeBytes(of: letter, toByteOffset: end, as: UInt8.self)
            end += 1
        }
        return end
    }

    /// A padded word as a number: numbers compare as the words do.
    private static func word(_ index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        let start = unsafe UnsafeRawPointer(padded.utf8Start)
        return unsafe UInt64(bigEndian: start.loadUnaligned(fromByteOffset: index * paddedLength, as: UInt64.self))
    }

    /// 1...8 letters as ``word(_:)`` has them; nil when there is anything but letters.
    private static func packed(_ letters: RawSpan) -> UInt64? {
        var result: UInt64 = 0
        for offset in 0..<paddedLength {
            var letter = padding
            if offset < letters.byteCount {
                letter = unsafe letters.unsafeLoad(fromByteOffset: offset, as: UInt8.self) | 0x20  // lower case
                guard letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "z") else { return nil }
            }
            result = result << 8 | UInt64(letter)
        }
        return result
    }
}
