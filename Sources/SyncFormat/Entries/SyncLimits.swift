/// What is refused before anything is read further, and what no writer writes (vault-format.md 24).
package enum SyncLimits {
    /// Members of a group.
    package static let members = 32
    /// Streams of a group.
    package static let streams = 256
    /// Streams of one member that are read: its life, and as often as its home was put back.
    package static let streamsOfMember = 16
    /// The highest number of an entry: a stream that has it goes no further, and its writer begins another.
    package static let entries: UInt64 = 65_536
    /// Changes in one entry.
    package static let changes = 256
    /// Wants in one entry; all of a member's too.
    package static let wants = 1024
    /// Records of removed members in a roster.
    package static let removed = 112
    /// Rosters of one number that a device keeps. Where there are more, the user is asked.
    package static let siblings = 64
    /// Rosters of earlier numbers that a device remembers.
    package static let traces = 4096
    /// Pieces that the changes of one entry wait for in a device's outbox.
    package static let outboxPieces = 16_384
    /// Invitations in a folder that a device tries its code on.
    package static let invitations = 32
    /// Roads of one group.
    package static let roads = 4
    /// Bytes of a folder's path.
    package static let path = 4096
    /// Bytes of a member's name, in UTF-8.
    package static let name = 64
    /// Bytes of a content in pieces: what a descriptor of a file may have at most.
    package static let pieced: UInt64 = 1 << 30
}
