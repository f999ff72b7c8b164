/// What follows from a note once the header's MAC is known: the move that it was written for did not happen and is undone, or
/// it happened and is finished. Either way exactly the shares of the header that is there stay.
///
/// Each of the two headers honours only the tag under its own master key, and takes only what the *other* one had: so a note
/// and a header that were put back together revoke nothing that the present header opens with.
package enum PendingDecision: Sendable, Hashable {
    /// The header is the one before: what was to come is revoked.
    case undo([ShareItem])
    /// The header is the one after: what was to go is revoked.
    case finish([ShareItem])
    /// The note was not written for this header; nothing follows from it.
    case ignore

    /// - Parameters:
    ///   - note: As it was read.
    ///   - named: The shares that the header names, whose MAC is known.
    ///   - isBefore: Whether the first tag is under the header's master key.
    ///   - isAfter: Whether the second one is.
    package init(_ note: PendingNote, named: [ShareItem], isBefore: Bool, isAfter: Bool) {
        let goesOn = { (items: [ShareItem]) in items.filter { !named.contains($0) } }
        switch (isBefore, isAfter) {
        case (true, false): self = .undo(goesOn(note.coming))
        case (false, true): self = .finish(goesOn(note.leaving))
        // The master key stayed; what the header names tells.
        case (true, true):
            self = note.coming.allSatisfy(named.contains) ? .finish(goesOn(note.leaving)) : .undo(goesOn(note.coming))
        case (false, false): self = .ignore
        }
    }
}
