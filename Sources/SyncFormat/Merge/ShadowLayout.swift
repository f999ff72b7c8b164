package import VaultFormat

/// What a device keeps of an item beside the item: where its record is, which write of it was shown, and the state.
///
/// Layout, little-endian: version (u8), flags (u8), the number of the write that was shown last (u64), collection and
/// name of the record, each behind its size (u16), and a state (``StateLayout``) to the end.
package struct ShadowLayout: Sendable, Hashable {
    /// What holds on this device only.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The state lives.
        package static let lives = Flags(rawValue: 1)
        /// Others removed it for good, and it lies in the own trash.
        package static let isTrashedHere = Flags(rawValue: 2)
        /// The record is not where the item wants to be: something else has the name.
        package static let isDisplaced = Flags(rawValue: 4)
        /// There is no record: the vault does not let this one in where it wants to be.
        package static let waits = Flags(rawValue: 8)
        /// A later state waits beside the shadow: the unlock that took it did not reach the record.
        package static let isBehind = Flags(rawValue: 16)
        fileprivate static let all: Flags = [.lives, .isTrashedHere, .isDisplaced, .waits, .isBehind]
    }

    static let version: UInt8 = 1

    package var flags: Flags
    /// 0 where there is no record.
    package var sequence: UInt64
    /// Of the record. Of one that waits, where it wants to be.
    package var collection: String
    /// Empty where there is no record.
    package var name: String
    /// Bytes before the state.
    package var stateOffset: Int { 14 + collection.utf8.count + name.utf8.count }

    package init(flags: Flags, sequence: UInt64, collection: String, name: String) {
        self.flags = flags
        self.sequence = sequence
        self.collection = collection
        self.name = name
    }

    /// Reads the front; the state is looked at when it is needed.
    /// - Throws: ``FormatError/newerVersion(_:)``, ``FormatError/wrongSize``, ``FormatError/invalid(field:)``.
    package init(parsing bytes: RawSpan) throws(FormatError) {
        guard let version = bytes.integer(at: 0, as: UInt8.self), let flags = bytes.integer(at: 1, as: UInt8.self),
            let sequence = bytes.integer(at: 2, as: UInt64.self),
            let collectionSize = bytes.integer(at: 10, as: UInt16.self).map(Int.init),
            let nameSize = bytes.integer(at: 12 + collectionSize, as: UInt16.self).map(Int.init),
            14 + collectionSize + nameSize <= bytes.byteCount
        else { throw .wrongSize }
        guard version == ShadowLayout.version else { throw .newerVersion(UInt32(version)) }
        guard flags & ~Flags.all.rawValue == 0, collectionSize <= RecordName.maximumCollectionSize,
            nameSize <= RecordName.maximumNameSize
        else { throw .invalid(field: "shadow") }
        self.init(
            flags: Flags(rawValue: flags), sequence: sequence,
            collection: bytes.text(12..<12 + collectionSize),
            name: bytes.text(14 + collectionSize..<14 + collectionSize + nameSize))
    }

    /// Without a record.
    package static func empty(_ flags: Flags) -> ShadowLayout {
        ShadowLayout(flags: flags, sequence: 0, collection: "", name: "")
    }

    /// The bytes before the state.
    package var front: [UInt8] {
        var writer = ByteWriter()
        writer.integer(ShadowLayout.version)
        writer.integer(flags.rawValue)
        writer.integer(sequence)
        writer.counted(Array(collection.utf8))
        writer.counted(Array(name.utf8))
        return writer.bytes
    }
}
