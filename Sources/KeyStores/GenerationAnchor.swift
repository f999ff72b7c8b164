/// What a key store remembers of a home, so that an older copy put back in its place is noticed
/// (constructions.md 3.4).
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

/// A place outside the home, which restoring an old copy of the home does not affect.
package protocol GenerationAnchor: Sendable {
    /// - Returns: Nil when nothing is held for this vault and home.
    /// - Throws: ``KeyStoreError``.
    func state(of owner: HardwareOwner) throws(KeyStoreError) -> AnchoredState?
    /// Durable when it returns.
    /// - Throws: ``KeyStoreError``.
    func hold(_ state: AnchoredState, of owner: HardwareOwner) throws(KeyStoreError)
    /// As ``hold(_:of:)`` where something is held, and never fewer attempts than before: another copy of the home may
    /// have made some. If nothing is stored, it does nothing: this is called before the user is authenticated.
    /// - Throws: ``KeyStoreError``.
    func advance(to state: AnchoredState, of owner: HardwareOwner) throws(KeyStoreError)
    /// Forgets the vault's home; succeeds if it is not held.
    /// - Throws: ``KeyStoreError``.
    func release(_ owner: HardwareOwner) throws(KeyStoreError)
}

extension GenerationAnchor {
    package func advance(to state: AnchoredState, of owner: HardwareOwner) throws(KeyStoreError) {
        guard let held = try self.state(of: owner) else { return }
        try hold(state.withAttempts(atLeast: held.attempts), of: owner)
    }
}

extension AnchoredState {
    package func withAttempts(atLeast least: UInt64) -> AnchoredState {
        AnchoredState(generation: generation, attempts: max(attempts, least))
    }
}
