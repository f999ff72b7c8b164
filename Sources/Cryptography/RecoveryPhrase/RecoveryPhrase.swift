public import SecretMemory

/// 256 bits of entropy as 24 English words, the last of which holds a checksum (BIP-39).
///
/// The words and the entropy stay in locked memory. This is only the encoding: it neither makes the entropy nor derives
/// keys from it, and BIP-39's own seed derivation (PBKDF2 with a passphrase) is not used.
public struct RecoveryPhrase: ~Copyable, Sendable {
    private let entropy: SecretBytes
    private let text: SecretBytes

    static var wordCount: Int { 24 }
    static var entropySize: Int { 32 }
    /// Bytes of the text that is looked at; 24 words need at most 215.
    static var longestText: Int { 1024 }

    /// Encodes entropy.
    /// - Parameter entropy: 32 bytes from a cryptographically secure generator.
    /// - Throws: ``RecoveryPhraseError/invalidEntropySize(_:)``, ``RecoveryPhraseError/memory(_:)``.
    package init(entropy: consuming SecretBytes) throws(RecoveryPhraseError) {
        defer { WorkingMemory.wipe() }
        guard entropy.count == Self.entropySize else { throw .invalidEntropySize(entropy.count) }
        text = try Self.encode(entropy)
        self.entropy = entropy
    }

    /// Reads a phrase that a person has entered.
    ///
    /// Any white space may stand between, before and after the words. Upper and lower case are the same, and a word may
    /// be cut after its fourth letter or later, because four letters tell every word of the list.
    /// - Parameter text: UTF-8, at most 1,024 bytes.
    /// - Throws: Every ``RecoveryPhraseError`` but ``RecoveryPhraseError/invalidEntropySize(_:)``. An unknown word is
    ///   reported before a wrong number of words.
    public init(parsing text: borrowing SecretBytes) throws(RecoveryPhraseError) {
        defer { WorkingMemory.wipe() }
        guard text.count <= Self.longestText else { throw .tooLong(bytes: text.count) }
        let entropy = try Self.decode(text)
        self.text = try Self.encode(entropy)
        self.entropy = entropy
    }

    /// Lends the words: whole, in lower case, one space between two.
    public borrowing func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try text.withBytes(body)
    }

    deinit { WorkingMemory.wipe() }

    /// Lends the 32 bytes of entropy.
    package borrowing func withEntropy<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try entropy.withBytes(body)
    }
}

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
