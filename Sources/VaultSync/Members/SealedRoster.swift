internal import Cryptography
internal import SecretMemory
package import SyncFormat
internal import VaultFormat

/// A roster that this device writes: sealed under its key, with a box of the key for each member.
package struct SealedRoster: Sendable, Hashable {
    package let bytes: [UInt8]
    package let roster: Roster

    /// Seals the roster after `parent`, or the first of a group.
    /// - Parameters:
    ///   - key: After a removal a new one, else that of the roster before. The roster commits to it.
    ///   - salt: For the document's examples; else random.
    /// - Throws: `format` for what does not fit or could not be read again.
    package static func seal(
        _ members: [MemberRecord], removed: [RemovedRecord], group: SyncGroupID, after parent: Roster?,
        key: borrowing EpochKey, by keys: borrowing MemberKeys, salt: [UInt8]? = nil
    ) throws(SyncError) -> SealedRoster {
        let commitment = try key.commitment(group).withBytes { $0.copied(0..<$0.byteCount) }
        let author = keys.id
        let body = try format { () throws(FormatError) in
            try RosterBody(
                commitment: commitment, author: author, members: members.sorted { $0.id < $1.id },
                removed: removed.sorted())
        }
        guard let size = RosterSize.fitting(body), let room = RosterSize.plaintext(in: size),
            let slots = RosterSize.boxes(in: size)
        else { throw .format(.invalid(field: "roster size")) }
        let random = try crypto { () throws(CryptographyError) in try SecureRandom.bytes(EntryFront.saltSize) }
        let number = (parent?.number ?? 0) &+ 1
        let front = try format { () throws(FormatError) in
            try EntryFront(
                kind: .roster, group: group, epoch: number, stream: .none, number: UInt64(number),
                before: parent?.hash ?? [UInt8](repeating: 0, count: EntryFront.hashSize), salt: salt ?? random,
                rosterMark: [UInt8](repeating: 0, count: EntryFront.rosterMarkSize))
        }
        var plaintext = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(zeroed: room) }
        plaintext.withMutableBytes { body.write(into: &$0) }
        let boxes = try RosterBox.seal(key, to: members.map(\.boxKey), count: slots, front)
        let envelope = try plaintext.withBytes { plaintext throws(SyncError) in
            try Envelope(sealing: plaintext, front, boxes: boxes, under: key.bytes, by: keys)
        }
        let roster = Roster(
            group: group, number: number, before: front.before, hash: envelope.hash, body: body)
        return SealedRoster(bytes: envelope.bytes, roster: roster)
    }
}

/// A roster as it came over a road: its size and its front are possible.
package struct ReceivedRoster: Sendable {
    let envelope: Envelope

    /// - Throws: `format`.
    package init(parsing bytes: [UInt8]) throws(SyncError) {
        let envelope = try Envelope(parsing: bytes)
        guard envelope.front.kind == .roster else { throw .format(.invalid(field: "entry kind")) }
        guard let boxes = RosterSize.boxes(in: bytes.count) else { throw .format(.wrongSize) }
        self.envelope = Envelope(envelope, boxes: boxes * RosterSize.box)
    }

    package var front: EntryFront { envelope.front }
    package var hash: [UInt8] { envelope.hash }

    /// One that this device took and kept in its vault.
    /// - Throws: As ``SignedRoster/open(with:)-(EpochKey)``, for bytes that were not.
    func reopened(with key: borrowing EpochKey) throws(SyncError) -> OpenedRoster {
        let plaintext = try envelope.open(under: key.bytes, "roster")
        let body = try format { () throws(FormatError) in
            try plaintext.withBytes { bytes throws(FormatError) in try RosterBody(parsing: bytes) }
        }
        return try SignedRoster(envelope: envelope, author: body.author).open(with: key)
    }

    /// - Parameter signers: The members of the roster before.
    /// - Throws: `notAuthentic` where none of them signed it.
    package func signed(by signers: SyncSigners) throws(SyncError) -> SignedRoster {
        guard let author = signers.signer(of: envelope) else { throw .notAuthentic("roster signature") }
        return SignedRoster(envelope: envelope, author: author)
    }
}

