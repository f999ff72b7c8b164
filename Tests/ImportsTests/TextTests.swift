import Foundation
import SecretMemory
import TestSupport
import Testing

@testable import Gzip
@testable import Imports

/// JSON, XML, tables and compressed data, right and wrong.
@Suite struct TextTests {
    private func json(_ text: String) throws -> JSONDocument { try JSONDocument(secret(text)) }

    @Test func `JSON is read with its escapes, and a value is found by its key`() throws {
        let document = try json(#" {"a": "x\n\u00e9\ud83d\ude00\"", "b": [1, -2.5e3, true, null], "c": {"d": 7}} "#)
        #expect(try document.text(document.root["a"]) == "x\n\u{e9}\u{1F600}\"")
        #expect(document.root["b"]?.elements?.count == 4 && document.integer(document.root["c"]?["d"]) == 7)
    }

    @Test(
        arguments: [
            "", "{", "[1,]", "{\"a\":1,\"a\":2}", "nul", "01", "1.", "\"\u{1}\"", "\"\\x\"",
            "[1] 2", "{\"a\" 1}", "\"open", "[[1}", "\u{FEFF}\u{FEFF}{}", "-", "1e", "{1:2}",
        ])
    func `what is no JSON is refused with its line`(_ text: String) throws {
        #expect(throws: ImportError.self) { _ = try json(text) }
    }

    @Test(arguments: [
        (#"\ud83d"#, "\u{FFFD}"), (#"a\ude00b"#, "a\u{FFFD}b"), (#"\ud83dA"#, "\u{FFFD}A"),
        (#"\ud83d\ud83d\ude00"#, "\u{FFFD}\u{1F600}"),
    ])
    func `half of a character is one that stands for it, and is noted with its entry`(_ text: String, _ value: String)
        throws
    {
        let items = #"{"type":1,"name":"a","login":{"username":"\#(text)"}},{"type":1,"name":"b\ud83d\ude00"}"#
        let file = #"{"items":[\#(items)]}"#
        let read = try BitwardenImport.read(secret(file), password: nil)
        #expect(read.items.map(\.name) == ["a", "b\u{1F600}"] && read.items[0].text("username") == value)
        #expect(read.notes.map(\.text) == ["a (line 1, item 1): half of a character, which is U+FFFD now"])
        let folders = #"{"folders":[{"id":"f","name":"\#(text)"}],"items":[{"type":1,"name":"a","folderId":"f"}]}"#
        let foldered = try BitwardenImport.read(secret(folders), password: nil)
        #expect(foldered.items.map(\.name) == [value + "/a"])
        #expect(foldered.notes.map(\.text) == ["half of a character, which is U+FFFD now"])
    }

    @Test func `what nobody read of a text is found, but for what says nothing`() throws {
        let document = try json(
            "\u{FEFF}"
                + #"{"a": "1", "b": {"c": [{"d": 1, "e": null}, {"d": 2, "f": ""}], "g": 0}, "h": [], "i": {"j": true}}"#
        )
        #expect(document.unread(in: document.root, except: ["i"]) == ["a", "b.c.d"])
        _ = try document.text(document.root["a"])
        #expect(document.integer(document.root["b"]?["c"]?.elements?[1]["d"]) == 2)
        #expect(document.unread(in: document.root, except: []) == ["b.c.d", "i.j"])
        #expect(document.integer(document.root["b"]?["c"]?.elements?[0]["d"]) == 1)
        #expect(document.unread(in: document.root, except: ["i.j"]).isEmpty)
    }

    @Test func `JSON that is too deep is refused, and no stack overflows`() throws {
        #expect(throws: ImportError.self) { _ = try json(String(repeating: "[", count: 100_000)) }
        do { _ = try json("{\n\n\"a\": tru}") } catch let error as ImportError { #expect(error.place == "line 3") }
    }

    private func xml(_ text: String) throws -> XMLNode {
        try secret(text).withBytes { bytes throws(ImportError) in try XMLReader.parse(bytes) }
    }

    @Test func `XML is read with entities, sections and attributes`() throws {
        let root = try xml(
            "<?xml version=\"1.0\"?>\n<a x='1&lt;'><!-- c --><b>t&amp;&#x41;<![CDATA[<&]]>u</b><b/></a>\n")
        #expect(root.name == "a" && root.attributes["x"] == "1<")
        #expect(root.all("b").map(\.openText) == ["t&A<&u", ""])
    }

    @Test(
        arguments: [
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a>&b;</a>", "<a><?php ?></a>", "<a>", "<a></b>", "<a x=1/>",
            "<a/><b/>",
            "<a x='1' x='2'/>", "", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&amp</a>", "<a><!ENTITY x></a>",
            "<a><![CDATA[x</a>",
        ])
    func `entities of one's own and what is no XML are refused`(_ text: String) throws {
        #expect(throws: ImportError.self) { _ = try xml(text) }
    }

    @Test func `XML that is too deep is refused`() throws {
        #expect(throws: ImportError.self) { _ = try xml(String(repeating: "<a>", count: 100_000)) }
    }

    @Test func `a table has quotes, line breaks and doubled quotes in its cells`() throws {
        let table = try DelimitedText(secret("a,b\r\n\"x,\"\"y\"\"\nz\",\n1,2"))
        let cell = try table.text(table.rows[1][0])
        #expect(table.rows.count == 3 && cell == "x,\"y\"\nz" && table.lines == [1, 2, 4])
    }

    /// LastPass' tables came with such ends where a browser saved them.
    @Test func `a line may end with more than one carriage return`() throws {
        #expect(
            try cells(Array("a,b\r\r\n1,\"2\"\r\r\n3,4\r\r\n".utf8)).cells == [["a", "b"], ["1", "2"], ["3", "4"]])
    }

    @Test(arguments: ["a,b\n1\nx,y", "a,b\n1,2,3\nx,y", "a,b\n\"x\"y,2\nx,y", "a,b\nx\"y,2\nx,y", "a,b\n1\r2,3\nx,y"])
    func `what is wrong with a row of a table is a fault of that row`(_ text: String) throws {
        let table = try DelimitedText(secret("\u{FEFF}\n \n" + text + "\n\t\r\n"))
        let last = try table.text(table.rows[2][1])
        #expect(Array(table.faults.keys) == [1] && table.rows.count == 3 && table.lines == [3, 4, 5] && last == "y")
    }

    @Test(arguments: ["", "\n \n", "\"a\nx", "a\"b\n1", "a\rb"])
    func `what is no table is refused`(_ text: String) throws {
        #expect(throws: ImportError.self) { _ = try DelimitedText(secret(text)) }
    }

    /// The texts of all cells of rows without a fault, and the places of those with one.
    private func cells(_ bytes: [UInt8]) throws -> (cells: [[String]], faults: [String]) {
        let table = try DelimitedText(secret(bytes))
        var (cells, faults): ([[String]], [String]) = ([], [])
        for (index, row) in table.rows.enumerated() {
            if let fault = table.faults[index] {
                faults.append("\(table.place(index)): \(fault.what)")
            } else {
                var texts: [String] = []
                for cell in row { texts.append(try table.text(cell)) }
                cells.append(texts)
            }
        }
        return (cells, faults)
    }

    @Test(arguments: [true, false])
    func `a table in UTF-16 is read, half of a character is a fault of its row`(_ isBigEndian: Bool) throws {
        func wide(_ units: [UInt16]) -> [UInt8] {
            units.flatMap { unit in
                let bytes = [UInt8(unit >> 8), UInt8(unit & 255)]
                return isBigEndian ? bytes : bytes.reversed()
            }
        }
        let text = "\u{FEFF}a,b\r\n\u{E9}\u{20AC},\"\u{1F600}\n\"\"\"\r\n"
        let (read, faults) = try cells(wide(Array(text.utf16)))
        #expect(read == [["a", "b"], ["\u{E9}\u{20AC}", "\u{1F600}\n\""]] && faults == [])
        let halves = Array("x,".utf16) + [0xD83D] + Array("\n1,2\n3,4".utf16)
        let odd = try cells(wide(Array(text.utf16) + halves) + [0])
        #expect(odd.cells.last == ["1", "2"] && odd.faults.map { String($0.prefix(7)) } == ["line 4:", "line 6:"])
        #expect(odd.faults.allSatisfy { $0.hasSuffix("a row has bytes that are not UTF-16") })
    }

    @Test func `bytes that are not UTF-8 are a fault of their row, and Windows' encoding is named`() throws {
        let file = Array("a,b\n1,M".utf8) + [0xFC] + Array("ller\n\"x\ny\",".utf8) + [0xDF] + Array("\n3,4\n".utf8)
        let windows = try cells(file)
        #expect(windows.cells == [["a", "b"], ["3", "4"]])
        let what = "a row has bytes that are not UTF-8"
        let advice = "; the file looks like Windows-1252 (ANSI): save it as UTF-8"
        #expect(windows.faults == ["line 2: \(what)\(advice)", "lines 3 to 4: \(what)\(advice)"])
        let mixed = try cells(file + Array("\u{E9},5".utf8))
        #expect(mixed.faults == ["line 2: \(what)", "lines 3 to 4: \(what)"] && mixed.cells.last == ["\u{E9}", "5"])
    }

    /// Lines that may be a part of another row are lost, and said.
    @Test(arguments: [
        // A quote that does not end: the next lines are rows, if all of them are.
        ("1,\"2\n3,4\n\n5,6\n", [["3", "4"], ["5", "6"]], ["line 2: a quoted cell does not end"]),
        ("\"x\ny\",\"2\n3,4", [["3", "4"]], ["lines 2 to 3: a quoted cell does not end"]),
        ("1,\"note\nhunter2,x\nend\n", [], ["lines 2 to 4: a quoted cell does not end"]),
        // One that another row ends: that row is lost too, and no line inside of its own cells is a row.
        ("1,\"2\n3,\"4\"\n5,6", [["5", "6"]], ["lines 2 to 3: something stands behind a closing quote, or"]),
        (
            "1,\"2\n3,\"note\nhunter2,x\nend\"\n5,6", [["5", "6"]],
            ["lines 2 to 5: something stands behind a closing quote, or"]
        ),
        (
            "\"1,2\n3,\"\nhunter2,x\n\"\n\"5\",6\n7,8", [["7", "8"]],
            ["lines 2 to 6: a row has"]
        ),
        // Two of them.
        (
            "1,\"2\n3,4\n5,\"6\n7,8", [["7", "8"]],
            ["lines 2 to 4: something stands behind a closing quote, or"]
        ),
    ])
    func `a quote that is not closed loses its row`(_ text: String, _ rows: [[String]], _ faults: [String]) throws {
        let read = try cells(Array("a,b\n\(text)".utf8))
        #expect(read.cells == [["a", "b"]] + rows)
        #expect(
            read.faults.count == faults.count && zip(read.faults, faults).allSatisfy { $0.hasPrefix($1) },
            "\(read.faults)")
    }

    @Test func `the separator is the one with which the columns are known`() throws {
        for (text, separator) in [("a;b\tc,d\n", DelimitedText.Separator.semicolon), ("a\tb;c\n", .tab)] {
            let table = try DelimitedText(secret(text)) { $0.last == (separator == .tab ? "b;c" : "b\tc,d") }
            #expect(table.separator == separator && table.rows[0].count == 2)
        }
        // With no columns that are known, it is the one of the most.
        for (text, separator) in [
            ("\"a\";\"b\"\n", DelimitedText.Separator.semicolon), ("a,b\tc\td", .tab), ("a,b;c", .comma), ("a", .comma),
        ] {
            #expect(try DelimitedText(secret(text)).separator == separator)
        }
    }

    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let folder = try ScratchFolder("gzip")
        try Data(bytes).write(to: URL(fileURLWithPath: folder["a"]))
        let process = try Process.run(URL(fileURLWithPath: "/bin/gzip"), arguments: ["-n9", folder["a"]])
        process.waitUntilExit()
        return Array(try Data(contentsOf: URL(fileURLWithPath: folder["a.gz"])))
    }

    private func expand(_ bytes: [UInt8]) throws -> [UInt8] {
        try secret(bytes).withBytes { bytes throws(ImportError) in try GzipFile.expand(bytes).withBytes { $0.array } }
    }

    @Test func `what gzip compressed comes back, any cut is an error, and a bomb stops at its limit`() throws {
        var random = SystemRandomNumberGenerator()
        for size in [0, 1, 300, 70_000] {
            let bytes = (0..<size).map {
                $0 % 5 == 0 ? UInt8.random(in: 0...255, using: &random) : UInt8($0 / 300 % 256)
            }
            let same = try expand(gzip(bytes)) == bytes
            #expect(same, "\(size) bytes")
        }
        let small = try gzip(Array("hello hello hello".utf8))
        for end in small.indices { #expect(throws: ImportError.self) { _ = try expand(Array(small[..<end])) } }
        let bomb = try gzip([UInt8](repeating: 0, count: 10 << 20))
        #expect(bomb.count < 20_000)
        let error = #expect(throws: ImportError.self) {
            _ = try secret(bomb).withBytes { bytes throws(ImportError) in try GzipFile.expand(bytes, limit: 1 << 20) }
        }
        #expect(error?.kind == .tooLarge)
        #expect(throws: ImportError.self) { _ = try expand(small + [0]) }
    }

    @Test func `what zlib needs itself comes from locked memory, and goes back`() throws {
        let packed = try gzip((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
        let memory = LockedBlocks()
        var output = [UInt8](repeating: 0, count: 50_000)
        do {
            let inflater = try #require(Inflater(windowBits: DeflateForm.gzip.windowBits, memory: memory))
            let written = unsafe packed.withUnsafeBytes { source in
                unsafe inflater.begin(source)
                return unsafe output.withUnsafeMutableBytes { unsafe inflater.go(0, into: $0).written }
            }
            #expect(written == output.count)
            withExtendedLifetime(inflater) { #expect(memory.count > 0) }
        }
        #expect(memory.count == 0)
    }

    @Test func `times of other programs are read, and dates written`() {
        #expect(ForeignTime.milliseconds("1970-01-01T00:00:00Z") == 0)
        #expect(ForeignTime.milliseconds("2024-02-29T12:34:56.789Z") == 1_709_210_096_789)
        #expect(ForeignTime.milliseconds("2024-02-29T12:34:56+01:00") == 1_709_206_496_000)
        #expect(
            ForeignTime.milliseconds("2024-02-29") == nil && ForeignTime.milliseconds("2024-13-29T00:00:00Z") == nil)
        #expect(ForeignTime.day(milliseconds: 1_709_210_096_789) == "2024-02-29")
        #expect(ForeignTime.day(milliseconds: 0) == "1970-01-01" && ForeignTime.day(milliseconds: -1) == "1969-12-31")
    }
}
