internal import SyncFormat
package import VaultCore

// What whoever does rounds again and again needs between two of them.
extension GroupHome {
    /// Whether a vault is in a group at all.
    /// - Throws: `vault`.
    package static func isThere(in vault: Vault) throws(SyncError) -> Bool {
        try vault.syncBytes(GroupRecord.recordName) != nil
    }

    /// The folders of the roads, by their places.
    package var roadPaths: [Int: String] { roads.mapValues(\.path) }

    /// Whether somebody else has written since this was loaded: then it is to be loaded again.
    package var wasOvertaken: Bool { isStale }

    /// Begins to watch a road. To miss nothing, the round after it lists everything.
    /// - Throws: `folder`.
    package func watch(_ place: Int) throws(SyncError) -> RoadWatching {
        guard let kept = roads[place] else { throw .folder(.noRoad("")) }
        return try onFolder { () throws(RoadError) in
            try FolderRoad(opening: kept.path, of: group, knowing: ownStreams).watch()
        }
    }
}
