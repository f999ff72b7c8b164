internal import Cryptography
internal import Items
internal import SecretMemory
internal import SyncFormat
package import VaultCore
internal import VaultFormat
internal import VaultStorage

/// How a vault comes into a group. The proof that this wants is the caller's.
extension GroupHome {
    /// Makes a group whose only member is this device.
    /// - Parameter name: What its user calls this device.
    /// - Throws: `vault` with `recordExists` where the vault is in a group.
    package static func found(in vault: Vault, name: String) throws(SyncError) -> GroupHome {
        let keys = try MemberKeys.generate()
        let key = try EpochKey.generate()
        let group: SyncGroupID = try randomID()
        let members = [try keys.record(name: name)]
        let sealed = try SealedRoster.seal(members, removed: [], group: group, after: nil, key: key, by: keys)
        let opened = OpenedRoster(roster: sealed.roster, signers: try SyncSigners(members), key: key)
        return try begin(
            vault, name, keys: keys, nameKey: try NameKey.generate(), HeldRoster(opened, bytes: sealed.bytes))
    }

    /// Comes into a group by a welcome.
    package static func join(
        _ welcome: consuming OpenedWelcome, in vault: Vault, name: String, keys: consuming MemberKeys
    ) throws(SyncError) -> GroupHome {
        let (bytes, earlier) = (welcome.rosterBytes, welcome.earlier)
        let nameKey = welcome.nameKey
        let roster = welcome.roster
        return try begin(vault, name, keys: keys, nameKey: nameKey, HeldRoster(roster, bytes: bytes), earlier)
    }

    private static func begin(
        _ vault: Vault, _ name: String, keys: consuming MemberKeys, nameKey: consuming NameKey, _ first: HeldRoster,
        _ earlier: [EarlierKey] = []
    ) throws(SyncError) -> GroupHome {
        let stream: StreamID = try randomID()
        let roster = first.roster
        let record = try format { () throws(FormatError) in
            try GroupRecord(
                turn: 0, group: roster.group, stream: stream, name: name, roster: roster.hash, streams: [stream],
                oldStreams: [])
        }
        let known = [stream: KnownStream(StreamReader(stream), of: keys.id)]
        let kept = try secretMemory { () throws(SecretMemoryError) in try nameKey.bytes.copy() }
        let home = GroupHome(
            ItemStore(vault), record, keys: keys, nameKey: nameKey, keeper: RosterKeeper(roster), rosters: [first],
            streams: known)
        do throws(VaultError) {
            try home.items.write { session throws(VaultError) in
                guard try session.withSync(GroupRecord.recordName, { _ throws(VaultError) in true }) == nil else {
                    throw VaultError(.recordExists, "the vault is in a group")
                }
                try home.storeFirst(kept, in: &session)
                for one in earlier { try home.store(one, in: &session) }
            }
        } catch { throw .vault(error) }
        return home
    }

    static func randomID<Named>() throws(SyncError) -> SyncID<Named> {
        let bytes = try crypto { () throws(CryptographyError) in try SecureRandom.bytes(SyncID<Named>.size) }
        guard let id = SyncID<Named>(bytes) else { throw .format(.wrongSize) }
        return id
    }
}
