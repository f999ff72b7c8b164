package import SecretMemory

// Single words of a phrase: for a check that asks for a few of them.
extension RecoveryPhrase {
    /// Reads some words that a person has entered, and writes them whole, in lower case, with one space between two.
    /// - Parameter count: How many they must be.
    /// - Throws: ``RecoveryPhraseError/unknownWord(position:)``, ``RecoveryPhraseError/wrongWordCount(_:)``,
    ///   ``RecoveryPhraseError/notText``, ``RecoveryPhraseError/tooLong(bytes:)``, ``RecoveryPhraseError/memory(_:)``.
    package static func words(
        _ count: Int, in text: borrowing SecretBytes
    ) throws(RecoveryPhraseError) -> SecretBytes {
        guard text.count <= longestText else { throw .tooLong(bytes: text.count) }
        var output = try room(count)
        let length = try text.withBytes { text throws(RecoveryPhraseError) in
            try output.withMutableBytes { output throws(RecoveryPhraseError) in
                var (words, offset, end) = (0, 0, 0)
                while let word = try nextWord(text, &offset) {
                    guard let index = WordList.index(of: text.extracting(word)) else {
                        throw .unknownWord(position: words + 1)
                    }
                    if words < count { append(index, to: &output, at: &end) }
                    words += 1
                }
                guard words == count else { throw .wrongWordCount(words) }
                return end
            }
        }
        return try copy(output, length)
    }

    /// The words at some places, as ``words(_:in:)`` writes them.
    /// - Parameter positions: Counted from 1, ascending; others are left out.
    /// - Throws: ``RecoveryPhraseError/memory(_:)``.
    package borrowing func words(at positions: [UInt8]) throws(RecoveryPhraseError) -> SecretBytes {
        var output = try RecoveryPhrase.room(positions.count)
        let length = try withText { text throws(RecoveryPhraseError) in
            try output.withMutableBytes { output throws(RecoveryPhraseError) in
                var (number, offset, end) = (UInt8(1), 0, 0)
                while let word = try RecoveryPhrase.nextWord(text, &offset) {
                    if positions.contains(number), let index = RecoveryPhrase.WordList.index(of: text.extracting(word))
                    {
                        RecoveryPhrase.append(index, to: &output, at: &end)
                    }
                    number += 1
                }
                return end
            }
        }
        return try RecoveryPhrase.copy(output, length)
    }

    private static func append(_ index: Int, to output: inout MutableRawSpan, at end: inout Int) {
        if end > 0 {
            output.storeBytes(of: UInt8(ascii: " "), toByteOffset: end, as: UInt8.self)
            end += 1
        }
        end = WordList.write(index, into: &output, at: end)
    }

    private static func room(_ count: Int) throws(RecoveryPhraseError) -> SecretBytes {
        do throws(SecretMemoryError) {
            return try SecretBytes(zeroed: (count + 1) * (WordList.paddedLength + 1))
        } catch { throw .memory(error) }
    }

    private static func copy(
        _ output: borrowing SecretBytes, _ length: Int
    ) throws(RecoveryPhraseError) -> SecretBytes {
        do throws(SecretMemoryError) { return try output.copy(0..<length) } catch { throw .memory(error) }
    }
}
