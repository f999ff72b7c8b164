import Cryptography
import Foundation
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@testable import VaultSync

/// The values of vault-format.md 24, which were computed by other code, in another language.
@Suite struct EntriesExampleTests {
    private let values: [String: String]

    init() throws {
        // This file is <package root>/Tests/VaultSyncTests/EntriesExampleTests.swift.
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Docs/vault-format.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## 24. Sync").last)
        let examples = try #require(section.components(separatedBy: "**Examples.**").last)
        let block = try #require(examples.components(separatedBy: "```\n").dropFirst().first)
        var (values, name): ([String: String], String) = ([:], "")
        for line in block.split(separator: "\n") {
            if line.hasPrefix("    ") {
                values[name, default: ""] += line.dropFirst(4)
            } else if let sign = line.range(of: " =") {
                name = String(line[..<sign.lowerBound])
                values[name] = String(line[sign.upperBound...].drop { $0 == " " })
            }
        }
        self.values = values
    }

    private func text(_ name: String) throws -> String { try #require(values[name], "no value \(name)") }
    private func bytes(_ name: String) throws -> [UInt8] { hexBytes(try text(name)) }
    private func id<Named>(_ name: String) throws -> SyncID<Named> { try #require(SyncID<Named>(bytes(name))) }
    private func keys() throws -> MemberKeys { try MemberKeys(secret(bytes("member's scalars"))) }
    private func epoch() throws -> EpochKey { try EpochKey(secret(bytes("E"))) }

    @Test func `member and commitment are the document's`() throws {
        let record = try keys().record(name: "laptop")
        #expect(try record.id.bytes == bytes("member id"))
        let body = InvitationBody(record)
        var written = repeated(0xFF, 149)
        written.withMutable { body.write(into: &$0) }
        #expect(try written == bytes("member"))
        #expect(try epoch().commitment(id("group")).revealed() == bytes("commitment"))
    }

    @Test func `roster 1 is the document's`() throws {
        let keys = try keys()
        let epoch = try epoch()
        let sealed = try SealedRoster.seal(
            [keys.record(name: "laptop")], removed: [], group: id("group"), after: nil, key: epoch, by: keys,
            salt: bytes("salt"))
        let received = try ReceivedRoster(parsing: sealed.bytes)
        #expect(try received.front.encoded == bytes("roster front"))
        let key = try received.envelope.key(under: epoch.bytes).revealed()
        #expect(try key == bytes("roster key and nonce"))
        let boxed = try RosterBox.open(bytes("box"), with: keys, received.front)?.bytes.revealed()
        #expect(try boxed == bytes("E"))
    }

    @Test func `the entry is the document's`() throws {
        let keys = try keys()
        let epoch = try epoch()
        let record = try keys.record(name: "laptop")
        let received = try ReceivedEntry(parsing: bytes("entry"))
        let key = try received.envelope.key(under: epoch.bytes).revealed()
        #expect(try key == bytes("entry key and nonce"))
        let signed = try received.signed(by: SyncSigners([record]))
        #expect(try signed.head.hash == bytes("entry hash"))
        guard case .next(let verified) = try signed.judged(by: StreamReader(id("stream"))) else {
            return #expect(Bool(false), "not next")
        }
        let opened = try verified.open(with: epoch)
        let (contents, change) = (opened.contents, opened.withChange(0) { $0.array })
        #expect(contents.member == record.id && contents.time == 1000 && change == Array("change".utf8))
        let other = try #require(StreamID(Array(0xB0...0xBF)))
        #expect(contents.heads == [StreamHead(stream: other, number: 7, hash: Array(0xC0...0xDF))])
        #expect(contents.wants == [.entries(other, from: 8)])
        // Written here it has the same bytes, up to the signature.
        var draft = EntryDraft(contents)
        let isAdded = try change.withRaw { change throws(SyncError) in try draft.add(change) }
        let sealed = try draft.seal(received.front, with: epoch, by: keys)
        #expect(isAdded && sealed.bytes.dropLast(64) == received.bytes.dropLast(64))
        let plaintext = try received.envelope.open(under: epoch.bytes, "entry").revealed()
        let body = try bytes("entry body")
        #expect(Array(plaintext.prefix(body.count)) == body)
    }

    @Test func `the piece is the document's`() throws {
        let key = try epoch().pieceKey(id("group"))
        let content = (0..<33).flatMap { _ in (UInt8.min...UInt8.max).map { $0 } }
        let (name, sealed) = try content.withRaw { try key.seal($0) }
        #expect(try name == bytes("piece id"))
        #expect(try sealed.lend { BLAKE3.hash($0).bytes } == bytes("piece hash"))
        let list = try content.withRaw { try key.list(of: $0) }.revealed()
        #expect(try list == bytes("piece list") && Array(list.prefix(32)) == bytes("P"))
    }

    @Test func `code, card and words are the document's`() throws {
        let invitation: InvitationID = try id("invitation")
        let costs = DerivationParameters(passes: 1, memoryKiB: 64)
        let code = try InvitationCode.entered(secret(text("code"))).key(for: invitation, costs: costs)
        #expect(try code.bytes.revealed() == bytes("code key"))
        let record = try keys().record(name: "laptop")
        let card = MemberCard(record)
        #expect(try card.encoded == bytes("card"))
        let front = try EntryFront(
            kind: .card, group: id("group"), epoch: 1, stream: invitation.stream, number: 2,
            before: Array(0xC0...0xDF), salt: bytes("salt"), rosterMark: repeated(0, 8))
        let plaintext = try SecretBytes(zeroed: 1024 - EntrySize.overhead)
        let keys = try keys()
        let envelope = try plaintext.withBytes { plaintext in
            try Envelope(sealing: plaintext, front, under: code.bytes, by: keys)
        }
        #expect(try envelope.key(under: code.bytes).revealed() == bytes("card key and nonce"))
        let words = try ComparingWords.words(invitation, card, inviter: record).revealed().text
        #expect(try words == text("six words"))
        let names = try NameKey(secret(bytes("name key")))
        #expect(try names.itemID(collection: "default", name: "é").bytes == bytes("id of plain value"))
    }
}

extension [UInt8] {
    fileprivate mutating func withMutable(_ body: (inout MutableRawSpan) -> Void) {
        var elements = mutableSpan
        var bytes = unsafe elements.mutableBytes
        body(&bytes)
    }
}
