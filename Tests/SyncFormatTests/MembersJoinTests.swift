import SyncFormat
import TestSupport
import Testing
import VaultFormat

@Suite struct MembersJoinTests {
    private func written(_ bytes: [UInt8], _ write: (inout MutableRawSpan) -> Void) -> [UInt8] {
        var copy = repeated(0xFF, bytes.count)
        copy.lendForWriting { write(&$0) }
        return copy
    }

    @Test func `a card is as the document has it, and never a message of the protocol`() throws {
        let name = Array("phone".utf8)
        let member =
            repeated(7, 16) + [2] + repeated(7, 32) + [3] + repeated(7, 32) + little(UInt16(1)) + [5] + name
            + repeated(0, 59)
        let sample = Array("holdfast/1/sync-card\n".utf8) + [1] + repeated(0, 16) + member
        let card = try MemberCard(record(7, name: "phone"))
        #expect(card.encoded == sample && sample.count == MemberCard.size)
        #expect(try (sample + [0, 0]).lend { try MemberCard(parsing: $0) } == card)
        #expect(sample.first != UInt8(ascii: "{"))
        for (offset, byte, field) in [(21, UInt8(2), "card way" as StaticField), (22, 1, "card secret")] {
            var bytes = sample
            bytes[offset] = byte
            let error = formatError { () throws(FormatError) in
                _ = try bytes.lend { bytes throws(FormatError) in try MemberCard(parsing: bytes) }
            }
            #expect(error == .invalid(field: field))
        }
        let isSafe = checkGarbage(sample + repeated(0, 5)) { input in
            guard let card = input.lend({ try? MemberCard(parsing: $0) }) else { return nil }
            return written(input) { card.write(into: &$0) }
        }
        #expect(isSafe)
    }

    @Test func `an invitation names who invites`() throws {
        let body = InvitationBody(try record(7))
        let sample = written(repeated(0, 160)) { body.write(into: &$0) }
        #expect(try sample.lend { try InvitationBody(parsing: $0) } == body)
        let isSafe = checkGarbage(sample) { input in
            guard let body = input.lend({ try? InvitationBody(parsing: $0) }) else { return nil }
            return written(input) { body.write(into: &$0) }
        }
        #expect(isSafe)
    }

    @Test func `a welcome has two keys, a roster of a possible size, and earlier keys`() throws {
        let front = hash(1) + hash(2) + little(UInt32(4096))
        let sample = front + little(UInt16(1)) + repeated(3, 4096) + hash(4) + hash(5) + repeated(0, 7)
        let body = try sample.lend { try WelcomeBody(parsing: $0) }
        #expect(body.roster == 70..<4166 && WelcomeBody.size(roster: 4096, earlier: 1) == 4230)
        #expect(body.earlier.map(\.hash) == [4166..<4198] && body.earlier.map(\.key) == [4198..<4230])
        let many = front + little(UInt16(SyncLimits.removed + 1)) + repeated(3, 40_000)
        #expect(many.lend { try? WelcomeBody(parsing: $0) } == nil)
        for size in [UInt32(0), 1024, 4095, 4097, 32_768, .max] {
            let bytes = hash(1) + hash(2) + little(size) + repeated(0, 40_000)
            #expect(bytes.lend { try? WelcomeBody(parsing: $0) } == nil)
        }
        for count in [0, 63, 64, 67, 69, 70, 4165, 4166, 4229] {
            #expect(Array(sample.prefix(count)).lend { try? WelcomeBody(parsing: $0) } == nil)
        }
        #expect((sample + [1]).lend { try? WelcomeBody(parsing: $0) } == nil)
        var small = repeated(0, 4229)
        let error = formatError { () throws(FormatError) in
            try small.lendForWriting { (bytes: inout MutableRawSpan) throws(FormatError) in
                _ = try WelcomeBody(writing: 4096, earlier: 1, into: &bytes)
            }
        }
        #expect(error == .wrongSize)
    }

    @Test func `an invitation is good for one card, and for ten minutes`() {
        var progress = InvitationProgress(uptime: 1000)
        let early = progress.confirm(true, uptime: 1000)
        #expect(early == nil && progress.state == .waiting)
        progress.card(hash(1), uptime: 2000)
        progress.card(hash(1), uptime: 3000)
        #expect(progress.state == .compares(hash(1)))
        let card = progress.confirm(true, uptime: 600_999)
        #expect(card == hash(1) && progress.state == .welcomed)
        // One welcome, and nothing after it.
        let again = progress.confirm(true, uptime: 600_999)
        progress.card(hash(2), uptime: 600_999)
        #expect(again == nil && progress.state == .welcomed)
    }

    @Test func `a second card, words that differ, and time end an invitation`() {
        var second = InvitationProgress(uptime: 0)
        second.card(hash(1), uptime: 1)
        second.card(hash(2), uptime: 2)
        let none = second.confirm(true, uptime: 3)
        #expect(none == nil && second.state == .ended(.secondCard))
        var differ = InvitationProgress(uptime: 0)
        differ.card(hash(1), uptime: 1)
        let refused = differ.confirm(false, uptime: 2)
        #expect(refused == nil && differ.state == .ended(.refused))
        var late = InvitationProgress(uptime: 10)
        late.card(hash(1), uptime: 600_010)
        #expect(late.state == .ended(.late))
        var compared = InvitationProgress(uptime: 10)
        compared.card(hash(1), uptime: 11)
        let slow = compared.confirm(true, uptime: 600_010)
        #expect(slow == nil && compared.state == .ended(.late))
        var lying = InvitationProgress(uptime: 10)
        lying.expire(9)
        #expect(lying.state == .ended(.late))
    }
}
