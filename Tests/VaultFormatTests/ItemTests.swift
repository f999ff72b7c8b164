import TestSupport
import Testing
import VaultFormat

/// An item's bytes as Docs/items.md says, written without the code under test.
enum ItemSample {
    static let front: [UInt8] =
        [1, 1, 1, 0] + Array(0x10...0x1F) + little(Int64(-5)) + little(Int64(1_700_000_000_456))

    static func entry(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + little(UInt32(content.count)) + content }

    static func field(_ kind: UInt8, _ label: String, _ value: [UInt8]) -> [UInt8] {
        [kind, 0] + counted(Array(label.utf8)) + value
    }

    static let notes = Array("Übung\nzwei".utf8)
    static let bytes: [UInt8] =
        front + entry(1, field(1, "username", Array("ada".utf8))) + entry(1, field(2, "password", [0xFF, 0, 1]))
        + entry(1, field(3, "website", Array("https://example.org".utf8)))
        + entry(1, field(4, "code", Array("otpauth://totp/x?secret=AA".utf8)))
        + entry(1, field(5, "valid until", Array("2031-12".utf8)))
        + entry(1, field(6, "scan", counted(Array("pass.pdf".utf8)) + [1, 2, 3])) + entry(1, field(77, "later", [9]))
        + entry(2, Array("home".utf8)) + entry(2, Array("work".utf8)) + entry(3, notes)
        + entry(4, little(Int64(7)) + little(Int64(8)) + counted(Array("logins/mail".utf8)))
        + entry(5, little(Int64(6)) + field(2, "password", Array("old".utf8))) + entry(200, [1, 2])

    /// Written anew from what was parsed, entry by entry.
    static func rewritten(_ bytes: [UInt8], _ layout: ItemLayout) -> [UInt8] {
        bytes.lend { span in
            var output = repeated(0xEE, bytes.count)
            var offset = ItemLayout.frontSize
            output.lendForWriting { target in
                layout.front.write(into: &target)
                for field in layout.fields {
                    offset = ItemEntry.field(field.kind, label: span.text(field.label))
                        .write(span.extracting(field.value), into: &target, at: offset)
                }
                let nothing = span.extracting(0..<0)
                for tag in layout.tags {
                    offset = ItemEntry.tag(span.text(tag)).write(nothing, into: &target, at: offset)
                }
                if let notes = layout.notes {
                    offset = ItemEntry.notes.write(span.extracting(notes), into: &target, at: offset)
                }
                if let trash = layout.trash {
                    offset = ItemEntry.trash(moved: trash.moved, expires: trash.expires, name: span.text(trash.name))
                        .write(nothing, into: &target, at: offset)
                }
                for earlier in layout.history {
                    let (kind, label) = (earlier.field.kind, span.text(earlier.field.label))
                    offset = ItemEntry.earlier(replaced: earlier.replaced, kind, label: label)
                        .write(span.extracting(earlier.field.value), into: &target, at: offset)
                }
                for entry in layout.entries where entry.tag > ItemLayout.Tag.earlier {
                    target.store(span.extracting(entry.whole), at: offset)
                    offset += entry.whole.count
                }
            }
            return Array(output.prefix(offset))
        }
    }
}

@Suite(.seeded) struct ItemTests {
    private func parse(_ bytes: [UInt8]) throws(FormatError) -> ItemLayout {
        try bytes.lend { bytes throws(FormatError) in try ItemLayout(parsing: bytes) }
    }

