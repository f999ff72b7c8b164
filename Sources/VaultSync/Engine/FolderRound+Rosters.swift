internal import Items
internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// Rosters come first: what follows is read and written by the members that there are now.
extension FolderRound {
    /// Rosters that were applied, and have no place for this device yet: whoever added it does that again.
    struct Ahead {
        let keeper: RosterKeeper
        let held: [HeldRoster]
    }

    /// Rosters of one number that are judged: more are of a member who floods the road.
    private static let most = 64
    /// Rosters that are read in one round and that nobody signed.
    private static let mostStrange = 1024

    /// - Returns: False where this device was removed, or the user has to decide: nothing is read or written then.
    func readRosters() throws(SyncError) -> Bool {
        // A new member does not know the one before its first one, which the first may have to be judged by.
        try readEarlierRosters()
        // Those beside the current one, and then those after it, one number at a time.
        var number = home.roster.number
        var strange = 0
        while (ahead?.keeper ?? home.keeper).current.number + 1 >= number, number < .max {
            guard try judge(number, &strange) else { return false }
            number += 1
        }
        return true
    }

    private func parent(_ hash: [UInt8]) -> HeldRoster? {
        home.rosters[hash] ?? ahead?.held.first { $0.roster.hash == hash }
    }

    private func judge(_ number: UInt32, _ strange: inout Int) throws(SyncError) -> Bool {
        var opened: [HeldRoster] = []
        var isWithoutUs = false
        for name in memory.rosters where name.number == number {
            let file = RoadFile.roster(name)
            guard opened.count < FolderRound.most, strange < FolderRound.mostStrange, !memory.isSetAside(file),
                !home.rosters.keys.contains(where: { RoadNumber(hash: $0) == name.hash }),
                case .bytes(let bytes, let mark) = try onFolder({ () throws(RoadError) in try road.read(file, &memory) }
                )
            else { continue }
            do throws(SyncError) {
                let received = try ReceivedRoster(parsing: bytes)
                guard received.front.group == home.group, received.front.epoch == number else {
                    throw .notAuthentic("roster place")
                }
                guard let parent = parent(received.front.before) else {
                    // Looked at again when there are other rosters.
                    report.hitches.insert(.missingRoster(.none, epoch: number))
                    memory.setAside(file, mark)
                    strange += 1
                    continue
                }
                guard parent.roster.number + 1 == number else { throw .notAuthentic("roster number") }
                let signed = try received.signed(by: parent.signers)
                if let roster = try open(signed, after: parent) {
                    opened.append(HeldRoster(roster, bytes: bytes))
                } else if parent.roster == home.roster {
                    // A member signed it, and there is no key for this device. Others of this number may be for it.
                    isWithoutUs = true
                }
            } catch {
                switch error {
                case .format, .notAuthentic:
                    memory.setAside(file, mark)
                    report.hitches.insert(.strangeRoster(number))
                    strange += 1
                default: throw error
                }
            }
        }
        guard !opened.isEmpty else {
            if isWithoutUs { report.hitches.insert(.removed) }
            return !isWithoutUs
        }
        var keeper = ahead?.keeper ?? home.keeper
        let verdict = keeper.apply(opened.map(\.roster))
        switch verdict {
        case .known: break
        case .ask:
            report.hitches.insert(.roster(number, verdict))
            return false
        case .missing, .refused: report.hitches.insert(.roster(number, verdict))
        case .take, .replace, .void:
            if verdict != .take { report.hitches.insert(.roster(number, verdict)) }
            let family = Set(keeper.siblings.map(\.hash))
            let held = (ahead?.held ?? []) + opened.filter { family.contains($0.roster.hash) }
            guard keeper.current.member(home.keys.id) != nil else {
                if keeper.current.gone.contains(home.keys.id) {
                    report.hitches.insert(.removed)
                    return false
                }
                ahead = Ahead(keeper: keeper, held: held)
                return true
            }
            ahead = nil
            try take(held, keeper)
            memory.lookAgain()
        }
        return true
    }

    /// Rosters before the one that this device came in with: entries are still sealed under them. Each is known by the
    /// hash that the one after it has, and has its key or one that came with the welcome.
    private func readEarlierRosters() throws(SyncError) {
        var child = home.oldest
        while child.number > 1, let key = home.rosters[child.hash],
            let name = RosterFileName(number: child.number - 1, hash: child.before), memory.rosters.contains(name)
        {
            let file = RoadFile.roster(name)
            guard !memory.isSetAside(file),
                case .bytes(let bytes, let mark) = try onFolder({ () throws(RoadError) in try road.read(file, &memory) }
                )
            else { return }
            do throws(SyncError) {
                let received = try ReceivedRoster(parsing: bytes)
                guard received.hash == child.before else { throw .notAuthentic("roster hash") }
                let opened: OpenedRoster
                if let own = try home.vault.syncSecret(KeeperRecord.keyName(child.before)) {
                    opened = try received.reopened(with: EpochKey(own))
                } else {
                    opened = try key.key.with { key throws(SyncError) in try received.reopened(with: key) }
                }
                let held = HeldRoster(opened, bytes: bytes)
                var keeper = home.keeper
                _ = keeper.learn(held.roster)
                try take([held], keeper)
                memory.lookAgain()
                child = held.roster
            } catch {
                switch error {
                case .format, .notAuthentic: return memory.setAside(file, mark)
                default: throw error
                }
            }
        }
    }

    private func take(_ opened: [HeldRoster], _ keeper: RosterKeeper) throws(SyncError) {
        try inVault { () throws(VaultError) in
            try home.write { session throws(VaultError) in try home.take(opened, keeper, in: &session) }
        }
    }

    /// Opens a roster with the box of this device, or with the key that an addition leaves as it is: two members may
    /// add somebody at once, and neither roster has a box for whom the other one adds.
    /// - Returns: Nil where it has no key for this device.
    private func open(_ signed: SignedRoster, after parent: HeldRoster) throws(SyncError) -> OpenedRoster? {
        do throws(SyncError) {
            return try home.keys.with { keys throws(SyncError) in try signed.open(with: keys) }
        } catch {
            guard error == .notForThisMember else { throw error }
        }
        do throws(SyncError) {
            return try parent.key.with { key throws(SyncError) in try signed.open(with: key) }
        } catch {
            if case .notAuthentic = error { return nil }
            throw error
        }
    }
}
