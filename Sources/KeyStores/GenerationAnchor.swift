package import VaultFormat

/// What a key store remembers of a home, so that an older copy put back in its place is noticed (security
/// construction 3).
package struct AnchoredState: Sendable, Hashable {
    /// Generation of the header.
    package var generation: UInt64
    /// Write count of the attempt ledger at the last burned attempt.
    package var attempts: UInt64

    package init(generation: UInt64, attempts: UInt64) {
        self.generation = generation
        self.attempts = attempts
    }
}

/// A place outside the home that whoever puts an old copy of the home back does not reach.
package protocol GenerationAnchor: Sendable {
    /// - Returns: Nil when nothing is held for this vault.
    /// - Throws: ``KeyStoreError``.
    func state(of vault: VaultID) throws(KeyStoreError) -> AnchoredState?
    /// Durable when it returns.
    /// - Throws: ``KeyStoreError``.
    func hold(_ state: AnchoredState, of vault: VaultID) throws(KeyStoreError)
    /// As ``hold(_:of:)``, and never holds fewer attempts than before: another copy of the home may have made some.
    /// - Throws: ``KeyStoreError``.
    func advance(to state: AnchoredState, of vault: VaultID) throws(KeyStoreError)
    /// Forgets the vault; one that is not held is fine.
    /// - Throws: ``KeyStoreError``.
    func release(_ vault: VaultID) throws(KeyStoreError)
}

extension GenerationAnchor {
    package func advance(to state: AnchoredState, of vault: VaultID) throws(KeyStoreError) {
        try hold(state.withAttempts(atLeast: self.state(of: vault)?.attempts ?? 0), of: vault)
    }
}

extension AnchoredState {
    func withAttempts(atLeast least: UInt64) -> AnchoredState {
        AnchoredState(generation: generation, attempts: max(attempts, least))
    }
}
