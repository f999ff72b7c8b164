import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@testable import VaultSync

@Suite struct MembersSealedRosterTests {
    @Test func `every member opens a roster with its box and nobody else does`() throws {
        let pair = try Pair()
        let signed = try ReceivedRoster(parsing: pair.first.bytes).signed(by: pair.signers)
        #expect(pair.first.bytes.count == 4096 && signed.author == pair.laptop.id)
        for opened in [try signed.open(with: pair.laptop).roster, try signed.open(with: pair.phone).roster] {
            #expect(opened == pair.first.roster)
        }
        let opened = try signed.open(with: pair.phone)
        let isSame = opened.key.bytes.isEqual(to: pair.key.bytes)
        #expect(isSame)
        let stranger = try MemberKeys.generate()
        #expect(syncError { () throws(SyncError) in _ = try signed.open(with: stranger) } == .notForThisMember)
    }

    @Test func `a removal is sealed under a new key, which the removed cannot open`() throws {
        let pair = try Pair()
        let fresh = try EpochKey.generate()
        let second = try SealedRoster.seal(
            [pair.laptop.record(name: "laptop")], removed: [RemovedRecord(pair.phone.id, last: nil)], group: pair.group,
            after: pair.first.roster, key: fresh, by: pair.laptop)
        #expect(RosterKeeper(pair.first.roster).judge(second.roster) == .take)
        let signed = try ReceivedRoster(parsing: second.bytes).signed(by: pair.signers)
        #expect(syncError { () throws(SyncError) in _ = try signed.open(with: pair.phone) } == .notForThisMember)
        #expect(syncError { () throws(SyncError) in _ = try signed.open(with: pair.key) } == .notAuthentic("roster"))
        #expect(try signed.open(with: pair.laptop).roster == second.roster)
    }

    @Test func `adding keeps the key and its commitment`() throws {
        let pair = try Pair()
        let tablet = try MemberKeys.generate()
        let members = try pair.first.roster.body.members + [tablet.record(name: "tablet")]
        let second = try SealedRoster.seal(
            members, removed: [], group: pair.group, after: pair.first.roster, key: pair.key, by: pair.phone)
        #expect(RosterKeeper(pair.first.roster).judge(second.roster) == .take)
        let signed = try ReceivedRoster(parsing: second.bytes).signed(by: pair.signers)
        #expect(try signed.open(with: tablet).roster == second.roster && signed.author == pair.phone.id)
    }

    @Test func `a flipped bit anywhere is refused before a box is opened`() throws {
        let pair = try Pair()
        for bit in bits(pair.first.bytes) {
            let bytes = pair.first.bytes.flipped(bit)
            let error = syncError { () throws(SyncError) in
                _ = try ReceivedRoster(parsing: bytes).signed(by: pair.signers)
            }
            if case .format = error { continue }
            #expect(error == .notAuthentic("roster signature"), "bit \(bit)")
        }
    }

    /// A roster of this member that says what `body` does, whatever that is.
    private func forged(
        _ pair: borrowing Pair, under key: borrowing EpochKey, boxed: borrowing EpochKey,
        _ body: (RosterBody) throws -> RosterBody
    ) throws -> SignedRoster {
        let front = try EntryFront(
            kind: .roster, group: pair.group, epoch: 2, stream: .none, number: 2, before: pair.first.roster.hash,
            salt: repeated(4, 32), rosterMark: repeated(0, 8))
        let changed = try body(pair.first.roster.body)
        var plaintext = try SecretBytes(zeroed: RosterSize.plaintext(in: 4096) ?? 0)
        plaintext.withMutableBytes { changed.write(into: &$0) }
        let boxes = try RosterBox.seal(boxed, to: [pair.phone.record(name: "phone").boxKey], count: 8, front)
        let envelope = try plaintext.withBytes { plaintext in
            try Envelope(sealing: plaintext, front, boxes: boxes, under: key.bytes, by: pair.laptop)
        }
        return try ReceivedRoster(parsing: envelope.bytes).signed(by: pair.signers)
    }

    @Test func `a member whose box has another key than the committed one stops`() throws {
        let pair = try Pair()
        let other = try EpochKey.generate()
        // The box has another key than the roster is sealed under.
        let boxed = try forged(pair, under: pair.key, boxed: other) { $0 }
        #expect(syncError { () throws(SyncError) in _ = try boxed.open(with: pair.phone) } == .notAuthentic("roster"))
        // The roster is sealed under another key than it commits to.
        let sealed = try forged(pair, under: other, boxed: other) { $0 }
        let error = syncError { () throws(SyncError) in _ = try sealed.open(with: pair.phone) }
        #expect(error == .notAuthentic("roster commitment"))
    }

    @Test func `a roster that names another author or another member's id is refused`() throws {
        let pair = try Pair()
        let phone = pair.phone.id
        let author = try forged(pair, under: pair.key, boxed: pair.key) { body in
            try RosterBody(commitment: body.commitment, author: phone, members: body.members, removed: [])
        }
        #expect(
            syncError { () throws(SyncError) in _ = try author.open(with: pair.phone) }
                == .notAuthentic("roster author"))
        let named = try forged(pair, under: pair.key, boxed: pair.key) { body in
            let wrong = try body.members.map { member in
                member.id == phone
                    ? try MemberRecord(
                        id: id(0xFF), signingKey: member.signingKey, boxKey: member.boxKey, format: 1, name: "phone")
                    : member
            }
            return try RosterBody(
                commitment: body.commitment, author: body.author, members: wrong.sorted { $0.id < $1.id }, removed: [])
        }
        #expect(
            syncError { () throws(SyncError) in _ = try named.open(with: pair.phone) } == .notAuthentic("member id"))
    }

    @Test func `garbage is no sealed roster`() throws {
        for size in [0, 128, 1024, 2048, 4096, 8192, 16_384, 32_768] {
            for seed in 0..<20 {
                let bytes = pattern(size, seed: UInt8(seed))
                let error = syncError { () throws(SyncError) in _ = try ReceivedRoster(parsing: bytes) }
                #expect(error == .format(EntrySize.allowed.contains(size) ? .wrongMagic : .wrongSize))
            }
        }
        // An entry is no roster, and a roster no entry.
        let pair = try Pair()
        let entry = try pair.entry([pattern(3000)])
        #expect(syncError { () throws(SyncError) in _ = try ReceivedRoster(parsing: entry.bytes) } != nil)
        #expect(syncError { () throws(SyncError) in _ = try ReceivedEntry(parsing: pair.first.bytes) } != nil)
    }
}
