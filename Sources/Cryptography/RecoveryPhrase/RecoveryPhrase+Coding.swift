internal import SecretMemory

extension RecoveryPhrase {
    /// 24 words are 264 bits: the entropy and eight bits of checksum.
    private static var encodedSize: Int { entropySize + 1 }
    private static var bitsPerWord: Int { 11 }

    /// The text of 32 bytes of entropy (BIP-39, "Generating the mnemonic").
    static func encode(_ entropy: borrowing SecretBytes) throws(RecoveryPhraseError) -> SecretBytes {
        do throws(SecretMemoryError) {
            var text = try SecretBytes(zeroed: wordCount * (WordList.paddedLength + 1))
            let length = entropy.withBytes { entropy in
                text.withMutableBytes { text in write(entropy, checksum: checksum(entropy), into: &text) }
            }
            return try text.copy(0..<length)
        } catch {
            throw .memory(error)
        }
    }

    /// The entropy behind a text whose checksum is right.
    static func decode(_ text: borrowing SecretBytes) throws(RecoveryPhraseError) -> SecretBytes {
        var bits = try zeroed(encodedSize)
        let words = try text.withBytes { text throws(RecoveryPhraseError) in
            try bits.withMutableBytes { bits throws(RecoveryPhraseError) in try read(text, into: &bits) }
        }
        guard words == wordCount else { throw .wrongWordCount(words) }
        let isRight = bits.withBytes { bits in
            byte(bits, entropySize) == checksum(bits.extracting(0..<entropySize))
        }
        guard isRight else { throw .checksumMismatch }
        do throws(SecretMemoryError) { return try bits.copy(0..<entropySize) } catch { throw .memory(error) }
    }

    /// Writes the words and returns the length of the text.
    private static func write(_ entropy: RawSpan, checksum: UInt8, into text: inout MutableRawSpan) -> Int {
        var end = 0
        for word in 0..<wordCount {
            var index = 0
            for bit in (word * bitsPerWord)..<((word + 1) * bitsPerWord) {
                let byte = bit / 8 < entropySize ? byte(entropy, bit / 8) : checksum
                index = index << 1 | Int(byte >> UInt8(7 - bit % 8) & 1)
            }
            if word > 0 {
                text.storeBytes(of: UInt8(ascii: " "), toByteOffset: end, as: UInt8.self)
                end += 1
            }
            end = WordList.write(index, into: &text, at: end)
        }
        return end
    }

    /// Writes what the first 24 words stand for into `bits`, which are zero, and returns the number of all words.
    private static func read(_ text: RawSpan, into bits: inout MutableRawSpan) throws(RecoveryPhraseError) -> Int {
        var words = 0
        var offset = 0
        while let word = try nextWord(text, &offset) {
            guard let index = WordList.index(of: text.extracting(word)) else {
                throw .unknownWord(position: words + 1)
            }
            if words < wordCount {
                for bit in 0..<bitsPerWord where index >> (bitsPerWord - 1 - bit) & 1 == 1 {
                    let position = words * bitsPerWord + bit
                    let old = byte(bits.bytes, position / 8)
                    bits.storeBytes(of: old | 0x80 >> UInt8(position % 8), toByteOffset: position / 8, as: UInt8.self)
                }
            }
            words += 1
        }
        return words
    }

    /// The first eight bits of the SHA-256 of the entropy.
    private static func checksum(_ entropy: RawSpan) -> UInt8 {
        SHA256.hash(entropy).withBytes { byte($0, 0) }
    }

    private static func zeroed(_ count: Int) throws(RecoveryPhraseError) -> SecretBytes {
        do throws(SecretMemoryError) { return try SecretBytes(zeroed: count) } catch { throw .memory(error) }
    }

    static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
        unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)  // checks the bounds
    }
}
