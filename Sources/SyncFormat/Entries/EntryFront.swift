package import VaultFormat

/// The part of what travels that everybody can read: 128 bytes, authenticated with the rest (vault-format.md 24).
package struct EntryFront: Sendable, Hashable {
    /// What follows the front.
    package enum Kind: UInt8, Sendable, CaseIterable {
        case changes = 1
        /// A part of a snapshot, which lies in the stream that it replaces.
        case snapshot = 2
        case roster = 3
        /// What a new member is given.
        case welcome = 4
        /// Who invites.
        case invitation = 5
        /// Who was invited.
        case card = 6
    }

    package static let size = 128
    package static let version: UInt16 = 1
    package static let hashSize = 32
    package static let saltSize = 32
    package static let rosterMarkSize = 8
    static let magic = Array("HFSYNC".utf8) + [0, 1]

    package let kind: Kind
    package let group: SyncGroupID
    /// Of the roster whose key this is sealed under; from 1.
    package let epoch: UInt32
    /// Zeros in a roster; in what belongs to an invitation its id.
    package let stream: StreamID
    /// From 1.
    package let number: UInt64
    /// The hash of the one before; zeros in the first.
    package let before: [UInt8]
    /// Random, so that a stream that was put back uses no key twice.
    package let salt: [UInt8]
    /// The first bytes of the roster's hash: two may have one number. Zeros in a roster.
    package let rosterMark: [UInt8]

    /// - Throws: ``FormatError`` for what no writer writes.
    package init(
        kind: Kind, group: SyncGroupID, epoch: UInt32, stream: StreamID, number: UInt64, before: [UInt8],
        salt: [UInt8], rosterMark: [UInt8]
    ) throws(FormatError) {
        guard before.count == Self.hashSize, salt.count == Self.saltSize, rosterMark.count == Self.rosterMarkSize
        else { throw .wrongSize }
        (self.kind, self.group, self.epoch, self.stream, self.number) = (kind, group, epoch, stream, number)
        (self.before, self.salt, self.rosterMark) = (before, salt, rosterMark)
        try check()
    }

    /// Reads the front of longer bytes.
    /// - Throws: ``FormatError/wrongMagic``; ``FormatError/newerVersion(_:)``; ``FormatError/wrongSize``;
    ///   ``FormatError/invalid(field:)``.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        guard bytes.count >= Self.size else { throw .wrongSize }
        var reader = ByteReader(bytes, 0..<Self.size)
        guard try reader.bytes(Self.magic.count) == Self.magic else { throw .wrongMagic }
        let version = try reader.integer(UInt16.self)
        // What a later version has behind this number is not known here.
        guard version <= Self.version else { throw .newerVersion(UInt32(version)) }
        guard version == Self.version else { throw .invalid(field: "entry version") }
        guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else { throw .invalid(field: "entry kind") }
        guard try reader.integer(UInt8.self) == 0 else { throw .invalid(field: "entry zero") }
        self.kind = kind
        group = try reader.id()
        epoch = try reader.integer(UInt32.self)
        stream = try reader.id()
        number = try reader.integer(UInt64.self)
        before = try reader.bytes(Self.hashSize)
        salt = try reader.bytes(Self.saltSize)
        rosterMark = try reader.bytes(Self.rosterMarkSize)
        try check()
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.magic)
        writer.integer(Self.version)
        writer.integer(kind.rawValue)
        writer.integer(UInt8(0))
        writer.append(group.bytes)
        writer.integer(epoch)
        writer.append(stream.bytes)
        writer.integer(number)
        writer.append(before)
        writer.append(salt)
        writer.append(rosterMark)
        return writer.bytes
    }

    /// Whether it is an entry of a member's stream.
    package var isOfStream: Bool { kind == .changes || kind == .snapshot }

    private func check() throws(FormatError) {
        guard epoch > 0 else { throw .invalid(field: "entry epoch") }
        guard hasNumberOfKind else { throw .invalid(field: "entry number") }
        guard (number == 1) == before.isZero else { throw .invalid(field: "entry before") }
        if kind == .roster {
            guard stream == .none else { throw .invalid(field: "entry stream") }
            guard rosterMark.isZero else { throw .invalid(field: "entry roster") }
        }
    }

    private var hasNumberOfKind: Bool {
        switch kind {
        case .changes, .snapshot: (1...SyncLimits.entries).contains(number)
        case .roster: number == UInt64(epoch)
        // The three of an invitation are a chain of their own.
        case .invitation: number == 1
        case .card: number == 2
        case .welcome: number == 3
        }
    }
}

extension [UInt8] {
    /// Whether there are only zeros.
    var isZero: Bool { !contains { $0 != 0 } }
}

extension ByteReader {
    mutating func id<Named>() throws(FormatError) -> SyncID<Named> {
        guard let id = SyncID<Named>(try bytes(SyncID<Named>.size)) else { throw .wrongSize }
        return id
    }
}
