internal import SyncFormat

// What whoever does rounds again and again needs between two of them.
extension GroupHome {
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