    private func error(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try parse(bytes) }
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: ItemSample.bytes[range], as: UTF8.self) }

    @Test func `an item is read as the document says`() throws {
        let layout = try parse(ItemSample.bytes)
        #expect(layout.front.kind == .login && layout.front.isFavourite)
        #expect(layout.front.id == ItemID(Array(0x10...0x1F)))
        #expect(layout.front.id.description == "101112131415161718191a1b1c1d1e1f")
        #expect(layout.front.created == -5 && layout.front.modified == 1_700_000_000_456)
        #expect(
            layout.fields.map(\.kind) == [.text, .secret, .url, .oneTimeCode, .date, .file, FieldKind(rawValue: 77)])
        #expect(
            layout.fields.map { text($0.label) }
                == ["username", "password", "website", "code", "valid until", "scan", "later"])
        #expect(Array(ItemSample.bytes[layout.fields[1].value]) == [0xFF, 0, 1])
        #expect(layout.tags.map(text) == ["home", "work"])
        #expect(layout.notes.map(text) == "Übung\nzwei")
        #expect(layout.trash?.moved == 7 && layout.trash?.expires == 8)
        #expect(layout.trash.map { text($0.name) } == "logins/mail")
        #expect(layout.history.map(\.replaced) == [6])
        #expect(layout.history.map { text($0.field.value) } == ["old"])
        #expect(layout.entries(200).map { Array(ItemSample.bytes[$0.range]) } == [[1, 2]])
        let (name, content) = try #require(
            Array(ItemSample.bytes[layout.fields[5].value]).lend { ItemValue.fileContent($0) })
        #expect(name == 2..<10 && content == 10..<13)
    }

    @Test func `what is written is what was read`() throws {
        #expect(ItemSample.rewritten(ItemSample.bytes, try parse(ItemSample.bytes)) == ItemSample.bytes)
        #expect(ItemSample.rewritten(ItemSample.front, try parse(ItemSample.front)) == ItemSample.front)
        let size = ItemEntry.field(.text, label: "é").size(value: 3)
        #expect(size == ItemSample.entry(1, ItemSample.field(1, "é", [1, 2, 3])).count)
    }

    @Test func `an item that ends anywhere but behind an entry is refused`() throws {
        var ends: Set<Int> = [ItemLayout.frontSize]
        for entry in try parse(ItemSample.bytes).entries { ends.insert(entry.range.upperBound) }
        for count in 0..<ItemSample.bytes.count where !ends.contains(count) {
            #expect(error(Array(ItemSample.bytes.prefix(count))) != nil, "\(count) bytes were taken")
        }
    }

    private static let field = ItemSample.entry(1, ItemSample.field(1, "a", []))
    private static let trash = little(Int64(7)) + little(Int64(8)) + counted([0x61])

    @Test(
        arguments: [
            ("kind 0", ItemSample.front.with(0, at: 1)), ("unknown flag", ItemSample.front.with(2, at: 2)),
            ("unknown flag", ItemSample.front.with(1, at: 3)), ("version 0", ItemSample.front.with(0, at: 0)),
            ("tag 0", ItemSample.front + ItemSample.entry(0, [])),
            ("a field behind a tag", ItemSample.front + ItemSample.entry(2, [0x61]) + field),
            ("field kind 0", ItemSample.front + ItemSample.entry(1, ItemSample.field(0, "a", []))),
            ("a byte that is zero", ItemSample.front + ItemSample.entry(1, [1, 1, 1, 0, 0x61])),
            ("no label", ItemSample.front + ItemSample.entry(1, ItemSample.field(1, "", []))),
            ("a line in a label", ItemSample.front + ItemSample.entry(1, ItemSample.field(1, "a\nb", []))),
            (
                "a long label",
                ItemSample.front
                    + ItemSample.entry(1, ItemSample.field(1, String(repeating: "a", count: 256), []))
            ),
            ("a label over the end", ItemSample.front + ItemSample.entry(1, [1, 0, 9, 0, 0x61])),
            ("text that is no UTF-8", ItemSample.front + ItemSample.entry(1, ItemSample.field(1, "a", [0xFF]))),
            (
                "an address that is no UTF-8",
                ItemSample.front + ItemSample.entry(1, ItemSample.field(3, "a", [0xC0, 0x80]))
            ),
            (
                "another scheme",
                ItemSample.front + ItemSample.entry(1, ItemSample.field(4, "a", Array("https://x".utf8)))
            ),
            ("a month 13", ItemSample.front + ItemSample.entry(1, ItemSample.field(5, "a", Array("2031-13".utf8)))),
            ("a day 0", ItemSample.front + ItemSample.entry(1, ItemSample.field(5, "a", Array("2031-12-00".utf8)))),
            (
                "a date with words",
                ItemSample.front + ItemSample.entry(1, ItemSample.field(5, "a", Array("2031/12".utf8)))
            ),
            ("a file without a name", ItemSample.front + ItemSample.entry(1, ItemSample.field(6, "a", [0, 0]))),
            ("a path", ItemSample.front + ItemSample.entry(1, ItemSample.field(6, "a", counted(Array("a/b".utf8))))),
            (
                "the folder above",
                ItemSample.front + ItemSample.entry(1, ItemSample.field(6, "a", counted([0x2E, 0x2E])))
            ),
            ("no tag", ItemSample.front + ItemSample.entry(2, [])),
            ("a tag twice", ItemSample.front + ItemSample.entry(2, [0x61]) + ItemSample.entry(2, [0x61])),
            ("tags out of order", ItemSample.front + ItemSample.entry(2, [0x62]) + ItemSample.entry(2, [0x61])),
            ("notes twice", ItemSample.front + ItemSample.entry(3, []) + ItemSample.entry(3, [])),
            ("notes that are no UTF-8", ItemSample.front + ItemSample.entry(3, [0x80])),
            ("trash twice", ItemSample.front + ItemSample.entry(4, trash) + ItemSample.entry(4, trash)),
            (
                "an end before the beginning",
                ItemSample.front
                    + ItemSample.entry(4, little(Int64(8)) + little(Int64(7)) + counted([0x61]))
            ),
            ("a nameless one in the trash", ItemSample.front + ItemSample.entry(4, trash.prefix(16) + [0, 0])),
            ("more behind the name", ItemSample.front + ItemSample.entry(4, trash + [0])),
            ("history without a field", ItemSample.front + ItemSample.entry(5, little(Int64(1)))),
        ] as [(String, [UInt8])])
    func `what no writer writes is refused`(_ what: String, _ bytes: [UInt8]) throws {
        guard case .invalid = error(bytes) else {
            Issue.record("\(what): \(String(describing: error(bytes)))")
            return
        }
    }

    @Test func `an item of a newer version says so`() {
        #expect(error(ItemSample.front.with(2, at: 0)) == .newerVersion(2))
    }

    @Test func `limits are met before anything is read further`() throws {
        let fields = ItemSample.front + repeatElement(Self.field, count: ItemLimits.fields).flatMap(\.self)
        #expect(error(fields) == nil)
        #expect(error(fields + Self.field) == .invalid(field: "item fields"))
        let unknown = ItemSample.entry(9, [])
        let full = ItemSample.front + repeatElement(unknown, count: 1024).flatMap(\.self)
        #expect(error(full) == nil)
        #expect(error(full + unknown) == .invalid(field: "item entries"))
        let rest = ItemLimits.size - ItemSample.front.count - 5
        #expect(error(ItemSample.front + ItemSample.entry(9, repeated(1, rest))) == nil)
        #expect(error(ItemSample.front + ItemSample.entry(9, repeated(1, rest + 1))) == .wrongSize)
        #expect(error(ItemSample.front + [1, 0xFF, 0xFF, 0xFF, 0xFF] + repeated(0, 90)) == .wrongSize)
    }

    @Test func `whatever is read of damaged bytes is written as it was`() throws {
        var generator = SeededGenerator()
        for _ in 0..<(TestRun.isSoak ? 50_000 : 3000) {
            var bytes = ItemSample.bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if Int.random(in: 0..<8, using: &generator) == 0 {
                bytes.removeLast(Int.random(in: 1...40, using: &generator))
            }
            guard let layout = try? parse(bytes) else { continue }
            #expect(ItemSample.rewritten(bytes, layout) == bytes)
        }
    }
}
