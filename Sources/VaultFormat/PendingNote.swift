/// `hardware.pending`: what lies in hardware and key stores while the header changes from one to another. No secret.
///
/// The file is covered by tags under keys of the two headers' master keys; ``PendingDecision`` says what follows from
/// it. Pure: the caller brings the tags.
package struct PendingNote: Sendable, Hashable {
    /// A share of a counted slot in a chip.
    package struct ChipShare: Sendable, Hashable {
        /// The chip's name of its index.
        package let name: [UInt8]
        /// What it is found by.
        package let object: [UInt8]

        package init(name: [UInt8], object: [UInt8]) {
            self.name = name
            self.object = object
        }
    }

    /// A generation that a key store holds.
    package struct Anchor: Sendable, Hashable {
        package let vault: VaultID
        /// 32 bytes.
        package let home: [UInt8]

        package init(vault: VaultID, home: [UInt8]) {
            self.vault = vault
            self.home = home
        }
    }

    /// A change of the level.
    package struct Move: Sendable, Hashable {
        package let from: VaultLevel
        package let to: VaultLevel

        package init(from: VaultLevel, to: VaultLevel) {
            self.from = from
            self.to = to
        }
    }

    package var shares: [ChipShare] = []
    package var anchors: [Anchor] = []
    /// Nil where the level stays.
    package var move: Move?
    /// Revocable shares of the header before.
    package var leaving: [ShareItem] = []
    /// Revocable shares of the header after: noted before they are in their store.
    package var coming: [ShareItem] = []
    /// Revocable shares that no header names any more, and that their store could not be asked to take away.
    package var owed: [ShareItem] = []

    package static let magic = Array("HFPEND05".utf8)
    package static let maximumSize = 16_384
    package static let tagSize = 32
    static let mostTags = 2

    package init() {}

    package var isEmpty: Bool {
        shares.isEmpty && anchors.isEmpty && move == nil && leaving.isEmpty && coming.isEmpty && owed.isEmpty
    }

    /// The kinds of entries, each before its counted parts.
    private enum Kind: UInt8 {
        case share = 1
        case anchor = 2
        case move = 3
        case leaving = 4
        case coming = 5
        case owed = 6
        /// The last one; its part is the tags.
        case tags = 7
    }

    /// What the tags are over.
    package var covered: [UInt8] {
        var writer = ByteWriter()
        writer.append(PendingNote.magic)
        func entry(_ kind: Kind, _ parts: [UInt8]...) {
            writer.integer(kind.rawValue)
            for part in parts { writer.counted(part) }
        }
        for share in shares { entry(.share, share.name, share.object) }
        for anchor in anchors { entry(.anchor, anchor.vault.bytes + anchor.home) }
        if let move { entry(.move, [move.from.rawValue, move.to.rawValue]) }
        for item in leaving { entry(.leaving, [item.store.rawValue] + item.encoded) }
        for item in coming { entry(.coming, [item.store.rawValue] + item.encoded) }
        for item in owed { entry(.owed, [item.store.rawValue] + item.encoded) }
        return writer.bytes
    }

    /// The file.
    /// - Parameter tags: None, one, or that of the header before and then that of the header after; 32 bytes each.
    /// - Throws: ``FormatError/headerFull`` where it would be too long.
    package func encoded(tags: [[UInt8]]) throws(FormatError) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(covered)
        writer.integer(Kind.tags.rawValue)
        writer.counted(tags.flatMap { $0 })
        guard writer.bytes.count <= PendingNote.maximumSize, tags.count <= PendingNote.mostTags else {
            throw .headerFull
        }
        return writer.bytes
    }

    /// A note as it was read: what it says, and what has to be proved before it is believed.
    package struct Parsed: Sendable, Hashable {
        package let note: PendingNote
        /// What the tags are over.
        package let covered: [UInt8]
        package let tags: [[UInt8]]
    }

    /// Reads the file; entries come in the order of writers, and nothing follows the tags.
    package static func parse(_ bytes: [UInt8]) throws(FormatError) -> Parsed {
        guard bytes.count <= maximumSize else { throw .wrongSize }
        guard bytes.starts(with: magic) else { throw .wrongMagic }
        var reader = ByteReader(bytes, magic.count..<bytes.count)
        var note = PendingNote()
        while true {
            let start = bytes.count - reader.remaining
            guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else { throw .invalid(field: "note") }
            guard kind != .tags else {
                let tags = try reader.counted(limit: mostTags * tagSize, "note's tags")
                guard tags.count % tagSize == 0 else { throw .invalid(field: "note's tags") }
                try reader.expectEnd()
                guard note.covered == Array(bytes[..<start]) else { throw .invalid(field: "note's order") }
                let parts = stride(from: 0, to: tags.count, by: tagSize).map { Array(tags[$0..<$0 + tagSize]) }
                return Parsed(note: note, covered: note.covered, tags: parts)
            }
            try note.read(kind, &reader)
        }
    }

    private mutating func read(_ kind: Kind, _ reader: inout ByteReader) throws(FormatError) {
        let part = try reader.counted(limit: PendingNote.maximumSize, "note")
        switch kind {
        case .share:
            shares.append(ChipShare(name: part, object: try reader.counted(limit: PendingNote.maximumSize, "note")))
        case .anchor:
            guard part.count == 16 + Header.homeSize, let vault = VaultID(bytes: Array(part[..<16])) else {
                throw .invalid(field: "note")
            }
            anchors.append(Anchor(vault: vault, home: Array(part[16...])))
        case .move:
            guard move == nil, part.count == 2, let from = VaultLevel(rawValue: part[0]),
                let to = VaultLevel(rawValue: part[1])
            else { throw .invalid(field: "note's move") }
            move = Move(from: from, to: to)
        case .leaving: leaving.append(try PendingNote.item(part))
        case .coming: coming.append(try PendingNote.item(part))
        case .owed: owed.append(try PendingNote.item(part))
        case .tags: throw .invalid(field: "note")
        }
    }

    private static func item(_ part: [UInt8]) throws(FormatError) -> ShareItem {
        guard let store = part.first.flatMap(KeyStoreKind.init) else { throw .invalid(field: "note") }
        return try ShareItem(store, parsing: Array(part.dropFirst()))
    }
}

