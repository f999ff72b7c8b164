public import SecretMemory

/// Why a recovery phrase is refused. Says where, never what was entered.
public enum RecoveryPhraseError: Error, Sendable, Hashable {
    /// All words are known, but there are not 24 of them.
    case wrongWordCount(Int)
    /// The word at this position, counted from 1, is not in the list.
    case unknownWord(position: Int)
    /// 24 known words whose checksum is wrong: another word was meant, or another order.
    case checksumMismatch
    /// A byte that no text contains.
    case notText
    /// More bytes than 24 words can need, even with much space between them.
    case tooLong(bytes: Int)
    /// The entropy does not have 32 bytes.
    case invalidEntropySize(Int)
    /// Locked memory could not be had.
    case memory(SecretMemoryError)
}

extension RecoveryPhraseError: CustomStringConvertible {
    /// What is wrong and what to do, in one line.
    public var description: String {
        switch self {
        case .wrongWordCount(let count):
            "a recovery phrase has 24 words and this one \(count); look for a missing, repeated or divided word"
        case .unknownWord(let position):
            "word \(position) is not in the BIP-39 English word list; compare its spelling with the sheet"
        case .checksumMismatch:
            "every word is known but one is wrong or two are exchanged; compare all words and their order with the sheet"
        case .notText: "this is not text; enter the 24 words with spaces between them"
        case .tooLong(let bytes):
            "\(bytes) bytes is too long for a recovery phrase; enter only the 24 words with spaces between them"
        case .invalidEntropySize(let bytes): "a recovery phrase is made of 32 bytes of entropy, not \(bytes)"
        case .memory(let error): error.description
        }
    }
}
