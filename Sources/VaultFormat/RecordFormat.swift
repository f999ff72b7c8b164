/// The value of a record in the database: epoch (32 bit), nonce (12), ciphertext, tag (16).
package enum SealedRecord {
    // Computed and inlined: a stored constant of another module is asked for by a call, at every read.
    @inlinable package static var epochSize: Int { 4 }
    @inlinable package static var nonceSize: Int { 12 }
    @inlinable package static var tagSize: Int { 16 }
    @inlinable package static var boxOffset: Int { epochSize + nonceSize }
    /// What sealing adds to a plaintext.
    @inlinable package static var overhead: Int { boxOffset + tagSize }

    /// Authenticated data: vault id, epoch, lookup key, format version. The lookup key is a keyed hash of collection
    /// and name and so binds both.
    package static let authenticatedSize = 16 + 4 + lookupKeySize + 4
    @inlinable package static var lookupKeySize: Int { 32 }

    package static func writeAuthenticatedData(
        vault: VaultID, epoch: UInt32, lookupKey: RawSpan, into output: inout MutableRawSpan
    ) {
        let id = unsafe vault.bytes.span.bytes
        for offset in stride(from: 0, to: 16, by: 8) {
            output.store(id.present(at: offset, as: UInt64.self), at: offset)
        }
        output.store(epoch, at: 16)
        writeLookupKey(lookupKey, into: &output)
        output.store(Header.formatVersion, at: 52)
    }

    /// Makes authenticated data that of another record of the same vault and epoch.
    package static func writeLookupKey(_ lookupKey: RawSpan, into output: inout MutableRawSpan) {
        for offset in stride(from: 0, to: 32, by: 8) {
            output.store(lookupKey.present(at: offset, as: UInt64.self), at: 20 + offset)
        }
    }
}

/// The fixed front of a record's plaintext; collection, name and content follow.
package struct RecordFields: Sendable, Hashable {
    /// Where the content is.
    package enum Kind: UInt8, Sendable, Hashable {
        /// In the record itself.
        case inline = 0
        /// In a file of its own; the content is a ``FileDescriptor``.
        case file = 1
        /// Sealed to the vault's public key, name and all; in the open compartment only.
        case sealed = 2
        /// In the record itself, behind a ``RecordLabel``: taken in from the open compartment, not confirmed yet.
        case inbox = 3
    }

    /// Who wrote it.
    package enum Origin: UInt8, Sendable, Hashable {
        case protected = 0
        case open = 1
    }

    /// What the content is. It is told here, inside of what the tag covers, and never by how the content begins: a
    /// plain value may begin with anything.
    package enum Form: UInt8, Sendable, Hashable {
        /// Bytes that mean nothing to us.
        case value = 0
        /// An item (``ItemLayout``); only in the record itself, and only written while unlocked or confirmed.
        case item = 1
    }

    package static let size = 32
    /// Where the sizes of collection and name are, 16 bits each.
    package static var sizesOffset: Int { 4 }
    static let version: UInt8 = 1

    package var kind: Kind
    package var origin: Origin
    package var form: Form
    /// Unique per write in a vault; enters the root record's multiset hash.
    package var sequence: UInt64
    /// Milliseconds since 1970, for display only.
    package var created: Int64
    package var modified: Int64
    package var collectionSize: Int
    package var nameSize: Int
    /// Bytes of the ``RecordLabel`` between name and content; zero but for ``Kind/inbox``.
    package var labelSize = 0

    package init(
        kind: Kind, origin: Origin, form: Form = .value, sequence: UInt64, created: Int64, modified: Int64,
        collectionSize: Int, nameSize: Int
    ) {
        self.kind = kind
        self.origin = origin
        self.form = form
        self.sequence = sequence
        self.created = created
        self.modified = modified
        self.collectionSize = collectionSize
        self.nameSize = nameSize
    }

    /// Offset of the content in the plaintext.
    package var contentOffset: Int { labelOffset + labelSize }

    /// Offset of what follows the name.
    package var labelOffset: Int { RecordFields.size + collectionSize + nameSize }

    package func write(into bytes: inout MutableRawSpan) {
        bytes.store(RecordFields.version, at: 0)
        bytes.store(kind.rawValue, at: 1)
        bytes.store(origin.rawValue, at: 2)
        bytes.store(form.rawValue, at: 3)
        bytes.store(UInt16(truncatingIfNeeded: collectionSize), at: RecordFields.sizesOffset)
        bytes.store(UInt16(truncatingIfNeeded: nameSize), at: RecordFields.sizesOffset + 2)
        bytes.store(sequence, at: 8)
        bytes.store(created, at: 16)
        bytes.store(modified, at: 24)
    }

    /// Reads the front of an authenticated plaintext; still strict, a bug must not become a wild read.
    package init(parsing bytes: RawSpan) throws(FormatError) {
        try self.init(front: bytes)
        if kind == .inbox { labelSize = try RecordLabel.size(in: bytes, at: labelOffset) }
        guard contentOffset <= bytes.byteCount else { throw .invalid(field: "record") }
    }

    /// Reads the fields alone: what follows them need not be there.
    package init(front bytes: RawSpan) throws(FormatError) {
        guard bytes.byteCount >= RecordFields.size,
            bytes.integer(at: 0, as: UInt8.self) == RecordFields.version,
            let form = bytes.integer(at: 3, as: UInt8.self).flatMap(Form.init(rawValue:)),
            let kind = bytes.integer(at: 1, as: UInt8.self).flatMap(Kind.init(rawValue:)),
            let origin = bytes.integer(at: 2, as: UInt8.self).flatMap(Origin.init(rawValue:)),
            let collectionSize = bytes.integer(at: RecordFields.sizesOffset, as: UInt16.self),
            let nameSize = bytes.integer(at: RecordFields.sizesOffset + 2, as: UInt16.self),
            let sequence = bytes.integer(at: 8, as: UInt64.self),
            let created = bytes.integer(at: 16, as: Int64.self),
            let modified = bytes.integer(at: 24, as: Int64.self)
        else { throw .invalid(field: "record") }
        self.init(
            kind: kind, origin: origin, form: form, sequence: sequence, created: created, modified: modified,
            collectionSize: Int(collectionSize), nameSize: Int(nameSize))
        guard origin == .open || kind != .inbox && kind != .sealed else { throw .invalid(field: "record") }
        guard form == .value || kind == .inline && origin == .protected else { throw .invalid(field: "record") }
    }
}
