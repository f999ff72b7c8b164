package import VaultFormat

/// The file that makes a folder a road, and says whose.
package enum RoadMarker {
    package static let name = "HOLDFAST-SYNC"
    package static let magic = Array("HFROAD\u{0}\u{1}".utf8)
    package static let version: UInt16 = 1
    /// Magic 8, version 2, zeros 6, group 16.
    package static let size = 32

    package static func bytes(of group: SyncGroupID) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(magic)
        writer.integer(version)
        writer.pad(to: 16)
        writer.append(group.bytes)
        return writer.bytes
    }

    /// - Throws: `wrongSize`, `wrongMagic`, `newerVersion`, `invalid`.
    package static func group(in bytes: [UInt8]) throws(FormatError) -> SyncGroupID {
        guard bytes.count == size else { throw .wrongSize }
        var reader = ByteReader(bytes)
        guard try reader.bytes(magic.count) == magic else { throw .wrongMagic }
        let version = try reader.integer(UInt16.self)
        guard version <= RoadMarker.version else { throw .newerVersion(UInt32(version)) }
        guard version == RoadMarker.version, try reader.bytes(6).allSatisfy({ $0 == 0 }),
            let group = SyncGroupID(try reader.bytes(SyncGroupID.size))
        else { throw .invalid(field: "marker of a sync folder") }
        return group
    }
}
