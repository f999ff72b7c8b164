internal import Cryptography
internal import SecretMemory
package import SyncFormat
internal import VaultFormat

// The three messages of an invitation are a chain of their own, each sealed under the code and signed by its writer:
// who invites, who was invited, and the welcome, which only the box key of the invited opens.

/// A message of an invitation as it goes onto a road.
package struct JoinMessage: Sendable, Hashable {
    package let bytes: [UInt8]
    /// BLAKE3 of all of it.
    package let hash: [UInt8]
}

/// The first message: what the new device learns of the member, whose keys the user compares.
package struct OpenedInvitation: Sendable, Hashable {
    package let group: SyncGroupID
    package let invitation: InvitationID
    package let inviter: MemberRecord
    let front: EntryFront
    package let hash: [UInt8]

    /// Writes an invitation.
    package static func seal(
        _ name: String, _ roster: Roster, under key: borrowing InvitationKey, by keys: borrowing MemberKeys
    ) throws(SyncError) -> JoinMessage {
        let front = try Join.front(.invitation, key, roster.group, roster.number, roster.hash, before: nil)
        let body = InvitationBody(try keys.record(name: name))
        return try Join.seal(front, under: key, by: keys, size: 1024) { body.write(into: &$0) }
    }

    /// - Throws: `notAuthentic` for another code, or a member that did not sign it.
    package init(_ bytes: [UInt8], under key: borrowing InvitationKey) throws(SyncError) {
        let envelope = try Join.parse(bytes, .invitation, key)
        let plaintext = try envelope.open(under: key.bytes, "invitation")
        let body = try format { () throws(FormatError) in
            try plaintext.withBytes { bytes throws(FormatError) in try InvitationBody(parsing: bytes) }
        }
        try Join.check(envelope, by: body.inviter, "invitation signature")
        (group, invitation, inviter) = (envelope.front.group, key.invitation, body.inviter)
        (front, hash) = (envelope.front, envelope.hash)
    }
}

/// The second message: what the member learns of the new device.
package struct OpenedCard: Sendable, Hashable {
    package let card: MemberCard
    package let hash: [UInt8]

    /// Writes the card of this device, which answers an invitation.
    package static func seal(
        _ name: String, to invitation: OpenedInvitation, under key: borrowing InvitationKey,
        by keys: borrowing MemberKeys
    ) throws(SyncError) -> JoinMessage {
        let old = invitation.front
        let front = try Join.front(.card, key, old.group, old.epoch, old.rosterMark, before: invitation.hash)
        let card = MemberCard(try keys.record(name: name))
        return try Join.seal(front, under: key, by: keys, size: 1024) { card.write(into: &$0) }
    }

    /// - Parameter invitation: What this member wrote.
    /// - Throws: `notAuthentic` for another code, for what answers another invitation, or where the new device did not
    ///   sign it with the key that it shows.
    package init(
        _ bytes: [UInt8], to invitation: JoinMessage, group: SyncGroupID, under key: borrowing InvitationKey
    ) throws(SyncError) {
        let envelope = try Join.parse(bytes, .card, key)
        guard envelope.front.before == invitation.hash, envelope.front.group == group else {
            throw .notAuthentic("card invitation")
        }
        let plaintext = try envelope.open(under: key.bytes, "card")
        card = try format { () throws(FormatError) in
            try plaintext.withBytes { bytes throws(FormatError) in try MemberCard(parsing: bytes) }
        }
        try Join.check(envelope, by: card.member, "card signature")
        hash = envelope.hash
    }
}

