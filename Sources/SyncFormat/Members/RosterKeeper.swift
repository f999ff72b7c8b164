/// Why a roster changes nothing here.
package enum RosterRefusal: Sendable, Hashable {
    case otherGroup
    /// Its author was removed, by a roster that this device applied. For ever.
    case byRemoved
    /// Its author is no member of the roster before.
    case byStranger
    /// It is not after the roster that it could be after.
    case notAfter
    /// It has a number of ours and less weight.
    case void
    /// It brings a removed member back, or forgets what was removed.
    case forgetsRemoved
    /// It changes another member than its author.
    case changesOther
    /// A removal must draw a new key, and nothing else may.
    case wrongKey
}

/// What a device does about a roster.
package enum RosterVerdict: Sendable, Hashable {
    case known
    /// It is the next one.
    case take
    /// It has the weight of ours and wins: ours is void. These members do their changes again on top of it. What was
    /// refused before is to be judged again: a void roster may have removed its author.
    case replace(repeats: Set<SyncMemberID>)
    /// Ours wins; this member does its change again on top of it, where there is one.
    case void(repeats: SyncMemberID?)
    /// A roster with this number, or another one with it, is missing.
    case missing(UInt32)
    case refused(RosterRefusal)
    /// Rosters that nobody but the user can decide between: nothing is applied, and the sync stops.
    case ask
}

