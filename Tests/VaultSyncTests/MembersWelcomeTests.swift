import Cryptography
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@testable import VaultSync

@Suite struct MembersWelcomeTests {
    /// A laptop that invites, a tablet that comes, and every message between them.
    private struct Joining: ~Copyable {
        let pair: Pair
        let tablet: MemberKeys
        let code: InvitationKey
        let invitation: JoinMessage
        let invited: OpenedInvitation
        let card: JoinMessage
        let opened: OpenedCard
        let second: SealedRoster
        let nameKey: NameKey
        let welcome: JoinMessage

        init(_ text: String = "expect melody network post fever close gesture") throws {
            let pair = try Pair()
            let tablet = try MemberKeys.generate()
            let code = try InvitationCode.entered(secret(text)).key(for: id(8))
            let invitation = try OpenedInvitation.seal("laptop", pair.first.roster, under: code, by: pair.laptop)
            let invited = try OpenedInvitation(invitation.bytes, under: code)
            let card = try OpenedCard.seal("tablet", to: invited, under: code, by: tablet)
            let opened = try OpenedCard(card.bytes, to: invitation, group: pair.group, under: code)
            let second = try SealedRoster.seal(
                pair.first.roster.body.members + [opened.card.member], removed: [], group: pair.group,
                after: pair.first.roster, key: pair.key, by: pair.laptop)
            let nameKey = try NameKey(secret(repeated(5, 32)))
            let welcome = try OpenedWelcome.seal(second, pair.key, nameKey, to: opened, under: code, by: pair.laptop)
            self.pair = pair
            self.tablet = tablet
            self.code = code
            (self.invitation, self.invited, self.card, self.opened) = (invitation, invited, card, opened)
            self.nameKey = nameKey
            (self.second, self.welcome) = (second, welcome)
        }

        func open(_ bytes: [UInt8]? = nil) throws(SyncError) -> OpenedWelcome {
            try OpenedWelcome(bytes ?? welcome.bytes, to: invited, card: card, under: code, with: tablet)
        }
    }

    @Test func `a new member gets the roster and both keys, and follows from there`() throws {
        let joining = try Joining()
        #expect(joining.invitation.bytes.count == 1024 && joining.card.bytes.count == 1024)
        #expect(joining.welcome.bytes.count == 8192)
        let welcome = try joining.open()
        #expect(welcome.roster.roster == joining.second.roster)
        let isKey = welcome.roster.key.bytes.isEqual(to: joining.pair.key.bytes)
        let isNameKey = welcome.nameKey.bytes.isEqual(to: joining.nameKey.bytes)
        #expect(isKey && isNameKey)
        // It reads what the others write.
        let entry = try joining.pair.entry([[7]])
        let signed = try ReceivedEntry(parsing: entry.bytes).signed(by: welcome.roster.signers)
        guard case .next(let verified) = signed.judged(by: StreamReader(id(2))) else {
            return #expect(Bool(false), "not next")
        }
        #expect(try verified.open(with: welcome.roster.key).count == 1)
    }

    @Test func `both show the same six words, and others for another card or member`() throws {
        let joining = try Joining()
        let here = try ComparingWords.words(id(8), joining.opened.card, inviter: joining.invited.inviter).revealed()
            .text
        #expect(here.split(separator: " ").count == 6)
        let own = try MemberCard(joining.tablet.record(name: "tablet"))
        let inviter = try joining.pair.laptop.record(name: "laptop")
        #expect(try ComparingWords.words(id(8), own, inviter: inviter).revealed().text == here)
        let other = try MemberKeys.generate()
        let words = try [
            ComparingWords.words(id(9), own, inviter: inviter).revealed().text,
            ComparingWords.words(id(8), MemberCard(other.record(name: "tablet")), inviter: inviter).revealed().text,
            ComparingWords.words(id(8), own, inviter: other.record(name: "laptop")).revealed().text,
        ]
        #expect(Set(words + [here]).count == 4)
    }

    @Test func `a flipped bit in any of the three messages is refused`() throws {
        let joining = try Joining()
        for bit in bits(joining.invitation.bytes) {
            let bytes = joining.invitation.bytes.flipped(bit)
            #expect(syncError { () throws(SyncError) in _ = try OpenedInvitation(bytes, under: joining.code) } != nil)
        }
        for bit in bits(joining.card.bytes) {
            let bytes = joining.card.bytes.flipped(bit)
            let error = syncError { () throws(SyncError) in
                _ = try OpenedCard(bytes, to: joining.invitation, group: joining.pair.group, under: joining.code)
            }
            #expect(error != nil, "bit \(bit)")
        }
        for bit in bits(joining.welcome.bytes) {
            let bytes = joining.welcome.bytes.flipped(bit)
            #expect(syncError { () throws(SyncError) in _ = try joining.open(bytes) } != nil, "bit \(bit)")
        }
    }

    @Test func `another code, or another invitation, opens nothing`() throws {
        let joining = try Joining()
        let wrong = try InvitationCode.entered(secret("expect melody network post fever close clip")).key(for: id(8))
        let invitation = syncError { () throws(SyncError) in
            _ = try OpenedInvitation(joining.invitation.bytes, under: wrong)
        }
        #expect(invitation == .notAuthentic("invitation"))
        let card = syncError { () throws(SyncError) in
            _ = try OpenedCard(joining.card.bytes, to: joining.invitation, group: joining.pair.group, under: wrong)
        }
        #expect(card == .notAuthentic("card"))
        let welcome = syncError { () throws(SyncError) in
            _ = try OpenedWelcome(
                joining.welcome.bytes, to: joining.invited, card: joining.card, under: wrong, with: joining.tablet)
        }
        #expect(welcome == .notAuthentic("welcome"))
        let same = try InvitationCode.entered(secret("EXPE melody  NETWORK post fever close gest")).key(for: id(9))
        let other = syncError { () throws(SyncError) in
            _ = try OpenedInvitation(joining.invitation.bytes, under: same)
        }
        #expect(other == .notAuthentic("invitation id"))
    }

