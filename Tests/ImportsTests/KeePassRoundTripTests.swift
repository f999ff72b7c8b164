import Items
import SecretMemory
import SeededNumbers
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// What is written for KeePass comes back as it was.
@Suite(.seeded) struct KeePassRoundTripTests {
    private static let labels = [
        "username", "password", "website", "Password", "URL", "Title", "Notes", "otp", "expires", "TOTP Seed", "PIN",
        "PIN",
        "KP2A_URL", "holdfast.path", "caf\u{E9}", " x ", "a%20b", "\u{FFFE}", "UserName", "50% off", "file",
    ]
    private static let values = [
        "", "plain", "two\nlines\r\n", " space ", "{USERNAME}", "{REF:P@T:x}", "cmd://run", "<&>\"'", "a\u{0}b",
        "\u{FFFF}",
        "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&image=y", "caf\u{E9}\u{85}", "]]>", "{abc}",
    ]

    private func add(to item: inout Item, _ numbers: inout SeededGenerator) throws {
        let label = KeePassRoundTripTests.labels.randomElement(using: &numbers) ?? "x"
        let value = KeePassRoundTripTests.values.randomElement(using: &numbers) ?? "x"
        switch Int.random(in: 0...8, using: &numbers) {
        case 0...1: try item.add(.text, label, secret(value))
        case 2...3: try item.add(.secret, label, secret(Array(value.utf8) + (value.isEmpty ? [255] : [])))
        case 4: try item.add(.url, label, secret("https://a.example/" + value))
        case 5:
            let text = ["totp/?secret=JBSWY3DPEHPK3PXP", "hotp/?secret=JBSWY3DPEHPK3PXP&counter=1"].randomElement(
                using: &numbers)
            try item.add(.oneTimeCode, label, secret("otpauth://" + (text ?? "")))
        case 6:
            let date = ["2031-12-24", "2031-12", "2031-02-31", "0000-01-01", "0001-01-01"].randomElement(
                using: &numbers)
            try item.add(.date, Bool.random(using: &numbers) ? "expires" : label, secret(date ?? "2031-12"))
        case 7:
            let name = ["a.bin", "a.bin", "b", "\u{FFFE}.txt", "PIN.bin"].randomElement(using: &numbers) ?? "c"
            try secret(value).withBytes { try item.addFile("file", name: name, content: $0) }
        default: try item.add(FieldKind(rawValue: 200), label, secret([0xEF, 0xBF, 0xBF, 1]))
        }
    }

    private func item(_ numbers: inout SeededGenerator) throws -> Item {
        let kinds: [ItemKind] = [
            .login, .note, .card, .identity, .sshKey, .oneTimeCode, .file, .value, ItemKind(rawValue: 77),
        ]
        var item = try Item(
            kinds.randomElement(using: &numbers) ?? .login,
            now: .random(in: -5_000...1_800_000_000_000, using: &numbers))
        for _ in 0..<Int.random(in: 0...8, using: &numbers) { try add(to: &item, &numbers) }
        for _ in 0..<Int.random(in: 0...5, using: &numbers) {
            guard let field = item.fields.randomElement(using: &numbers) else { break }
            if Bool.random(using: &numbers) {
                try item.remove(field)
            } else if field.kind != .file, field.kind != .date {
                let prefix = field.kind == .oneTimeCode ? "otpauth://" : ""
                try item.set(
                    field, secret(prefix + (KeePassRoundTripTests.values.randomElement(using: &numbers) ?? "")))
            }
        }
        for tag in ["a;b", "work", "x,y", "caf\u{E9} au lait", "a"] where Bool.random(using: &numbers) {
            try item.addTag(tag)
        }
        if Bool.random(using: &numbers) {
            try item.setNotes(secret(["one\r\ntwo", "{TITLE}", " ", "n"].randomElement(using: &numbers) ?? "n"))
        }
        item.isFavourite = Bool.random(using: &numbers)
        item.touch(.random(in: 0...1_800_000_000_000, using: &numbers))
        return item
    }

