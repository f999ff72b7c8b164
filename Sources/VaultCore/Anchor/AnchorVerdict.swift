package import KeyStores

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
        case (false, let held?):
            // A change that was cut off between the two: the store went ahead, or the header came back from it. Headers
            // that were written since, while the store could not be asked to let go, have reached or passed its number.
            let isNext = present.generation + 1 >= held.generation && present.attempts >= held.attempts
            self = isNext ? .current : .rolledBack("a copy from before it was anchored")
        case (true, nil):
            self = .rolledBack("its key store holds nothing for it, as on another machine or after it was cleared")
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
