import SyncFormat
import TestSupport
import Testing
import VaultFormat

/// A member as the document has it: 149 bytes.
func record(_ byte: UInt8, name: String = "laptop") throws(FormatError) -> MemberRecord {
    try MemberRecord(
        id: id(byte), signingKey: [2] + repeated(byte, 32), boxKey: [3] + repeated(byte, 32), format: 1, name: name)
}

@Suite struct MembersRosterTests {
    private var body: RosterBody {
        get throws(FormatError) {
            try RosterBody(
                commitment: hash(9), author: id(1), members: [record(1), record(2, name: "Telefon ä")],
                removed: [
                    RemovedRecord(id(3), last: nil),
                    RemovedRecord(id(4), last: StreamHead(stream: id(5), number: 7, hash: hash(6))),
                    RemovedRecord(id(4), last: StreamHead(stream: id(6), number: 8, hash: hash(7))),
                ])
        }
    }

    /// By the document.
    private var sample: [UInt8] {
        func member(_ byte: UInt8, _ name: String) -> [UInt8] {
            let name = Array(name.utf8)
            return repeated(byte, 16) + [2] + repeated(byte, 32) + [3] + repeated(byte, 32) + little(UInt16(1))
                + [UInt8(name.count)] + name + repeated(0, 64 - name.count)
        }
        let removed =
            repeated(3, 16) + repeated(0, 56) + repeated(4, 16) + repeated(5, 16) + little(UInt64(7)) + hash(6)
            + repeated(4, 16) + repeated(6, 16) + little(UInt64(8)) + hash(7)
        return hash(9) + repeated(1, 16) + [2, 3] + member(1, "laptop") + member(2, "Telefon ä") + removed
            + repeated(0, 10)
    }

    private func rewritten(_ bytes: [UInt8]) -> [UInt8]? {
        guard let body = bytes.lend({ try? RosterBody(parsing: $0) }) else { return nil }
        var copy = repeated(0xFF, bytes.count)
        copy.lendForWriting { body.write(into: &$0) }
        return copy
    }

    @Test func `a roster is read as the document has it, and written the same`() throws {
        let body = try body
        #expect(try sample.lend { try RosterBody(parsing: $0) } == body)
        #expect(rewritten(sample) == sample)
        #expect(body.size == sample.count - 10)
    }

    @Test func `what no writer writes is refused`() throws {
        func error(_ change: (inout [UInt8]) -> Void) -> FormatError? {
            var bytes = sample
            change(&bytes)
            return formatError { () throws(FormatError) in
                _ = try bytes.lend { bytes throws(FormatError) in try RosterBody(parsing: bytes) }
            }
        }
        #expect(error { $0[48] = 0 } == .invalid(field: "roster members"))
        #expect(error { $0[48] = 33 } == .invalid(field: "roster members"))
        #expect(error { $0[49] = 113 } == .invalid(field: "roster removed"))
        // Who is twice there, or removed too; an author that is nowhere; another order.
        #expect(error { $0.replaceSubrange(199..<215, with: repeated(1, 16)) } == .invalid(field: "roster members"))
        #expect(error { $0.replaceSubrange(199..<215, with: repeated(0, 16)) } == .invalid(field: "roster members"))
        #expect(error { $0.replaceSubrange(348..<364, with: repeated(2, 16)) } == .invalid(field: "roster removed"))
        #expect(error { $0.replaceSubrange(32..<48, with: repeated(8, 16)) } == .invalid(field: "roster author"))
        #expect(error { $0.replaceSubrange(348..<364, with: repeated(4, 16)) } == .invalid(field: "roster removed"))
        // A key that is no point, a version 0, and names: empty, too long, with something behind, no UTF-8, a newline.
        #expect(error { $0[66] = 4 } == .invalid(field: "member key"))
        #expect(error { $0[132] = 0 } == .invalid(field: "member format"))
        #expect(error { $0.replaceSubrange(134..<141, with: repeated(0, 7)) } == .invalid(field: "member name"))
        #expect(error { $0[134] = 65 } == .invalid(field: "member name"))
        #expect(error { $0[141] = 1 } == .invalid(field: "member name"))
        #expect(error { $0[135] = 0xFF } == .invalid(field: "member name"))
        #expect(error { $0[135] = 0x0A } == .invalid(field: "member name"))
        #expect(error { $0[$0.count - 1] = 1 } == .invalid(field: "roster padding"))
        #expect(error { $0[396] = 0 } == nil)
        #expect(error { $0.replaceSubrange(452..<460, with: repeated(0, 8)) } == .invalid(field: "roster removed"))
    }

    @Test func `garbage is no roster, or its own bytes`() { #expect(checkGarbage(sample, rewritten)) }

    @Test func `a roster has one of three sizes, by its members and what was removed`() throws {
        func size(_ members: Int, _ removed: Int) throws -> Int? {
            let gone = (0..<removed).map { RemovedRecord(id(UInt8(100 + $0)), last: nil) }
            let body = try RosterBody(
                commitment: hash(1), author: id(1), members: (1...members).map { try record(UInt8($0)) },
                removed: gone)
            return RosterSize.fitting(body)
        }
        #expect(try size(1, 0) == 4096 && size(8, 0) == 4096 && size(8, 27) == 4096)
        #expect(try size(9, 0) == 8192 && size(8, 28) == 8192 && size(1, 43) == 8192 && size(16, 59) == 8192)
        #expect(try size(17, 0) == 16_384 && size(32, 112) == 16_384)
        #expect(
            [1024, 2048, 4096, 8192, 16_384, 32_768].map { RosterSize.boxes(in: $0) } == [nil, nil, 8, 16, 32, nil])
    }

    @Test func `what counts of a removed member is up to a head, or nothing`() throws {
        let roster = Roster(group: id(1), number: 2, before: hash(1), hash: hash(2), body: try body)
        #expect(roster.lastCounted(of: id(1), id(5)) == nil)
        #expect(roster.lastCounted(of: id(4), id(5)) == 7 && roster.lastCounted(of: id(4), id(6)) == 8)
        #expect(roster.lastCounted(of: id(4), id(9)) == 0 && roster.lastCounted(of: id(3), id(5)) == 0)
    }
}