    /// All of it as texts, to be compared.
    private func described(_ item: borrowing Item) -> [String] {
        func hex(_ bytes: RawSpan) -> String {
            bytes.array.text + " " + bytes.array.map { String($0, radix: 16) }.joined()
        }
        var all = ["kind \(item.kind.rawValue) \(item.isFavourite) \(item.created) \(item.modified)"]
        all += item.tags.map { "tag " + $0 }
        for field in item.fields {
            all.append("field \(field.kind.rawValue) \(field.label) " + item.withValue(of: field) { hex($0) })
        }
        for earlier in item.history {
            all.append(
                "earlier \(earlier.kind.rawValue) \(earlier.label) \(earlier.replaced) "
                    + item.withValue(of: earlier) { hex($0) })
        }
        all.append(item.withNotes { "notes " + hex($0) } ?? "no notes")
        return all
    }

    private func sealed(_ root: KDBXGroup) throws -> SecretBytes {
        var export = try KDBXExport(title: "t")
        try export.append(root)
        var settings = KDBXExport.Settings()
        settings.aesRounds = 1
        return try export.seal(password: secret("pw"), settings: settings)
    }

    @Test func `items of all kinds come back with everything`() throws {
        var numbers = TestRun.generator("KeePass round trip")
        for _ in 0..<TestRun.count(test: 20, check: 100, soak: 2000) {
            let root = KDBXGroup()
            var before: [String: [String]] = [:]
            for number in 0..<8 {
                let item = try item(&numbers)
                let name =
                    ["g/{TITLE} \(number)", "x \(number)", "a/b/c \(number)"].randomElement(using: &numbers) ?? ""
                before[name] = described(item)
                root.add(EntryPath(name: name), item)
            }
            let read = try KDBXImport.read(sealed(root), password: secret("pw"), keyFile: nil)
            #expect(read.notes.isEmpty, "\(read.notes)")
            #expect(read.items.count == before.count)
            for item in read.items {
                let (old, new) = (before[item.origin?.name ?? item.name] ?? [], described(item.item))
                #expect(
                    old == new,
                    "\(item.name): \(old.filter { !new.contains($0) }) became \(new.filter { !old.contains($0) })")
            }
        }
    }

    @Test func `what was changed in KeePass since is as it is there`() throws {
        var item = try Item(.card, now: 1_700_000_000_123)
        try item.add(.date, "expires", secret("2031-12"))
        try item.add(.secret, "PIN", secret("1"))
        try item.add(.text, "gone", secret("1"))
        try item.addTag("a;b")
        item.isFavourite = true
        let root = KDBXGroup()
        root.add(EntryPath(name: "card"), item)
        var export = try KDBXExport(title: "t")
        try export.append(root)
        let xml = export.xml.withBytes { $0.array.text } + "</Group></Root></KeePassFile>"
        var changed = xml.replacing("<Value ProtectInMemory=\"True\">1<", with: "<Value ProtectInMemory=\"True\">2<")
            .replacing("<String><Key>gone</Key><Value>1</Value></String>", with: KeePassSample.string("new", "3"))
            .replacing("<Tags>a;b</Tags>", with: "<Tags>a;c</Tags>")
        let expiry = try #require(changed.firstRange(of: "<ExpiryTime>"))
        let end = try #require(changed.firstRange(of: "</ExpiryTime>"))
        changed.replaceSubrange(expiry.upperBound..<end.lowerBound, with: "2032-01-05T00:00:00Z")
        let read = try KeePassTree.read(export: secret(changed))
        let found = try #require(read.items.first)
        #expect(read.notes.isEmpty && found.item.kind == .card && found.item.isFavourite)
        #expect(found.item.fields.map(\.label) == ["expires", "PIN", "new"] && found.item.tags == ["a", "c"])
        #expect(
            found.text("expires") == "2032-01-05" && found.text("PIN") == "2" && found.item.created == 1_700_000_000_123
        )
        let without = xml.replacing("<Expires>True", with: "<Expires>False")
        #expect(try KeePassTree.read(export: secret(without)).items[0].text("expires") == nil)
    }

    @Test func `a file that is too large for an item is an attachment`() throws {
        let root = KDBXGroup()
        var content = SecretBuffer()
        let large = [UInt8](repeating: 7, count: 2 << 20)
        try unsafe content.append(large.span.bytes)
        root.add(EntryPath(name: "scans/big.pdf"), try Item(.file), KDBXGroup.Attachment("big.pdf", content))
        var export = try KDBXExport(title: "t")
        try export.append(root)
        #expect(export.files.count == 1 && export.files[0].count == 2 << 20)
        #expect(export.xml.withBytes { $0.array.text }.contains("<Key>big.pdf</Key><Value Ref=\"0\"/>"))
    }
}