/// The rosters of a group as one device follows them; pure. Only verified rosters come in here. What is decided here
/// needs no clock and, where nothing was applied yet, does not depend on the order in which rosters come.
package struct RosterKeeper: Sendable, Hashable {
    package private(set) var current: Roster
    /// The one before it, unless the device joined with the current one.
    package private(set) var parent: Roster?
    /// All that are after the same one as the current is, with it; by hash, each once.
    package private(set) var siblings: [Roster]
    /// What is kept of earlier ones; by number and hash, each once.
    package private(set) var earlier: [RosterTrace] = []
    /// Members that were removed by a roster that was applied here, and its hash.
    package private(set) var removedBy: [SyncMemberID: [UInt8]] = [:]

    /// At the group's first roster, or the one that a welcome has.
    package init(_ roster: Roster) {
        (current, parent, siblings) = (roster, nil, [roster])
        for id in roster.gone { removedBy[id] = roster.hash }
    }

    /// As it was kept; nil for what no keeper is.
    package init?(
        current: Roster, parent: Roster?, siblings: [Roster], earlier: [RosterTrace],
        removedBy: [SyncMemberID: [UInt8]]
    ) {
        let (siblings, earlier) = (siblings.sorted(by: Roster.hasLowerHash), earlier.sorted())
        guard siblings.contains(current), siblings.count <= SyncLimits.siblings,
            isAscending(siblings, by: Roster.hasLowerHash),
            siblings.allSatisfy({ $0.number == current.number && $0.before == current.before }),
            parent.map({ $0.hash == current.before && $0.group == current.group }) ?? true,
            earlier.count <= SyncLimits.traces, isAscending(earlier, by: <),
            earlier.allSatisfy({ $0.isPossible && $0.number < current.number }),
            current.gone.allSatisfy({ removedBy[$0] != nil }), removedBy.keys.allSatisfy(current.names)
        else { return nil }
        (self.current, self.parent, self.siblings) = (current, parent, siblings)
        (self.earlier, self.removedBy) = (earlier, removedBy)
    }

    /// Takes up the one before the current, which a device that joined with the current one reads later.
    /// - Returns: False for any other.
    package mutating func learn(_ roster: Roster) -> Bool {
        guard parent == nil, roster.hash == current.before, roster.number + 1 == current.number,
            roster.group == current.group
        else { return false }
        parent = roster
        return true
    }

    /// What a roster is to this device. Changes nothing.
    package func judge(_ roster: Roster) -> RosterVerdict { judge([roster]) }

    /// What rosters of one number that came together are: the verdict is about the one that ``winner(of:)`` names.
    package func judge(_ rosters: [Roster]) -> RosterVerdict { decide(rosters).verdict }

    /// Applies what ``judge(_:)-(Roster)`` says of a roster.
    package mutating func apply(_ roster: Roster) -> RosterVerdict { apply([roster]) }

    /// Applies what is said of some that came together.
    package mutating func apply(_ rosters: [Roster]) -> RosterVerdict {
        let decision = decide(rosters)
        switch decision.verdict {
        case .take:
            guard let winner = decision.winner else { break }
            remember(siblings)
            (parent, current, siblings) = (current, winner, decision.family)
        case .replace:
            guard let winner = decision.winner else { break }
            // What a roster of a removed author removed is void with it; what one with the higher hash removed is done
            // again by its author, and stays refused meanwhile.
            (current, siblings, removedBy) = (winner, decision.family, decision.removedBy)
        case .void where !decision.family.isEmpty: (siblings, removedBy) = (decision.family, decision.removedBy)
        case .known, .void, .missing, .refused, .ask: break
        }
        siblings.sort(by: Roster.hasLowerHash)
        for id in current.gone where removedBy[id] == nil { removedBy[id] = current.hash }
        return decision.verdict
    }

    /// Remembers rosters of the current number, which is above all that are remembered, so that the order stays.
    private mutating func remember(_ rosters: [Roster]) { earlier += rosters.map(RosterTrace.init) }

    /// The user's answer to ``RosterVerdict/ask``: this one is applied, and nothing counts any more of whom it removes.
    /// - Returns: False unless it is a possible next roster, or one beside the current; and where no more can be
    ///   remembered.
    package mutating func choose(_ roster: Roster) -> Bool {
        if roster.number == current.number + 1, refusal(of: roster, after: current) == nil {
            guard earlier.count < SyncLimits.traces else { return false }
            remember([current])
            parent = current
        } else if let parent, roster.number == current.number, refusal(of: roster, after: parent) == nil {
            removedBy = removedBy.filter { $0.value != current.hash }
        } else {
            return false
        }
        (current, siblings) = (roster, [roster])
        for id in roster.gone where removedBy[id] == nil { removedBy[id] = roster.hash }
        return true
    }

    // MARK: - Deciding

    private struct Decision {
        var verdict: RosterVerdict
        var winner: Roster?
        /// All of the winner's number that are possible.
        var family: [Roster] = []
        /// What stays removed.
        var removedBy: [SyncMemberID: [UInt8]] = [:]
    }

    private func decide(_ rosters: [Roster]) -> Decision {
        guard let first = rosters.first else { return Decision(verdict: .known) }
        guard rosters.allSatisfy({ $0.number == first.number }) else { return Decision(verdict: .refused(.notAfter)) }
        if rosters.allSatisfy({ $0.group != current.group }) { return Decision(verdict: .refused(.otherGroup)) }
        if first.number > current.number + 1 { return Decision(verdict: .missing(current.number + 1)) }
        if first.number == current.number + 1 { return next(rosters) }
        if first.number == current.number { return beside(rosters) }
        return Decision(verdict: old(first))
    }

    /// After the current one.
    private func next(_ rosters: [Roster]) -> Decision {
        var refused: RosterRefusal = .notAfter
        var possible: [Roster] = []
        for roster in rosters where !possible.contains(roster) {
            if let refusal = refusal(of: roster, after: current) { refused = refusal } else { possible.append(roster) }
        }
        if possible.isEmpty {
            guard refused == .notAfter, let roster = rosters.first else { return Decision(verdict: .refused(refused)) }
            if removedBy[roster.author] != nil { return Decision(verdict: .refused(.byRemoved)) }
            // After one that lost here: its author has not seen ours, or other devices did not.
            let isAfterVoid = siblings.contains { $0.hash == roster.before }
            return Decision(verdict: isAfterVoid ? .ask : .missing(current.number))
        }
        let (winner, _) = RosterKeeper.resolve(possible)
        guard let winner, possible.count <= SyncLimits.siblings, earlier.count + siblings.count <= SyncLimits.traces
        else { return Decision(verdict: .ask) }
        return Decision(verdict: .take, winner: winner, family: possible, removedBy: removedBy)
    }

    /// Beside the current one.
    private func beside(_ rosters: [Roster]) -> Decision {
        let new = rosters.filter { roster in !siblings.contains { $0.hash == roster.hash } }
        guard let first = new.first else { return Decision(verdict: .known) }
        // Who joined with this roster does not know the one before it.
        guard let parent else {
            return Decision(verdict: removedBy[first.author] == nil ? .ask : .refused(.byRemoved))
        }
        var refused: RosterRefusal = .notAfter
        var possible: [Roster] = []
        for roster in new where !possible.contains(roster) {
            if let refusal = refusal(of: roster, after: parent) { refused = refusal } else { possible.append(roster) }
        }
        guard !possible.isEmpty else { return Decision(verdict: .refused(refused)) }
        let family = siblings + possible
        guard family.count <= SyncLimits.siblings else { return Decision(verdict: .ask) }
        // What was removed here counts no more. Where the roster that removed it is void, it does again.
        var kept = removedBy
        var (winner, stands) = weigh(family, kept)
        while winner != nil {
            let void = Set(family.map(\.hash)).subtracting(stands.map(\.hash))
            let rest = kept.filter { !void.contains($0.value) }
            if rest == kept { break }
            kept = rest
            (winner, stands) = weigh(family, kept)
        }
        guard let winner else { return Decision(verdict: .ask) }
        let hashes = Set(stands.map(\.hash))
        var decision = Decision(verdict: .known, winner: winner, family: family, removedBy: kept)
        if winner == current {
            decision.verdict = .void(repeats: possible.first { hashes.contains($0.hash) }?.author)
        } else {
            decision.verdict = .replace(repeats: Set(stands.filter { $0 != winner }.map(\.author)))
        }
        return decision
    }

    private func weigh(
        _ family: [Roster], _ removedBy: [SyncMemberID: [UInt8]]
    ) -> (winner: Roster?, stands: [Roster]) {
        RosterKeeper.resolve(family.filter { $0 == current || removedBy[$0.author] == nil })
    }

    /// Of a number that is over: the number never goes back.
    private func old(_ roster: Roster) -> RosterVerdict {
        if earlier.contains(where: { $0.hash == roster.hash }) { return .known }
        if removedBy[roster.author] != nil { return .refused(.byRemoved) }
        let beside = earlier.filter { $0.number == roster.number && $0.before == roster.before }
        // Of some with one number ours is the one that we went on from.
        let after = Set(earlier.map(\.before) + [current.before])
        guard let ours = beside.first(where: { after.contains($0.hash) }) else { return .ask }
        if ours.gone.contains(roster.author) { return .refused(.void) }
        // It would have won: two parts of the group went on apart.
        let wins = roster.gone.contains(ours.author) || roster.hash.lexicographicallyPrecedes(ours.hash)
        return wins ? .ask : .void(repeats: roster.author)
    }

    /// Which of some rosters after one wins, and which stand: those whose author no other one that stands removes. Nil
    /// where some remove each other's authors.
    static func resolve(_ rosters: [Roster]) -> (winner: Roster?, stands: [Roster]) {
        var open = rosters
        var stands: [Roster] = []
        while !open.isEmpty {
            let free = open.filter { roster in
                !open.contains { $0 != roster && $0.gone.contains(roster.author) }
            }
            // Only a circle is left.
            if free.isEmpty { return (nil, stands) }
            stands += free
            open.removeAll { roster in
                free.contains(roster) || free.contains { $0.gone.contains(roster.author) }
            }
        }
        return (stands.min { $0.hash.lexicographicallyPrecedes($1.hash) }, stands)
    }

    /// Why a roster cannot be after another one; nil where it can.
    private func refusal(of roster: Roster, after parent: Roster) -> RosterRefusal? {
        if roster.group != parent.group { return .otherGroup }
        if removedBy[roster.author] != nil { return .byRemoved }
        if roster.before != parent.hash || roster.number != parent.number + 1 { return .notAfter }
        guard parent.ids.contains(roster.author) else { return .byStranger }
        // Nothing that was removed is forgotten or comes back.
        guard parent.gone.isSubset(of: roster.gone), parent.ids.subtracting(roster.ids).isSubset(of: roster.gone),
            roster.gone.subtracting(parent.gone).isSubset(of: parent.ids), keeps(parent.body.removed, roster)
        else { return .forgetsRemoved }
        for member in parent.body.members where member.id != roster.author {
            if let same = roster.member(member.id), same != member { return .changesOther }
        }
        let isRemoval = roster.gone != parent.gone
        return isRemoval == (roster.body.commitment != parent.body.commitment) ? nil : .wrongKey
    }

    /// Whether a roster has the records of the removed as they were, or takes the rest of one away.
    private func keeps(_ records: [RemovedRecord], _ roster: Roster) -> Bool {
        let (old, new) = (Set(records), Set(roster.body.removed))
        let gone = Set(records.map(\.member))
        let isKept = old.allSatisfy { new.contains($0) || new.contains(RemovedRecord($0.member, last: nil)) }
        return isKept && new.allSatisfy { !gone.contains($0.member) || $0.last == nil || old.contains($0) }
    }
}

