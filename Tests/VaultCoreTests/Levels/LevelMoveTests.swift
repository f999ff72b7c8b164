import Testing

@testable import VaultCore
@testable import VaultHeader
@testable import VaultFormat

/// Every change of level, killed at every step, and every repair of it, killed at every step: pure values against a
/// model of the disk and of the key store.
@Suite struct LevelMoveTests {
    private static let vault = VaultID(bytes: Array(1...16))!

    private static func item(_ byte: UInt8) -> ShareItem {
        let name = ShareName(vault: vault, nonce: [UInt8](repeating: byte, count: 16))!
        return ShareItem(name, .named(.secretService, backend: "model"))
    }

    /// One change: what it has to do.
    private struct Case: CustomStringConvertible {
        let move: LevelMove
        /// The master key stays: one owner slot is replaced by another.
        let keepsKey: Bool
        var description: String {
            "\(move.from) to \(move.to), new share \(move.makesShares), old \(move.revokesShares)"
        }
    }

    private static let cases: [Case] = VaultLevel.allCases.flatMap { from in
        VaultLevel.allCases.flatMap { to in
            [true, false].flatMap { makes in
                [true, false].flatMap { revokes in
                    [true, false].map { keeps in
                        Case(
                            move: LevelMove(from: from, to: to, makesShares: makes, revokesShares: revokes),
                            keepsKey: keeps)
                    }
                }
            }
        }
    }

    /// The disk and the key store.
    private struct World: Hashable {
        var isNew = false
        var floor: LevelFloor?
        var note: PendingNote?
        var store: Set<ShareItem>

        let move: LevelMove
        let keepsKey: Bool

        init(_ one: Case) {
            move = one.move
            keepsKey = one.keepsKey
            floor = LevelFloor(vault, one.move.from)
            store = one.move.revokesShares ? [item(1)] : []
        }

        var named: [ShareItem] {
            isNew ? (move.makesShares ? [item(2)] : []) : (move.revokesShares ? [item(1)] : [])
        }
        var present: LevelFloor { LevelFloor(vault, isNew ? move.to : move.from) }

        mutating func take(_ step: LevelMove.Step) {
            switch step {
            case .note:
                var note = PendingNote()
                note.move = move.from == move.to ? nil : PendingNote.Move(from: move.from, to: move.to)
                note.leaving = move.revokesShares ? [item(1)] : []
                note.coming = move.makesShares ? [item(2)] : []
                self.note = note
            case .make: store.insert(item(2))
            case .lowerFloor, .raiseFloor: floor = LevelFloor(vault, move.to)
            case .header: isNew = true
            case .revoke: store.remove(item(1))
            case .forget: note = nil
            }
        }

        var repair: LevelRepair {
            let decision = note.map {
                PendingDecision($0, named: named, isBefore: !isNew || keepsKey, isAfter: isNew || keepsKey)
            }
            return LevelRepair(present, note: note, decision, floor: floor)
        }

        mutating func take(_ step: LevelRepair.Step) {
            switch step {
            case .revoke(let items): store.subtract(items)
            case .floor(let new): floor = new
            case .tell: break
            case .forget: note = nil
            }
        }

        /// At every moment the header that is there opens, and nothing calls it a substitute.
        func check(_ place: String) {
            #expect(store.isSuperset(of: named), "a share is lost: \(place)")
            if case .lowered = FloorVerdict(present, floor: floor) { Issue.record("called a substitute: \(place)") }
        }

        func checkEnd(_ place: String) {
            #expect(store == Set(named), "a share is left, or lost: \(place)")
            #expect(note == nil && floor == present, "something is left: \(place)")
        }
    }

    @Test func `killed anywhere, one level opens, and nothing is left after the next starts`() {
        var worlds = 0
        for one in Self.cases {
            let steps = one.move.steps
            for killedAfter in 0...steps.count {
                var world = World(one)
                for step in steps[..<killedAfter] {
                    world.take(step)
                    world.check("\(one) after \(step)")
                }
                // The repair is killed as well, at each of its steps, and begun again.
                for repairKilled in 0...world.repair.steps.count {
                    var next = world
                    for step in next.repair.steps[..<repairKilled] {
                        next.take(step)
                        next.check("\(one), \(killedAfter) steps, repaired \(step)")
                    }
                    for step in next.repair.steps { next.take(step) }
                    next.check("\(one), \(killedAfter) steps")
                    if next.move.makesShares || next.move.revokesShares || !next.keepsKey {
                        next.checkEnd("\(one), \(killedAfter) steps, repair killed after \(repairKilled)")
                    }
                    let isDone = killedAfter > (steps.firstIndex(of: .header) ?? 0)
                    #expect(next.isNew == isDone, "the old way up to the header's write, the new one after it")
                    worlds += 1
                }
            }
        }
        #expect(worlds > 500)
    }

