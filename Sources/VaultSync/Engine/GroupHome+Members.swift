internal import Items
package import SyncFormat
internal import VaultFormat
internal import VaultStorage

/// Adding and removing members. The caller asks for the proof that each of these needs.
extension GroupHome {
    /// Writes the roster that has one more member; the key stays.
    /// - Returns: The roster, for the new member's welcome.
    package func admit(_ member: MemberRecord) throws(SyncError) -> SealedRoster {
        guard let held = rosters[roster.hash] else { throw .notForThisMember }
        let key = try held.key.with { key throws(SyncError) in try key.copy() }
        return try follow(roster.body.members + [member], roster.body.removed, key)
    }

    /// Writes the roster without a member, under a new key. Of its streams that counts which was taken here; nothing,
    /// where these are more than a roster can name.
    package func remove(_ member: SyncMemberID) throws(SyncError) -> SealedRoster {
        guard roster.member(member) != nil else { throw .format(.invalid(field: "roster removed")) }
        let heads = streams.values.filter { $0.member == member }.compactMap(\.reader.head)
        let isNamed = !heads.isEmpty && roster.body.removed.count + heads.count <= SyncLimits.removed
        let records =
            !isNamed
            ? [RemovedRecord(member, last: nil)] : heads.map { RemovedRecord(member, last: $0) }
        return try follow(
            roster.body.members.filter { $0.id != member }, roster.body.removed + records, try EpochKey.generate())
    }

    private func follow(
        _ members: [MemberRecord], _ removed: [RemovedRecord], _ key: consuming EpochKey
    ) throws(SyncError) -> SealedRoster {
        let sealed = try keys.with { keys throws(SyncError) in
            try SealedRoster.seal(members, removed: removed, group: group, after: roster, key: key, by: keys)
        }
        var next = keeper
        guard next.apply(sealed.roster) == .take else { throw .format(.invalid(field: "roster members")) }
        let opened = OpenedRoster(roster: sealed.roster, signers: try SyncSigners(members), key: key)
        let held = HeldRoster(opened, bytes: sealed.bytes)
        try inVault { () throws(VaultError) in
            try write { session throws(VaultError) in
                try take([held], next, in: &session)
                for (stream, known) in streams {
                    var reader = known.reader
                    end(&reader, of: known.member)
                    guard reader != known.reader else { continue }
                    streams[stream]?.reader = reader
                    try store([stream], in: &session)
                }
            }
        }
        return sealed
    }

    /// What a new member is given with its welcome.
    package func welcome(
        to card: OpenedCard, with sealed: SealedRoster, under code: borrowing InvitationKey
    ) throws(SyncError) -> JoinMessage {
        guard let held = rosters[sealed.roster.hash] else { throw .notForThisMember }
        let earlier = try earlierKeys(before: held)
        return try held.key.with { key throws(SyncError) in
            try ledger.nameKey.with { names throws(SyncError) in
                try keys.with { keys throws(SyncError) in
                    try OpenedWelcome.seal(sealed, key, names, earlier: earlier, to: card, under: code, by: keys)
                }
            }
        }
    }

    /// Of each key that was before a roster's own the last roster that has it.
    private func earlierKeys(before held: HeldRoster) throws(SyncError) -> [EarlierKey] {
        var keys: [EarlierKey] = []
        var child = held
        while let parent = rosters[child.roster.before] {
            if parent.roster.body.commitment != child.roster.body.commitment {
                let key = try parent.key.with { key throws(SyncError) in try key.copy() }
                keys.append(EarlierKey(key, of: parent.roster.hash))
            }
            child = parent
        }
        return keys
    }
}
