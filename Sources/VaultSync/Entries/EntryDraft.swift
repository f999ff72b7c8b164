internal import Cryptography
package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// An entry that is being written: changes are added until it is full.
package struct EntryDraft: ~Copyable {
    private let contents: EntryContents
    private let hashList: SecretBytes?
    private var sizes: [Int] = []
    private var changes = SecretBuffer(limit: EntrySize.longestPlaintext)

    /// - Parameter hashList: In the last part of a snapshot.
    package init(_ contents: EntryContents, hashList: consuming SecretBytes? = nil) {
        self.contents = contents
        self.hashList = hashList
    }

    /// Adds a change.
    /// - Returns: False where there is no more room: it belongs into the next entry, or into pieces.
    package mutating func add(_ change: RawSpan) throws(SyncError) -> Bool {
        guard change.byteCount > 0 else { throw .format(.invalid(field: "entry changes")) }
        guard sizes.count < SyncLimits.changes, change.byteCount <= EntrySize.longestPlaintext,
            size(sizes + [change.byteCount]) <= EntrySize.longestPlaintext
        else { return false }
        do throws(SecretMemoryError) { try changes.append(change) } catch { throw .cryptography(.memory(error)) }
        sizes.append(change.byteCount)
        return true
    }

    private borrowing func size(_ sizes: [Int]) -> Int {
        EntryBody.size(contents, hashList: listSize, changes: sizes)
    }

    private var listSize: Int? {
        switch hashList {
        case .some(let list): list.count
        case .none: nil
        }
    }

    /// Seals it in the smallest size that it fits.
    /// - Parameters:
    ///   - front: With a salt of its own (``EntryFront/fresh(_:_:roster:after:)``).
    ///   - key: Of the front's epoch.
    /// - Throws: `format` for contents that do not fit or belong into another front.
    package borrowing func seal(
        _ front: EntryFront, with key: borrowing EpochKey, by keys: borrowing MemberKeys
    ) throws(SyncError) -> SealedEntry {
        guard let size = EntrySize.fitting(plaintext: size(sizes)) else { throw .format(.wrongSize) }
        var plaintext = try secretMemory { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: size - EntrySize.overhead)
        }
        let (contents, sizes, listSize) = (contents, sizes, listSize)
        let body = try format { () throws(FormatError) in
            try plaintext.withMutableBytes { bytes throws(FormatError) in
                try EntryBody(writing: contents, hashList: listSize, changes: sizes, of: front, into: &bytes)
            }
        }
        plaintext.withMutableBytes { bytes in
            changes.withBytes { changes in
                var start = 0
                for range in body.changes {
                    bytes.store(copying: changes.extracting(start..<start + range.count), at: range.lowerBound)
                    start += range.count
                }
            }
            if let place = body.hashList?.lowerBound {
                switch hashList {
                case .some(let list): list.withBytes { bytes.store(copying: $0, at: place) }
                case .none: break
                }
            }
        }
        if let member = contents.member, member != keys.id { throw .notAuthentic("entry member") }
        let envelope = try plaintext.withBytes { plaintext throws(SyncError) in
            try Envelope(sealing: plaintext, front, under: key.bytes, by: keys)
        }
        return SealedEntry(envelope)
    }
}

/// An entry as it goes onto a road.
package struct SealedEntry: Sendable, Hashable {
    package let bytes: [UInt8]
    package let head: StreamHead

    init(_ envelope: Envelope) {
        bytes = envelope.bytes
        head = StreamHead(stream: envelope.front.stream, number: envelope.front.number, hash: envelope.hash)
    }
}

extension EntryFront {
    /// The front of the next entry of a stream, with a new salt.
    /// - Parameters:
    ///   - roster: Under whose key it is sealed.
    ///   - head: The stream's last entry; nil before the first.
    package static func fresh(
        _ kind: Kind, _ stream: StreamID, roster: Roster, after head: StreamHead?
    ) throws(SyncError) -> EntryFront {
        let salt = try crypto { () throws(CryptographyError) in try SecureRandom.bytes(saltSize) }
        return try format { () throws(FormatError) in
            try EntryFront(
                kind: kind, group: roster.group, epoch: roster.number, stream: stream,
                number: (head?.number ?? 0) + 1, before: head?.hash ?? [UInt8](repeating: 0, count: hashSize),
                salt: salt, rosterMark: Array(roster.hash.prefix(rosterMarkSize)))
        }
    }
}
