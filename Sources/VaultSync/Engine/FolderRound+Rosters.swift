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
    }

    /// - Returns: False where this device was removed, or the user has to decide: nothing is read or written then.
    func readRosters() throws(SyncError) -> Bool {
        var candidates: [UInt32: [Candidate]] = [:]
        for name in memory.rosters where name.number >= home.roster.number {
            guard let candidate = try candidate(name) else { continue }
            candidates[name.number, default: []].append(candidate)
        }
        var isSame = true
        for number in candidates.keys.sorted() {
            var opened: [HeldRoster] = []
            for candidate in candidates[number] ?? [] {
                guard let parent = home.rosters[candidate.received.front.before] else {
                    report.hitches.insert(.missingRoster(.none, epoch: number))
                    continue
                }
                do throws(SyncError) {
                    let signed = try candidate.received.signed(by: parent.opened.signers)
                    opened.append(HeldRoster(try signed.open(with: home.keys), bytes: candidate.bytes))
                } catch {
                    switch error {
                    case .notForThisMember:
                        // A member signed it, and there is no key for this device.
                        guard parent.roster == home.roster else { continue }
                        report.hitches.insert(.removed)
                        return false
                    case .format, .notAuthentic: report.hitches.insert(.strangeRoster(number))
                    default: throw error
                    }
                }
            }
            guard !opened.isEmpty else { continue }
            var keeper = home.keeper
            let verdict = keeper.apply(opened.map(\.roster))
            switch verdict {
            case .known: continue
            case .ask:
                report.hitches.insert(.roster(number, verdict))
                return false
            case .missing, .refused: report.hitches.insert(.roster(number, verdict))
            case .replace, .void:
                report.hitches.insert(.roster(number, verdict))
                try take(opened, keeper)
                isSame = false
            case .take:
                try take(opened, keeper)
                isSame = false
            }
        }
        if !isSame {
            memory.lookAgain()
            try endStreams()
        }
        try readEarlierRosters()
        return true
    }

    /// Rosters before the one that this device came in with, as far as they have the same key: entries are still sealed
    /// under them. Each is known by the hash that the one after it has.
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
                let held = HeldRoster(try received.reopened(with: key.opened.key), bytes: bytes)
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
            try home.items.write { session throws(VaultError) in try home.take(opened, keeper, in: &session) }
        }
    }

    /// A roster that is not here, as it lies on the road.
    private func candidate(_ name: RosterFileName) throws(SyncError) -> Candidate? {
        let file = RoadFile.roster(name)
        guard !home.rosters.keys.contains(where: { RoadNumber(hash: $0) == name.hash }), !memory.isSetAside(file),
            case .bytes(let bytes, let mark) = try onFolder({ () throws(RoadError) in try road.read(file, &memory) })
        else { return nil }
        do throws(SyncError) {
            let received = try ReceivedRoster(parsing: bytes)
            guard received.front.group == home.group, received.front.epoch == name.number else {
                throw .notAuthentic("roster place")
            }
            return Candidate(received: received, bytes: bytes)
        } catch {
            memory.setAside(file, mark)
            report.hitches.insert(.strangeRoster(name.number))
            return nil
        }
    }

    /// Ends the streams of those who were removed.
    private func endStreams() throws(SyncError) {
        var refused: [StreamID] = []
        for (stream, known) in home.streams {
            var reader = known.reader
            let isRefused = home.end(&reader, of: known.member)
            guard reader != known.reader || isRefused else { continue }
            home.streams[stream]?.reader = reader
            refused.append(stream)
        }
        try adopt(refused)
    }
}
