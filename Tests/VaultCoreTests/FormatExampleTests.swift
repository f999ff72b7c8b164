import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing

@testable import OpenStorage
@testable import VaultCore
@testable import VaultHeader
@testable import VaultFormat
@testable import VaultLog
@testable import VaultStorage

/// The values of vault-format.md 19, which were computed with the code of `holdfast_decrypt.py`.
@Suite struct FormatExampleTests {
    private let example: Example

    init() throws { example = try Example() }

    private func slot() throws -> Slot { try Slot(parsing: example["passcode slot"]) }

    private func keys() throws -> UnlockedKeys {
        let vault = try #require(VaultID(bytes: example["vault id"]))
        let header = try Header(
            vault: vault, generation: 1, created: 1, epoch: 1, policy: .standard,
            sealedKeybag: example["sealed keybag"], slots: [])
        let headerKeys = try HeaderKeys(master: secret(example["master key"]), vault: vault)
        let keybag = try Keybag(opened: headerKeys.openKeybag(of: header))
        let admission = Admission(.keyBound, policy: [:], settings: [:])
        return try UnlockedKeys(header: header, headerKeys: headerKeys, keybag: keybag, admission: admission)
    }

    @Test func passcodeOpensTheSlot() throws {
        let vault = try #require(VaultID(bytes: example["vault id"]))
        let slot = try slot()
        #expect(try slot.salt == example["slot salt"])
        let factor = try SlotKey.stretch(secret(example["passcode"]), for: slot)
        #expect(try factor.withBytes { $0.array } == example["A"])
        #expect(try SlotKey.repeatTag(factor: factor, slot: slot).withBytes { $0.array } == example["repeat tag"])
        #expect(try VaultPolicy.standard.digest() == example["policy digest"])
        let key = try SlotKey(factor: factor, slot: slot)
        let isRight = key.matches(slot)
        #expect(try isRight && slot.commitment == example["C"])
        let master = try key.unwrap(slot, vault: vault, policyDigest: example["policy digest"])
        #expect(try master.withBytes { $0.array } == example["master key"])
    }

    @Test func phraseGivesItsFactor() throws {
        let vault = try #require(VaultID(bytes: example["vault id"]))
        let phrase = try RecoveryPhrase(parsing: secret(example.words))
        let factor = try SlotKey.expand(phrase, vault: vault)
        #expect(try factor.withBytes { $0.array } == example["A of the phrase"])
        let slot = try Slot(
            id: 2, kind: .recoveryPhrase, flags: [], derivation: nil, salt: example["slot salt"],
            commitment: example["C of the phrase"])
        let isRight = try SlotKey(factor: factor, slot: slot).matches(slot)
        #expect(isRight)
    }

    @Test func `a device's slot opens with its share and nothing else`() throws {
        let vault = try #require(VaultID(bytes: example["vault id"]))
        let slot = try Slot(parsing: example["device slot"])
        #expect(try slot.kind == .device && slot.shareItem?.encoded == example["device item"])
        #expect(try slot.commitment == example["device C"])
        let nothing = try SecretBytes(zeroed: 32)
        let share = try secret(example["device share"])
        let key = try SlotKey(factor: nothing, slot: slot, share: share)
        let master = try key.unwrap(slot, vault: vault, policyDigest: example["policy digest"])
        #expect(try master.withBytes { $0.array } == example["master key"])
        let other = try SlotKey(factor: nothing, slot: slot, share: secret([UInt8](repeating: 1, count: 32)))
        let isOther = other.matches(slot)
        #expect(!isOther)
    }

    @Test func `the note of a move has a tag of each master key`() throws {
        let vault = try #require(VaultID(bytes: example["vault id"]))
        let parsed = try PendingNote.parse(example["pending"])
        #expect(parsed.note.move == PendingNote.Move(from: .device, to: .owner))
        #expect(try parsed.note.leaving.map(\.encoded) == [example["device item"]])
        #expect(try parsed.note.coming.map(\.encoded) == [example["owner item"]])
        for (name, tag) in zip(["master key", "new master key"], parsed.tags) {
            let keys = try HeaderKeys(master: secret(example[name]), vault: vault)
            #expect(try keys.noteKey.tag(parsed.covered) == tag, "\(name)")
        }
        let data = try OwnerSlotData(parsing: example["owner data"])
        #expect(data.enrollment == "left-index-finger\nright-thumb")
        #expect(try data.item.encoded == example["owner item"])
        var creation = PendingNote()
        creation.coming = parsed.note.leaving
        let covered = Array("holdfast/1/pending".utf8) + creation.covered
        let tag = try unsafe HMACSHA256.authenticate(covered.span.bytes, key: secret(example["device share"])).bytes
        #expect(try tag == example["creation tag"])
    }