/// The third message: the group's roster and keys, for the one new member.
package struct OpenedWelcome: ~Copyable, Sendable {
    /// The group's first roster for this member: to be followed from here on.
    package let roster: OpenedRoster
    /// The roster as it lies on a road.
    let rosterBytes: [UInt8]
    /// What plain values are named with.
    package let nameKey: NameKey
    /// Keys of rosters before it, under which entries still lie on the road.
    let earlier: [EarlierKey]

    /// Writes a welcome, once the words were compared and the roster with the new member was written.
    /// - Parameters:
    ///   - roster: This member's own, which has the new one.
    ///   - key: That of the roster.
    ///   - earlier: Those of rosters before it that had another one.
    package static func seal(
        _ roster: SealedRoster, _ key: borrowing EpochKey, _ nameKey: borrowing NameKey, earlier: [EarlierKey] = [],
        to card: OpenedCard, under code: borrowing InvitationKey, by keys: borrowing MemberKeys
    ) throws(SyncError) -> JoinMessage {
        let new = card.card.member
        guard roster.roster.author == keys.id, roster.roster.member(new.id)?.boxKey == new.boxKey else {
            throw .notAuthentic("welcome roster")
        }
        let front = try Join.front(
            .welcome, code, roster.roster.group, roster.roster.number, roster.roster.hash, before: card.hash)
        let overhead = P256SealedBox.overhead
        guard
            let size = EntrySize.fitting(
                plaintext: overhead + WelcomeBody.size(roster: roster.bytes.count, earlier: earlier.count))
        else {
            throw .format(.wrongSize)
        }
        var inner = try secretMemory { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: size - EntrySize.overhead - overhead)
        }
        let body = try format { () throws(FormatError) in
            try inner.withMutableBytes { bytes throws(FormatError) in
                try WelcomeBody(writing: roster.bytes.count, earlier: earlier.count, into: &bytes)
            }
        }
        inner.withMutableBytes { bytes in
            key.bytes.withBytes { bytes.store(copying: $0, at: WelcomeBody.epochKeyRange.lowerBound) }
            nameKey.bytes.withBytes { bytes.store(copying: $0, at: WelcomeBody.nameKeyRange.lowerBound) }
            roster.bytes.lend { bytes.store(copying: $0, at: body.roster.lowerBound) }
            for (place, one) in zip(body.earlier, earlier) {
                one.hash.lend { bytes.store(copying: $0, at: place.hash.lowerBound) }
                one.key.bytes.withBytes { bytes.store(copying: $0, at: place.key.lowerBound) }
            }
        }
        let recipient = try PublicKey.parse(new.boxKey)
        let (context, associated) = (code.invitation.bytes, front.encoded)
        let box = try inner.withBytes { inner throws(SyncError) in
            try crypto { () throws(CryptographyError) in
                try context.lend { context throws(CryptographyError) in
                    try associated.lend { associated throws(CryptographyError) in
                        try P256SealedBox.seal(
                            inner, RawSpan(), to: recipient, context: context, authenticating: associated)
                    }
                }
            }
        }
        return try Join.seal(front, under: code, by: keys, size: size) { bytes in
            box.lend { bytes.store(copying: $0, at: 0) }
        }
    }

    /// - Parameters:
    ///   - invitation: What this device answered; only that member's welcome is opened.
    ///   - card: What this device answered with.
    /// - Throws: `notAuthentic` for anybody else's, another code's or another card's, and for a roster that the member
    ///   did not write or that has not this device in it.
    package init(
        _ bytes: [UInt8], to invitation: OpenedInvitation, card: JoinMessage, under code: borrowing InvitationKey,
        with keys: borrowing MemberKeys
    ) throws(SyncError) {
        let envelope = try Join.parse(bytes, .welcome, code)
        let front = envelope.front
        guard front.before == card.hash, front.group == invitation.group else { throw .notAuthentic("welcome card") }
        // The member is known: nothing is decrypted before its signature was verified.
        try Join.check(envelope, by: invitation.inviter, "welcome signature")
        let box = try envelope.open(under: code.bytes, "welcome")
        let (context, associated) = (code.invitation.bytes, front.encoded)
        let inner = try box.withBytes { box throws(SyncError) in
            try authentic("welcome box") { () throws(CryptographyError) in
                try context.lend { context throws(CryptographyError) in
                    try associated.lend { associated throws(CryptographyError) in
                        try P256SealedBox.open(box, with: keys.box, context: context, authenticating: associated)
                    }
                }
            }
        }
        let body = try format { () throws(FormatError) in
            try inner.withBytes { bytes throws(FormatError) in try WelcomeBody(parsing: bytes) }
        }
        let rosterBytes = inner.withBytes { $0.copied(body.roster) }
        let key = try EpochKey(
            secretMemory { () throws(SecretMemoryError) in
                try inner.copy(WelcomeBody.epochKeyRange)
            })
        let signed = try ReceivedRoster(parsing: rosterBytes).signed(by: SyncSigners([invitation.inviter]))
        let opened = try signed.open(with: key)
        let roster = opened.roster
        guard roster.group == front.group, roster.number == front.epoch,
            Array(roster.hash.prefix(EntryFront.rosterMarkSize)) == front.rosterMark,
            roster.member(keys.id) != nil, roster.member(invitation.inviter.id) != nil
        else { throw .notAuthentic("welcome roster") }
        var earlier: [EarlierKey] = []
        for place in body.earlier {
            let hash = inner.withBytes { $0.copied(place.hash) }
            let key = try secretMemory { () throws(SecretMemoryError) in try inner.copy(place.key) }
            earlier.append(EarlierKey(try EpochKey(key), of: hash))
        }
        nameKey = try NameKey(
            secretMemory { () throws(SecretMemoryError) in
                try inner.copy(WelcomeBody.nameKeyRange)
            })
        self.earlier = earlier
        self.rosterBytes = rosterBytes
        self.roster = opened
    }
}

