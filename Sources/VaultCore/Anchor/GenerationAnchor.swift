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
    /// - Throws: `hardwareUnavailable`.
    func state(of vault: VaultID) throws(VaultError) -> AnchoredState?
    /// Durable when it returns.
    /// - Throws: `hardwareUnavailable`.
    func hold(_ state: AnchoredState, of vault: VaultID) throws(VaultError)
    /// Forgets the vault; one that is not held is fine.
    /// - Throws: `hardwareUnavailable`.
    func release(_ vault: VaultID) throws(VaultError)
}

/// What comparing a home with its anchor says: a pure decision.
package enum AnchorVerdict: Sendable, Hashable {
    case current
    /// The header is one write ahead: a crash came between it and the anchor.
    case mustCatchUp
    /// The home is older than the anchor, or the two do not belong together.
    case rolledBack(String)

    /// - Parameters:
    ///   - isAnchored: What the header's flag says.
    ///   - held: What the key store has.
    ///   - present: What the home has.
    package init(isAnchored: Bool, held: AnchoredState?, present: AnchoredState) {
        switch (isAnchored, held) {
        case (false, nil): self = .current
        case (false, .some): self = .rolledBack("a copy from before it was anchored")
        case (true, nil): self = .rolledBack("its key store holds nothing for it")
        case (true, let held?):
            if present.generation < held.generation {
                self = .rolledBack("an older header")
            } else if present.attempts < held.attempts {
                self = .rolledBack("an older attempt ledger")
            } else if present.generation > held.generation + 1 {
                self = .rolledBack("its key store is older than the header")
            } else {
                self = present.generation > held.generation ? .mustCatchUp : .current
            }
        }
    }
}
