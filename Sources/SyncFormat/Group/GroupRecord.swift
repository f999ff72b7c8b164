package import VaultFormat

/// Which group a device is in, and as whom it writes.
package struct GroupRecord: Sendable, Hashable {
    package static let recordName = "group"
    private static let version: UInt8 = 1

    /// How often a transaction of the sync was committed: whoever loaded the group earlier must load it again.
    package let turn: UInt64
    package let group: SyncGroupID
    /// The own stream that is written.
    package let stream: StreamID
    /// What the user calls this device: 1 to 64 bytes without control characters.
    package let name: String
    /// The hash of the current roster.
    package let roster: [UInt8]
    /// All streams that are known, the own among them; ascending.
    package let streams: [StreamID]
    /// Those of them that this device wrote earlier; ascending.
    package let oldStreams: [StreamID]

    /// - Throws: ``FormatError/invalid(field:)``.
    package init(
        turn: UInt64, group: SyncGroupID, stream: StreamID, name: String, roster: [UInt8], streams: [StreamID],
        oldStreams: [StreamID]
    ) throws(FormatError) {
        self.turn = turn
        (self.group, self.stream, self.name, self.roster) = (group, stream, name, roster)
        (self.streams, self.oldStreams) = (streams, oldStreams)
        try check()
    }

    /// - Throws: ``FormatError/newerVersion(_:)``, ``FormatError/wrongSize``, ``FormatError/invalid(field:)``.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        try reader.version(Self.version, "group version")
        turn = try reader.integer(UInt64.self)
        group = try reader.id()
        stream = try reader.id()
        name = try reader.text(atMost: SyncLimits.name, "group name")
        roster = try reader.hash("group roster")
        streams = try reader.ids(atMost: SyncLimits.streams, "group streams")
        oldStreams = try reader.ids(atMost: SyncLimits.streams, "group old streams")
        try reader.expectEnd()
        try check()
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.integer(Self.version)
        writer.integer(turn)
        writer.append(group.bytes)
        writer.append(stream.bytes)
        writer.counted(Array(name.utf8))
        writer.append(roster)
        writer.ids(streams)
        writer.ids(oldStreams)
        return writer.bytes
    }

    private func check() throws(FormatError) {
        let name = Array(name.utf8)
        guard unsafe ItemValue.isLabel(name.span.bytes, limit: SyncLimits.name) else {
            throw .invalid(field: "group name")
        }
        guard roster.count == EntryFront.hashSize, !roster.isZero else { throw .invalid(field: "group roster") }
        guard streams.count <= SyncLimits.streams, isAscending(streams, by: <), streams.contains(stream) else {
            throw .invalid(field: "group streams")
        }
        guard isAscending(oldStreams, by: <), !oldStreams.contains(stream),
            Set(oldStreams).isSubset(of: streams)
        else { throw .invalid(field: "group old streams") }
    }
}
