internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

extension GroupHome {
    /// Gives up a road; its files stay.
    package func remove(road place: Int) throws(SyncError) {
        try inVault { () throws(VaultError) in
            try write { session throws(VaultError) in try session.delete(sync: RoadRecord.recordName(place)) }
        }
        roads[place] = nil
    }

    /// Forgets the group, and everything that the sync has in the vault. What the user sees stays. The proof that this
    /// wants is the caller's.
    ///
    /// The shadows go too: their contexts name streams that nobody in another group knows, and would hold it back.
    package func leave() throws(SyncError) {
        try inVault { () throws(VaultError) in
            var names: [String] = []
            _ = try vault.forEachRecord(for: ledger.holder) { visit, _, _ throws(VaultError) in
                if case .own(let name) = visit { names.append(name) }
            }
            try write(isLast: true) { session throws(VaultError) in
                for name in names { try session.delete(sync: name) }
            }
        }
    }
}
