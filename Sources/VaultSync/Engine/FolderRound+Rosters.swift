internal import Items
internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// Rosters come first: what follows is read and written by the members that there are now.
extension FolderRound {
    private struct Candidate {
        let received: ReceivedRoster
        let bytes: [UInt8]
        let file: RoadFile
        let mark: FileMark
    }

    /// Rosters of one number that are read: more are of somebody who floods the road.
    private static let most = 64

    /// - Returns: False where this device was removed, or the user has to decide: nothing is read or written then.
    func readRosters() throws(SyncError) -> Bool {
        // Those beside the current one, and then those after it, one number at a time.
        var number = home.roster.number
        while home.roster.number + 1 >= number, number < .max {
            guard try judge(number) else { return false }
            number += 1
        }
        try readEarlierRosters()
        return true
    }

    private func judge(_ number: UInt32) throws(SyncError) -> Bool {
        var opened: [HeldRoster] = []
        var isWithoutUs = false
        for candidate in try candidates(number) {
            guard let parent = home.rosters[candidate.received.front.before] else {
                report.hitches.insert(.missingRoster(.none, epoch: number))
                continue
            }
            do throws(SyncError) {
                guard parent.roster.number + 1 == number else { throw .notAuthentic("roster number") }
                let signed = try candidate.received.signed(by: parent.signers)
                let roster = try home.keys.with { keys throws(SyncError) in try signed.open(with: keys) }
                opened.append(HeldRoster(roster, bytes: candidate.bytes))
            } catch {
                switch error {
                // A member signed it, and there is no key for this device. Others of this number may be for it.
                case .notForThisMember: if parent.roster == home.roster { isWithoutUs = true }
                case .format, .notAuthentic:
                    memory.setAside(candidate.file, candidate.mark)
                    report.hitches.insert(.strangeRoster(number))
                default: throw error
                }
            }
        }
        guard !opened.isEmpty else {
            if isWithoutUs { report.hitches.insert(.removed) }
            return !isWithoutUs
        }
        var keeper = home.keeper
        let verdict = keeper.apply(opened.map(\.roster))
        switch verdict {
        case .known: break
        case .ask:
            report.hitches.insert(.roster(number, verdict))
            return false
        case .missing, .refused: report.hitches.insert(.roster(number, verdict))
        case .take, .replace, .void:
            guard keeper.current.member(home.keys.id) != nil else {
                report.hitches.insert(.removed)
                return false
            }
            if verdict != .take { report.hitches.insert(.roster(number, verdict)) }
            let family = Set(keeper.siblings.map(\.hash))
            try take(opened.filter { family.contains($0.roster.hash) }, keeper)
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
                try take([held], home.keeper)
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

    /// Rosters of a number that are not here, as they lie on the road.
    private func candidates(_ number: UInt32) throws(SyncError) -> [Candidate] {
        var found: [Candidate] = []
        for name in memory.rosters where name.number == number {
            let file = RoadFile.roster(name)
            guard found.count < FolderRound.most, !memory.isSetAside(file),
                !home.rosters.keys.contains(where: { RoadNumber(hash: $0) == name.hash }),
                case .bytes(let bytes, let mark) = try onFolder({ () throws(RoadError) in try road.read(file, &memory) }
                )
            else { continue }
            do throws(SyncError) {
                let received = try ReceivedRoster(parsing: bytes)
                guard received.front.group == home.group, received.front.epoch == name.number else {
                    throw .notAuthentic("roster place")
                }
                found.append(Candidate(received: received, bytes: bytes, file: file, mark: mark))
            } catch {
                memory.setAside(file, mark)
                report.hitches.insert(.strangeRoster(number))
            }
        }
        return found
    }
}