    @Test func `a policy that asks nobody and a floor are the document's bytes`() throws {
        var policy = VaultPolicy.standard
        policy.fallback = .nobody
        #expect(try policy.encoded() == example["policy of nobody"])
        var silent = VaultPolicy.standard
        silent.remembersPasscode = false
        #expect(try silent.encoded() == example["policy that remembers nothing"])
        let vault = try #require(VaultID(bytes: example["vault id"]))
        #expect(try LevelFloor(vault, .owner).encoded == example["floor"])
    }

    @Test func masterKeyAuthenticatesTheHeader() throws {
        let vault = try #require(VaultID(bytes: example["vault id"]))
        let keys = try HeaderKeys(master: secret(example["master key"]), vault: vault)
        #expect(try keys.mac(Array("abc".utf8)) == example["MAC of \"abc\""])
    }

    @Test func keybagOpensTheRecord() throws {
        let keys = try keys()
        let lookup = try keys.current.lookupKey(collection: "default", name: "é")
        #expect(try lookup.bytes == example["lookup key"])
        var cipher = try RecordCipher(keys.records)
        let record = try example["record"]
        let size = try record.withRawSpan { record in try lookup.withBytes { try cipher.open(record, lookupKey: $0) } }
        let plaintext = cipher.withPlaintext(size) { $0.array }
        let fields = try plaintext.withRawSpan { bytes throws(FormatError) in try RecordFields(parsing: bytes) }
        #expect(fields.sequence == 7 && fields.created == 1000 && fields.modified == 2000 && fields.kind == .inline)
        #expect(String(decoding: plaintext[32...], as: UTF8.self) == "defaultévalue")

        let term = try keys.current.term(lookupKey: lookup, sequence: 7)
        #expect(try term == example["term"].withRawSpan { Sum256($0) })
        let rootValue = try example["root record"]
        let rootSize = try rootValue.withRawSpan { try cipher.openRoot($0) }
        let root = try cipher.withPlaintext(rootSize) { bytes throws(FormatError) in try RootRecord(parsing: bytes) }
        #expect(root.count == 1 && root.nextSequence == 8 && root.sum == term)
        #expect(root.transaction == 3 && root.seals == 4 && rootValue.suffix(8) == [3, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test func keybagOpensTheFile() throws {
        let fileKey = Array(0xC0...0xDF) as [UInt8]
        let key = try keys().current
        let content = try fileKey.withRawSpan { try key.contentKey(fileKey: $0, id: Array(0xE0...0xEF)) }
        let file = try example["file"]
        #expect(Array(file.prefix(8)) == FileFormat.magic)
        var nonce = [UInt8](repeating: 0, count: 12)
        nonce.withMutableRawSpan { FileFormat.writeNonce(chunk: 0, isLast: true, into: &$0) }
        var plaintext = [UInt8](repeating: 0, count: file.count - 8 - 16)
        var cipher = try AES256GCM(key: content)
        let sealed = Array(file[8...])
        let empty: [UInt8] = []
        try plaintext.withMutableRawSpan { output in
            try unsafe cipher.open(
                sealed.span.bytes, nonce: nonce.span.bytes, authenticating: empty.span.bytes, into: &output)
        }
        #expect(plaintext == Array("content".utf8))
    }

    /// The values of vault-format.md 21.
    @Test func logKeyOpensTheEntry() throws {
        let log = try Example("## 21. Security log\n", block: 2)
        let vault = try #require(VaultID(bytes: example["vault id"]))
        let front = try LogFront(parsing: log["log front"], checksum: HeaderFile.checksum)
        #expect(front.vault == vault && front.first == 0 && front.chain.bytes == Array(0xF0...0xFF))
        let keys = try LogEpochKey(secret(Array(0xC0...0xDF)), epoch: front.epoch, vault: vault)
        #expect(try front.epoch == 1 && keys.recipient.point == log["log public key"])
        var key = try keys.first(of: front.chain)
        #expect(try key.withBytes { $0.array } == log["log K(0)"])
        let slot = try log["log entry"]
        let isProved = slot.withRawSpan { key.proves($0, at: 0, vault: vault, chain: front.chain) }
        #expect(isProved)
        let entry = slot.withRawSpan { keys.open($0, at: 0, chain: front.chain) }
        let moment = LogMoment(time: 1000, bootID: [UInt8](repeating: 0, count: 16), bootMilliseconds: 5)
        #expect(entry == LogEntry(moment: moment, event: .created))
        try key.evolve()
        #expect(try key.withBytes { $0.array } == log["log K(1)"])
    }
}

/// The values of vault-format.md 20, computed in the same way.
@Suite struct OpenFormatExampleTests {
    private let example: Example
    private let vault: VaultID

    init() throws {
        vault = try #require(try VaultID(bytes: Example()["vault id"]))
        example = try Example("**Example values**")
    }

