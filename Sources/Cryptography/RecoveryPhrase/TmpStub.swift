public import SecretMemory
public enum RecoveryPhraseError: Error { case x }
public struct RecoveryPhrase: ~Copyable, Sendable {
    let e: SecretBytes
    package init(entropy: consuming SecretBytes) throws(RecoveryPhraseError) { e = entropy }
    public init(parsing text: borrowing SecretBytes) throws(RecoveryPhraseError) { throw .x }
    package borrowing func withEntropy<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R { try e.withBytes(body) }
    public borrowing func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R { try e.withBytes(body) }
}