    @Test func `whoever learns the code later opens no welcome`() throws {
        let joining = try Joining()
        let thief = try MemberKeys.generate()
        let error = syncError { () throws(SyncError) in
            _ = try OpenedWelcome(
                joining.welcome.bytes, to: joining.invited, card: joining.card, under: joining.code, with: thief)
        }
        #expect(error == .notAuthentic("welcome box"))
    }

    @Test func `a welcome of another member, for another card or another group is refused`() throws {
        let joining = try Joining()
        let other = try Joining()
        // A group of somebody else's who knows the code: the member of the invitation did not sign it.
        let stranger = syncError { () throws(SyncError) in
            _ = try OpenedWelcome(
                other.welcome.bytes, to: joining.invited, card: other.card, under: joining.code, with: joining.tablet)
        }
        #expect(stranger == .notAuthentic("welcome signature"))
        let card = syncError { () throws(SyncError) in _ = try joining.open(other.welcome.bytes) }
        #expect(card == .notAuthentic("welcome card"))
        // The member itself, to a roster that the new one is not in.
        let roster = syncError { () throws(SyncError) in
            _ = try OpenedWelcome.seal(
                joining.pair.first, joining.pair.key, joining.nameKey, to: joining.opened, under: joining.code,
                by: joining.pair.laptop)
        }
        #expect(roster == .notAuthentic("welcome roster"))
        // A key that the roster does not commit to.
        let key = try EpochKey.generate()
        let wrong = try OpenedWelcome.seal(
            joining.second, key, joining.nameKey, to: joining.opened, under: joining.code, by: joining.pair.laptop)
        #expect(syncError { () throws(SyncError) in _ = try joining.open(wrong.bytes) } == .notAuthentic("roster"))
    }

    @Test func `a card that answers another invitation is refused`() throws {
        let joining = try Joining()
        let again = try OpenedInvitation.seal(
            "laptop", joining.pair.first.roster, under: joining.code, by: joining.pair.laptop)
        let error = syncError { () throws(SyncError) in
            _ = try OpenedCard(joining.card.bytes, to: again, group: joining.pair.group, under: joining.code)
        }
        #expect(error == .notAuthentic("card invitation"))
        let kind = syncError { () throws(SyncError) in _ = try OpenedInvitation(joining.card.bytes, under: joining.code)
        }
        #expect(kind == .format(.invalid(field: "entry kind")))
    }

    @Test func `a code is seven words or sixteen bytes`() throws {
        let drawn = try InvitationCode.drawWords()
        let text = drawn.withBytes { $0.array }.text
        #expect(text.split(separator: " ").count == 7)
        let read = try InvitationCode.entered(secret(text.uppercased()))
        let same = read.withBytes { $0.array }.text
        #expect(same == text)
        let one = try drawn.key(for: id(1)).bytes.revealed()
        #expect(try read.key(for: id(1)).bytes.revealed() == one)
        #expect(try read.key(for: id(2)).bytes.revealed() != one)
        for wrong in ["expect melody network post fever close", "expect melody network post fever close wrongly", ""] {
            #expect(throws: RecoveryPhraseError.self) { _ = try InvitationCode.entered(secret(wrong)) }
        }
        let bytes = try InvitationCode.drawBytes()
        let count = bytes.withBytes { $0.byteCount }
        #expect(count == 16)
        #expect(throws: SyncError.format(.wrongSize)) { _ = try InvitationCode.scanned(secret(repeated(1, 15))) }
        let cheap = DerivationParameters(passes: 1, memoryKiB: 8)
        let error = syncError { () throws(SyncError) in _ = try bytes.key(for: id(1), costs: cheap) }
        #expect(error == .format(.derivationCostOutOfRange))
    }

    @Test func `garbage is no message of an invitation`() throws {
        let joining = try Joining()
        for size in [0, 128, 1024, 8192] {
            for seed in 0..<20 {
                let bytes = pattern(size, seed: UInt8(seed))
                let errors = [
                    syncError { () throws(SyncError) in _ = try OpenedInvitation(bytes, under: joining.code) },
                    syncError { () throws(SyncError) in
                        _ = try OpenedCard(bytes, to: joining.invitation, group: id(1), under: joining.code)
                    },
                    syncError { () throws(SyncError) in _ = try joining.open(bytes) },
                ]
                for error in errors {
                    #expect(error == .format(EntrySize.allowed.contains(size) ? .wrongMagic : .wrongSize))
                }
            }
        }
    }

    @Test func `a plain value has one id on every device`() throws {
        let one = try NameKey(secret(repeated(1, 32)))
        let other = try NameKey(secret(repeated(2, 32)))
        let ids = try [
            one.itemID(collection: "a", name: "bc"), one.itemID(collection: "ab", name: "c"),
            other.itemID(collection: "a", name: "bc"),
        ]
        #expect(Set(ids).count == 3)
        #expect(try one.itemID(collection: "a", name: "bc") == ids[0])
    }
}