/// What follows from a note once the header's MAC is known: the move that it was written for did not happen and is
/// undone, or it happened and is finished. Either way exactly the shares of the header that is there stay.
///
/// Each of the two headers honours only the tag under its own master key, and takes only what the *other* one had: so a
/// note and a header that were put back together revoke nothing that the present header opens with.
package enum PendingDecision: Sendable, Hashable {
    /// The header is the one before: what was to come is revoked.
    case undo([ShareItem])
    /// The header is the one after: what was to go is revoked.
    case finish([ShareItem])
    /// The note was not written for this header; nothing follows from it.
    case ignore

    /// - Parameters:
    ///   - note: As it was read.
    ///   - named: The shares that the header names, whose MAC is known.
    ///   - isBefore: Whether the first tag is under the header's master key.
    ///   - isAfter: Whether the second one is.
    package init(_ note: PendingNote, named: [ShareItem], isBefore: Bool, isAfter: Bool) {
        let goesOn = { (items: [ShareItem]) in items.filter { !named.contains($0) } }
        switch (isBefore, isAfter) {
        case (true, false): self = .undo(goesOn(note.coming))
        case (false, true): self = .finish(goesOn(note.leaving))
        // The master key stayed; what the header names tells.
        case (true, true):
            self = note.coming.allSatisfy(named.contains) ? .finish(goesOn(note.leaving)) : .undo(goesOn(note.coming))
        case (false, false): self = .ignore
        }
    }
}
