package import VaultFormat

/// A change of the slots that open a vault, step by step: pure, and the only place that has their order.
///
/// Before ``Step/header`` the old way opens the vault, after it the new one. A process that is killed anywhere leaves
/// what ``LevelRepair`` undoes or finishes at the next start.
struct LevelMove: Sendable, Hashable {
    /// One step; each is on the disk, or in the store, before the next one begins.
    enum Step: Sendable, Hashable, CaseIterable {
        /// The note, with a tag under each master key. It names the shares that come before a store has them.
        case note
        /// The new shares, read back.
        case make
        /// The floor of a lower level: the header must never be below its floor.
        case lowerFloor
        /// One write of the header: slots, rules and keys of the new level. Both copies are read back.
        case header
        /// The earlier shares.
        case revoke
        /// The floor of the level that is there now.
        case raiseFloor
        /// The note, last.
        case forget
    }

    /// The level before.
    let from: VaultLevel
    /// The level after.
    let to: VaultLevel
    /// Whether the key stores get a new share.
    let makesShares: Bool
    /// Whether they have one that nothing names afterwards.
    let revokesShares: Bool

    /// What is done, in this order.
    var steps: [Step] {
        Step.allCases.filter { step in
            switch step {
            case .note, .header, .forget: true
            case .make: makesShares
            case .lowerFloor: to < from
            case .revoke: revokesShares
            case .raiseFloor: to > from
            }
        }
    }
}

/// What a start does about a change that was cut short, once the header's MAC is known.
struct LevelRepair: Sendable, Hashable {
    /// One step of it.
    enum Step: Sendable, Hashable {
        /// These go from their stores.
        case revoke([ShareItem])
        /// What the store outside the home shall say.
        case floor(LevelFloor)
        /// The change is told in the log.
        case tell(PendingNote.Move)
        /// The note goes; last.
        case forget
    }

    /// What is done, in this order.
    let steps: [Step]

    /// - Parameters:
    ///   - present: What the header says the vault is.
    ///   - note: What is noted; nil where nothing is.
    ///   - decision: What follows from the note.
    ///   - floor: What stands outside the home; nil where there is none.
    init(_ present: LevelFloor, note: PendingNote?, _ decision: PendingDecision?, floor: LevelFloor?) {
        var steps: [Step] = []
        switch decision {
        case .undo(let items) where !items.isEmpty: steps.append(.revoke(items))
        case .finish(let items):
            if !items.isEmpty { steps.append(.revoke(items)) }
            if let move = note?.move, move.to == present.level { steps.append(.tell(move)) }
        case .undo, .ignore, nil: break
        }
        // Another vault's floor, or a higher one, is its user's to lower.
        if case .fits(writing: let fresh?) = FloorVerdict(present, floor: floor) { steps.append(.floor(fresh)) }
        if let decision, decision != .ignore { steps.append(.forget) }
        self.steps = steps
    }
}

/// Whether a vault is what the key store outside its home says it is at least.
package enum FloorVerdict: Sendable, Hashable {
    /// It is; with what the store should say from now on, where that is something else.
    case fits(writing: LevelFloor?)
    /// The store named another vault, or a higher level: somebody has put another home here, or an old one. Or it has
    /// something in its place that nobody understands; waiting would not change that.
    case lowered(LogFloor, was: VaultLevel)

    /// What was found outside of the home.
    package enum Found: Sendable, Hashable {
        /// No floor is kept: this process may use no key store, or only files.
        case unkept
        /// The store was asked; nil where it has none.
        case floor(LevelFloor?)
        /// Something else lies in its place.
        case unreadable
    }

    /// Nil where no floor is kept.
    package init?(_ present: LevelFloor, _ found: Found) {
        switch found {
        case .unkept: return nil
        case .floor(let floor): self.init(present, floor: floor)
        case .unreadable: self = .lowered(.unreadable, was: .device)
        }
    }

    /// - Parameters:
    ///   - present: What the header says, whose MAC is known.
    ///   - floor: What the store says; nil where it was asked and has nothing. One that cannot be asked is no `nil`.
    package init(_ present: LevelFloor, floor: LevelFloor?) {
        guard let floor else {
            self = .fits(writing: present)
            return
        }
        guard floor.vault == present.vault else {
            self = .lowered(.otherVault, was: floor.level)
            return
        }
        guard floor.level <= present.level else {
            self = .lowered(.lower, was: floor.level)
            return
        }
        self = .fits(writing: floor.level < present.level ? present : nil)
    }
}