    @Test func theKeyOpensTheRecord() throws {
        let file = try example["open.key"]
        let hasKey = try file.withRawSpan { file throws(FormatError) in
            try OpenKeyFile.check(file, vault: vault, checksum: HeaderFile.checksum)
        }
        #expect(try hasKey && Array(file[OpenKeyFile.keyRange]) == example["open key"])
        let keys = try RecordKeys(openKey: secret(example["open key"]), vault: vault)
        #expect(try keys.domain.bytes == example["domain"])
        #expect(try keys.current.records.withBytes { $0.array } == example["records key"])
        #expect(try keys.current.names.withBytes { $0.array } == example["names key"])
        let lookup = try keys.current.lookupKey(collection: "default", name: "é")
        #expect(try lookup.bytes == example["lookup key"])
        var cipher = try RecordCipher(keys)
        let record = try example["record"]
        let size = try record.withRawSpan { record in try lookup.withBytes { try cipher.open(record, lookupKey: $0) } }
        let plaintext = cipher.withPlaintext(size) { $0.array }
        let fields = try plaintext.withRawSpan { bytes throws(FormatError) in try RecordFields(parsing: bytes) }
        #expect(fields.sequence == 7 && fields.created == 1000 && fields.modified == 2000 && fields.origin == .open)
        #expect(String(decoding: plaintext[32...], as: UTF8.self) == "defaultévalue")
        let term = record.withRawSpan { OpenContents.term(lookup, $0) }
        #expect(try term == example["identity"].withRawSpan { Sum256($0) })
    }

    @Test func theSeedOpensTheSealedItem() throws {
        let key = try InboxKey(seed: secret(example["seed"]), vault: vault)
        #expect(try key.privateKey.scalar().withBytes { $0.array } == example["private key"])
        #expect(try key.privateKey.publicKey.compressed == example["public key"])
        let file = try OpenPublicKeyFile(parsing: example["open.pub"], checksum: HeaderFile.checksum)
        #expect(try file.vault == vault && file.epoch == 1 && file.point == example["public key"])
        #expect(try file.tag == example["tag"] && InboxKey.tag(file, seed: secret(example["seed"])).bytes == file.tag)
        let shared = try key.privateKey.sharedSecret(
            with: example["ephemeral public key"].withRawSpan { point throws(CryptographyError) in
                try P256PublicKey(compressed: point)
            })
        #expect(try shared.withBytes { $0.array } == example["shared x"])
        let item = try example["sealed item"]
        let opened = try item.withRawSpan { item throws(VaultError) in
            try SealedItem.open(item, with: key, vault: vault)
        }
        let plaintext = opened.withBytes { $0.array }
        let fields = try plaintext.withRawSpan { bytes throws(FormatError) in try RecordFields(parsing: bytes) }
        #expect(fields.sequence == 0 && fields.created == 1000 && fields.modified == 1000 && fields.kind == .inline)
        #expect(String(decoding: plaintext[32...], as: UTF8.self) == "defaultévalue")
        // And the same bytes are sealed with the same ephemeral key.
        let ephemeral = try P256PrivateKey(scalar: secret(example["ephemeral private key"]))
        let associated = vault.bytes + Array("inbox".utf8) + [1, 0, 0, 0, 1, 0, 0, 0]
        let empty: [UInt8] = []
        let box = try unsafe P256SealedBox.seal(
            plaintext.span.bytes, empty.span.bytes, to: key.privateKey.publicKey, context: vault.bytes.span.bytes,
            authenticating: associated.span.bytes, with: ephemeral)
        #expect(box == Array(item[4...]))
        let record = try #require(RecordName(collection: "default", name: "é"))
        #expect(try RecordLabel(record: record, wasSealed: true).encoded == example["label"])
    }
}

/// A block of values in the document.
private struct Example {
    private var values: [String: String] = [:]

    /// - Parameters:
    ///   - heading: What the values stand below.
    ///   - block: Which of the section's blocks.
    init(_ heading: String = "## 19. Example values", block number: Int = 1) throws {
        // This file is <package root>/Tests/VaultCoreTests/FormatExampleTests.swift.
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Docs/vault-format.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: heading).last)
        let block = try #require(section.components(separatedBy: "```\n").dropFirst(2 * number - 1).first)
        var name = ""
        for line in block.split(separator: "\n") {
            if line.hasPrefix("    ") {
                values[name, default: ""] += (name == "phrase" ? " " : "") + line.dropFirst(4)
            } else if let sign = line.range(of: " =") {
                name = String(line[..<sign.lowerBound])
                values[name] = String(line[sign.upperBound...].drop { $0 == " " })
            }
        }
    }

    subscript(name: String) -> [UInt8] {
        get throws { try #require(values[name].flatMap { Hexadecimal.decode($0) }, "no value \(name)") }
    }

    var words: String {
        get throws { try #require(values["phrase"]) }
    }
}
