import SyncFormat
import Testing
import VaultFormat

@Suite struct RoadMarkerTests {
    private static let group = SyncGroupID((1...16).map { UInt8($0) })

    @Test func `a marker is these bytes`() throws {
        let group = try #require(Self.group)
        let bytes = RoadMarker.bytes(of: group)
        #expect(bytes == Array("HFROAD".utf8) + [0, 1, 1, 0, 0, 0, 0, 0, 0, 0] + (1...16).map { UInt8($0) })
        #expect(bytes.count == RoadMarker.size)
        #expect(try RoadMarker.group(in: bytes) == group)
    }

    @Test func `a marker of another length is refused`() throws {
        let bytes = RoadMarker.bytes(of: try #require(Self.group))
        for count in 0..<bytes.count {
            #expect(throws: FormatError.wrongSize) { try RoadMarker.group(in: Array(bytes[..<count])) }
        }
        #expect(throws: FormatError.wrongSize) { try RoadMarker.group(in: bytes + [0]) }
    }

    @Test func `every bit before the group counts`() throws {
        let group = try #require(Self.group)
        let bytes = RoadMarker.bytes(of: group)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            switch bit / 8 {
            case 0..<8: #expect(throws: FormatError.wrongMagic) { try RoadMarker.group(in: changed) }
            case 8, 9:
                let version = UInt32(changed[8]) | UInt32(changed[9]) << 8
                let error =
                    version == 0 ? FormatError.invalid(field: "marker of a sync folder") : .newerVersion(version)
                #expect(throws: error) { try RoadMarker.group(in: changed) }
            case 10..<16:
                #expect(throws: FormatError.invalid(field: "marker of a sync folder")) {
                    try RoadMarker.group(in: changed)
                }
            default: #expect(try RoadMarker.group(in: changed) != group)
            }
        }
    }
}
