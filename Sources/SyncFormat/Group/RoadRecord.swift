package import VaultFormat

/// A road that a device uses.
package struct RoadRecord: Sendable, Hashable {
    /// What it is.
    package enum Kind: UInt8, Sendable, CaseIterable {
        case folder = 1
    }

    private static let version: UInt8 = 1

    package let kind: Kind
    /// Absolute; 1 to 4,096 bytes.
    package let path: String

    /// - Throws: ``FormatError/invalid(field:)`` for what is no absolute path.
    package init(_ kind: Kind, path: String) throws(FormatError) {
        (self.kind, self.path) = (kind, path)
        try check()
    }

    /// - Throws: ``FormatError/newerVersion(_:)``, ``FormatError/wrongSize``, ``FormatError/invalid(field:)``.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        try reader.version(Self.version, "road version")
        guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else { throw .invalid(field: "road kind") }
        self.kind = kind
        path = try reader.text(atMost: SyncLimits.path, "road path")
        try reader.expectEnd()
        try check()
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.integer(Self.version)
        writer.integer(kind.rawValue)
        writer.counted(Array(path.utf8))
        return writer.bytes
    }

    private func check() throws(FormatError) {
        let bytes = path.utf8
        guard (1...SyncLimits.path).contains(bytes.count), bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else {
            throw .invalid(field: "road path")
        }
    }

    /// The record of one of the at most ``SyncLimits/roads`` roads, from 0.
    package static func recordName(_ index: Int) -> String { "w\(index)" }

    // Two paths that look alike are two folders.
    package static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.path.utf8.elementsEqual(right.path.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(Array(path.utf8))
    }
}