/// The key of a roster that is not the current one.
package final class EarlierKey: Sendable {
    /// Of the roster.
    let hash: [UInt8]
    let key: EpochKey

    init(_ key: consuming EpochKey, of hash: [UInt8]) {
        self.hash = hash
        self.key = key
    }
}

/// What the three have in common.
private enum Join {
    static func front(
        _ kind: EntryFront.Kind, _ key: borrowing InvitationKey, _ group: SyncGroupID, _ epoch: UInt32,
        _ roster: [UInt8], before: [UInt8]?
    ) throws(SyncError) -> EntryFront {
        let salt = try crypto { () throws(CryptographyError) in try SecureRandom.bytes(EntryFront.saltSize) }
        let stream = key.invitation.stream
        let number: UInt64 = kind == .invitation ? 1 : kind == .card ? 2 : 3
        return try format { () throws(FormatError) in
            try EntryFront(
                kind: kind, group: group, epoch: epoch, stream: stream, number: number,
                before: before ?? [UInt8](repeating: 0, count: EntryFront.hashSize), salt: salt,
                rosterMark: Array(roster.prefix(EntryFront.rosterMarkSize)))
        }
    }

    static func seal(
        _ front: EntryFront, under key: borrowing InvitationKey, by keys: borrowing MemberKeys, size: Int,
        _ write: (inout MutableRawSpan) -> Void
    ) throws(SyncError) -> JoinMessage {
        let plaintext = try secretMemory { () throws(SecretMemoryError) in
            try SecretBytes(count: size - EntrySize.overhead, write)
        }
        let envelope = try plaintext.withBytes { plaintext throws(SyncError) in
            try Envelope(sealing: plaintext, front, under: key.bytes, by: keys)
        }
        return JoinMessage(bytes: envelope.bytes, hash: envelope.hash)
    }

    static func parse(
        _ bytes: [UInt8], _ kind: EntryFront.Kind, _ key: borrowing InvitationKey
    ) throws(SyncError) -> Envelope {
        let envelope = try Envelope(parsing: bytes)
        guard envelope.front.kind == kind else { throw .format(.invalid(field: "entry kind")) }
        guard envelope.front.stream == key.invitation.stream else { throw .notAuthentic("invitation id") }
        return envelope
    }

    /// Whether the member with these keys signed it, and they are its keys.
    static func check(_ envelope: Envelope, by member: MemberRecord, _ field: StaticField) throws(SyncError) {
        guard try SyncSigners([member]).signer(of: envelope) == member.id else { throw .notAuthentic(field) }
        _ = try PublicKey.parse(member.boxKey)
    }
}