/// What is kept of a roster whose number is over.
package struct RosterTrace: Sendable, Hashable, Comparable {
    package let number: UInt32
    package let hash: [UInt8]
    package let before: [UInt8]
    package let author: SyncMemberID
    package let gone: Set<SyncMemberID>

    package init(_ roster: Roster) {
        (number, hash, before) = (roster.number, roster.hash, roster.before)
        (author, gone) = (roster.author, roster.gone)
    }

    /// As it was kept.
    package init(number: UInt32, hash: [UInt8], before: [UInt8], author: SyncMemberID, gone: Set<SyncMemberID>) {
        (self.number, self.hash, self.before) = (number, hash, before)
        (self.author, self.gone) = (author, gone)
    }

    /// Whether a roster can have left it.
    var isPossible: Bool {
        number > 0 && hash.count == EntryFront.hashSize && !hash.isZero && before.count == EntryFront.hashSize
            && (number == 1) == before.isZero && gone.count <= SyncLimits.removed
    }

    /// By number and hash.
    package static func < (left: Self, right: Self) -> Bool {
        left.number == right.number
            ? left.hash.lexicographicallyPrecedes(right.hash) : left.number < right.number
    }
}

extension Roster {
    static func hasLowerHash(_ left: Roster, _ right: Roster) -> Bool {
        left.hash.lexicographicallyPrecedes(right.hash)
    }

    /// Whether it has this member, or has removed it.
    func names(_ id: SyncMemberID) -> Bool {
        body.members.contains { $0.id == id } || body.removed.contains { $0.member == id }
    }
}