/// A roster whose author is known. Only such a one is opened.
package struct SignedRoster: Sendable {
    let envelope: Envelope
    package let author: SyncMemberID

    fileprivate init(envelope: Envelope, author: SyncMemberID) { (self.envelope, self.author) = (envelope, author) }

    package var front: EntryFront { envelope.front }
    package var bytes: [UInt8] { envelope.bytes }

    /// Opens it with this member's box.
    /// - Throws: `notForThisMember` where no box is for it; `notAuthentic` where its box has another key than it
    ///   commits to, or another author signed it than the one that it names: this member stops.
    package func open(with keys: borrowing MemberKeys) throws(SyncError) -> OpenedRoster {
        let boxes = envelope.bytes.dropFirst(EntryFront.size).prefix(envelope.boxes)
        for start in stride(from: boxes.startIndex, to: boxes.endIndex, by: RosterSize.box) {
            let box = Array(boxes[start..<start + RosterSize.box])
            if let key = try RosterBox.open(box, with: keys, front) { return try open(with: key) }
        }
        throw .notForThisMember
    }

    /// Opens it with its key, which a welcome has, and which a member keeps.
    package func open(with key: borrowing EpochKey) throws(SyncError) -> OpenedRoster {
        let plaintext = try envelope.open(under: key.bytes, "roster")
        let body = try format { () throws(FormatError) in
            try plaintext.withBytes { bytes throws(FormatError) in try RosterBody(parsing: bytes) }
        }
        let committed = try key.commitment(front.group)
        guard body.commitment.lend({ committed.isEqual(to: $0) }) else { throw .notAuthentic("roster commitment") }
        guard body.author == author else { throw .notAuthentic("roster author") }
        // Keys that are no points, or ids of other keys, are refused here and not when somebody signs with them.
        let signers = try SyncSigners(body.members)
        for member in body.members { _ = try PublicKey.parse(member.boxKey) }
        let roster = Roster(
            group: front.group, number: front.epoch, before: front.before, hash: envelope.hash, body: body)
        return OpenedRoster(roster: roster, signers: signers, key: try key.copy())
    }
}

/// A roster and its key.
package struct OpenedRoster: ~Copyable, Sendable {
    package let roster: Roster
    /// The members' keys.
    package let signers: SyncSigners
    package let key: EpochKey

    init(roster: Roster, signers: SyncSigners, key: consuming EpochKey) {
        (self.roster, self.signers) = (roster, signers)
        self.key = key
    }
}

/// The key of a roster, sealed to one member.
enum RosterBox {
    /// Boxes for all members, and others that nobody can open, in no order: the road counts up to 8, 16 or 32.
    static func seal(
        _ key: borrowing EpochKey, to members: [[UInt8]], count: Int, _ front: EntryFront
    ) throws(SyncError) -> [UInt8] {
        var boxes: [[UInt8]] = []
        for member in members {
            let recipient = try PublicKey.parse(member)
            boxes.append(try key.bytes.withBytes { key throws(SyncError) in try seal(key, to: recipient, front) })
        }
        let nothing = [UInt8](repeating: 0, count: EpochKey.size)
        while boxes.count < count {
            let stranger = try crypto { () throws(CryptographyError) in try P256PrivateKey.generate() }
            boxes.append(
                try nothing.lend { nothing throws(SyncError) in try seal(nothing, to: stranger.publicKey, front) })
        }
        return boxes.shuffled().flatMap { $0 }
    }

    private static func seal(
        _ key: RawSpan, to recipient: P256PublicKey, _ front: EntryFront
    ) throws(SyncError) -> [UInt8] {
        let (group, front) = (front.group.bytes, front.encoded)
        return try crypto { () throws(CryptographyError) in
            try group.lend { group throws(CryptographyError) in
                try front.lend { front throws(CryptographyError) in
                    try P256SealedBox.seal(key, RawSpan(), to: recipient, context: group, authenticating: front)
                }
            }
        }
    }

    /// Nil for a box that is not this member's.
    static func open(
        _ box: [UInt8], with keys: borrowing MemberKeys, _ front: EntryFront
    ) throws(SyncError) -> EpochKey? {
        let (group, front) = (front.group.bytes, front.encoded)
        do throws(SyncError) {
            let key = try authentic("roster box") { () throws(CryptographyError) in
                try box.lend { box throws(CryptographyError) in
                    try group.lend { group throws(CryptographyError) in
                        try front.lend { front throws(CryptographyError) in
                            try P256SealedBox.open(box, with: keys.box, context: group, authenticating: front)
                        }
                    }
                }
            }
            return try EpochKey(key)
        } catch {
            if case .notAuthentic = error { return nil }
            throw error
        }
    }
}
