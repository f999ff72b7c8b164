package import SyncFormat
package import VaultFormat

/// What a round over a road did, and what it could not do yet.
package struct RoundReport: Sendable, Hashable {
    /// Changes of this device that became entries.
    package var given = 0
    /// Changes of others that were taken.
    package var taken = 0
    /// Entries that were put on the road, those that somebody had lost included.
    package var published = 0
    /// What stands in the way, each once.
    package var hitches: Set<RoundHitch> = []

    package init() {}
}

/// Why something was not read, or will not be. Everything else was.
package enum RoundHitch: Sendable, Hashable {
    /// Entries of a stream that others have seen are not on the road yet, from this number on.
    case missing(StreamID, from: UInt64)
    /// An entry has values that build on entries which are not here yet.
    case waits(StreamID, of: UInt64)
    /// A piece of what an entry has is not on the road yet.
    case missingPiece(StreamID, of: UInt64)
    /// Nobody of the group signed what lies in this stream.
    case stranger(StreamID)
    /// An entry is sealed under a roster that is not here.
    case missingRoster(StreamID, epoch: UInt32)
    /// A member runs a newer version: its entries wait for an update of this device.
    case newerVersion(StreamID, FormatError)
    /// A member wrote two entries with one number: its home was put back. From there on nothing of the stream is taken.
    case fork(StreamID, at: UInt64)
    /// A member wrote what no writer writes: from this number on nothing of the stream is taken.
    case refused(StreamID, at: UInt64, SyncError)
    /// Something else has the name of a file of this device's, from the road's folder.
    case occupied(String)
    /// The stream's folder could not be listed.
    case unlisted(StreamID, RoadError)
    /// This home was put back to an earlier state: it writes a new stream from here on.
    case wasPutBack
    /// The road has more streams than a group may have.
    case tooManyStreams
    /// A roster changes nothing here, and why.
    case roster(UInt32, RosterVerdict)
    /// A roster that nobody of the group signed, or that does not fit.
    case strangeRoster(UInt32)
    /// This device was removed from the group.
    case removed
}