    @Test func `a floor is lowered before the header and raised after it`() throws {
        for one in Self.cases {
            let steps = one.move.steps
            let header = try #require(steps.firstIndex(of: .header))
            if let lower = steps.firstIndex(of: .lowerFloor) { #expect(lower < header && one.move.to < one.move.from) }
            if let raise = steps.firstIndex(of: .raiseFloor) { #expect(raise > header && one.move.to > one.move.from) }
            #expect(steps.first == .note && steps.last == .forget)
        }
    }

    @Test func `the move is told once it is finished, and never when it was undone`() {
        for one in Self.cases where one.move.from != one.move.to {
            var world = World(one)
            for step in one.move.steps.prefix(while: { $0 != .header }) { world.take(step) }
            var isTold = world.repair.steps.contains { if case .tell = $0 { true } else { false } }
            if !one.keepsKey || one.move.makesShares { #expect(!isTold, "\(one)") }
            world.take(LevelMove.Step.header)
            isTold = world.repair.steps.contains { if case .tell = $0 { true } else { false } }
            #expect(isTold, "\(one)")
        }
    }

    // MARK: floors

    @Test func `a lower level or another vault than the floor's is no vault of ours without a word of its user`() {
        let other = VaultID(bytes: Array(2...17))!
        for present in VaultLevel.allCases {
            let here = LevelFloor(Self.vault, present)
            #expect(FloorVerdict(here, floor: nil) == .fits(writing: here))
            for floor in VaultLevel.allCases {
                let verdict = FloorVerdict(here, floor: LevelFloor(Self.vault, floor))
                if floor > present {
                    #expect(verdict == .lowered(.lower, was: floor))
                } else {
                    #expect(verdict == .fits(writing: floor < present ? here : nil))
                }
                #expect(FloorVerdict(here, floor: LevelFloor(other, floor)) == .lowered(.otherVault, was: floor))
            }
        }
    }

    // MARK: what a start finds

    @Test func `nothing is created where anything says that a vault was here`() {
        let floors: [StartupState.Floor] =
            [.none, .unknown] + VaultLevel.allCases.map { .some(LevelFloor(Self.vault, $0)) }
        for hasHeader in [true, false] {
            for isUnfinished in [true, false] {
                for hasReceipt in [true, false] {
                    for floor in floors {
                        let folder = StartupState.Folder(
                            hasHeader: hasHeader, isUnfinished: isUnfinished, hasReceipt: hasReceipt)
                        let look = StartupState(folder, floor: floor)
                        if look == .create {
                            #expect(!hasHeader && !isUnfinished && !hasReceipt && floor == .none)
                        }
                        if look == .createAnew { #expect(!hasHeader && isUnfinished && floor == .none) }
                        #expect((look == .open) == hasHeader)
                    }
                }
            }
        }
        let mine = LevelFloor(Self.vault, .device)
        let folder = StartupState.Folder(isUnfinished: true)
        #expect(StartupState(folder, floor: .some(mine)) == .missing(mine))
        #expect(StartupState(StartupState.Folder(), floor: .some(mine)) == .missing(mine))
        #expect(StartupState(StartupState.Folder(hasReceipt: true), floor: .some(mine)) == .wiped)
    }

    // MARK: proofs

    @Test func `nobody is a proof only beside a device's slot, and a planted slot is never required there`() {
        for bits in 0..<64 {
            let facts = RequiredProof.Facts(
                hasDevice: bits & 1 != 0, hasPasscode: bits & 2 != 0, hasPhrase: bits & 4 != 0, hasOwner: bits & 8 != 0,
                hasMinimum: bits & 16 != 0, canAskOwner: bits & 32 != 0)
            let ways = RequiredProof(facts).ways
            if ways.contains(.nobody) { #expect(facts.hasDevice && !facts.canAskOwner) }
            if facts.hasDevice {
                let asksSecret = facts.hasMinimum && (facts.hasPasscode || facts.hasPhrase)
                #expect(ways.isDisjoint(with: [.owner, .nobody]) == asksSecret)
            } else if facts.hasPasscode {
                #expect(ways == (facts.hasPhrase ? [.passcode, .recoveryPhrase] : [.passcode]))
            } else {
                #expect(ways.contains(.owner) == facts.hasOwner && !ways.contains(.passcode))
            }
            #expect(!ways.contains(.passcode) || facts.hasPasscode)
            #expect(!ways.contains(.recoveryPhrase) || facts.hasPhrase)
        }
    }

    // MARK: rules

    @Test func `each level has its rules, and none a dead end`() throws {
        let owners: [Set<OwnerStep>] = [[], [.biometrics], [.devicePasscode], Set(OwnerStep.allCases)]
        for level in VaultLevel.allCases {
            for steps in owners {
                let policy = VaultPolicy.standard.at(level, owner: steps)
                #expect(policy.obstacle(at: level) == nil && policy.isLockEnabled == (level != .device))
                #expect(try VaultPolicy(parsing: policy.encoded()) == policy)
                if level == .owner && !steps.isEmpty {
                    #expect(Set(OwnerStep.allCases.filter(policy.asks)) == steps)
                    #expect(policy.fallback.rules.last?.step == .recoveryPhrase)
                }
                if level != .device { #expect(policy.obstacle(at: .device) != nil) }
            }
        }
        var destructive = VaultPolicy.standard.at(.device, owner: [])
        destructive.selfDestruct = true
        #expect(destructive.obstacle(at: .device) != nil, "nothing to guess")
        #expect(VaultPolicy.standard.at(.device, owner: []).obstacle(at: .owner) != nil)
    }
}
