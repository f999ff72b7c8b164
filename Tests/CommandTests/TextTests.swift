import CommandLineArguments
import Foundation
import Testing

@testable import HoldfastCommand

@Suite struct TextTests {
    @Test(
        "escaped name",
        arguments: [
            ("plain name", "plain name"), ("\u{1B}[2J", #"\u{1b}[2J"#), ("a\nb\tc", #"a\u{a}b\u{9}c"#),
            (#"back\slash"#, #"back\\slash"#), ("\u{202E}txt.exe", #"\u{202e}txt.exe"#),
            ("\u{2066}x\u{2069}", #"\u{2066}x\u{2069}"#), ("\u{7F}\u{85}\u{9B}31m", #"\u{7f}\u{85}\u{9b}31m"#),
            ("\u{200B}\u{FEFF}\u{2028}", #"\u{200b}\u{feff}\u{2028}"#), ("a\u{A0}b", #"a\u{a0}b"#),
            ("\u{FFF9}\u{600}", #"\u{fff9}\u{600}"#), ("\u{E0041}", #"\u{e0041}"#), ("\u{3164}", #"\u{3164}"#),
            ("Øvergård, 東京 🔑", "Øvergård, 東京 🔑"),
            ("\u{0}", #"\u{0}"#),
        ])
    func isHarmless(_ name: String, _ shown: String) { #expect(Escaping.name(name) == shown) }

    @Test func sentencesAreEscapedOnce() {
        let name = Escaping.name("a\\\u{1B}")
        #expect(Escaping.sentence("no record \(name)\u{7}") == #"no record a\\\u{1b}\u{7}"#)
    }

    @Test func everyTextSurvivesJSON() throws {
        var text = "\"\\/\u{8}\u{C}\n\r\t"
        for value in UInt32(0)...0x2FFF { if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) } }
        text += "\u{10FFFF}\u{E0041}\u{1F511}\u{FEFF}\u{D7FF}"
        let json = JSON.object(["text": .text(text), text: .integer(1)]).encoded
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let parsedText = try #require(parsed["text"] as? String)
        #expect(Array(parsedText.unicodeScalars) == Array(text.unicodeScalars))
        #expect(!json.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F || $0 == "\u{202E}" })
    }

    @Test func keysAreSorted() {
        let json = JSON.object([
            "b": .array([.boolean(true), .null, .integer(-5)]), "a": .count(.max), "c": .object([:]),
        ])
        #expect(json.encoded == #"{"a":9223372036854775807,"b":[true,null,-5],"c":{}}"#)
    }

    @Test(
        "size",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1999, "1.9 kB"), (999_999, "999.9 kB"),
            (10_500_000, "10.5 MB"), (UInt64.max, "18.4 EB"),
        ] as [(UInt64, String)])
    func isReadable(_ bytes: UInt64, _ text: String) { #expect(Format.size(bytes) == text) }

    @Test func numbersAreGrouped() {
        #expect(Format.grouped(0) == "0")
        #expect(Format.grouped(999) == "999")
        #expect(Format.grouped(1000) == "1,000")
        #expect(Format.grouped(10_000_501) == "10,000,501")
    }

    @Test func timesAreInUTC() {
        #expect(Format.timestamp(milliseconds: 0) == "1970-01-01T00:00:00Z")
        #expect(Format.timestamp(milliseconds: -1) == "1969-12-31T23:59:59Z")
        #expect(Format.timestamp(milliseconds: 951_782_400_999) == "2000-02-29T00:00:00Z")
        for extreme in [Int64.min, .max] { _ = Format.timestamp(milliseconds: extreme) }  // no trap
        for extreme in [Int64.min, .max] { _ = Format.localTime(milliseconds: extreme) }
    }

    @Test func waitsAreRoundedUp() {
        #expect(Format.wait(.milliseconds(1)) == "1 s")
        #expect(Format.wait(.seconds(30)) == "30 s")
        #expect(Format.wait(.milliseconds(30_001)) == "31 s")
        #expect(Format.wait(.seconds(3600)) == "60 min")
        #expect(Format.roundedUpSeconds(.zero) == 0)
        #expect(Format.roundedUpSeconds(.seconds(-3)) == 0)
    }

    @Test func columnsAlign() {
        var table = Table(["NAME", "SIZE"], rightAligned: [1])
        table.append(["東京", "5 B"])
        table.append(["e\u{301}", "10 kB"])
        #expect(table.text == "NAME   SIZE\n東京    5 B\ne\u{301}     10 kB\n")
    }

    @Test func `long names are cut to the width of the terminal, the longest first, and short ones are kept`() {
        var table = Table(["COLLECTION", "NAME", "SIZE"], rightAligned: [2])
        table.append(["default", String(repeating: "東", count: 500), "5 B"])
        table.append(["work", "mail", "10 kB"])
        table.fit(40, cutting: [0, 1])
        let lines = table.text.split(separator: "\n")
        #expect(lines.allSatisfy { Escaping.width(String($0)) <= 40 }, "\(table.text)")
        #expect(lines[1].contains("東…") && lines[2].hasPrefix("work        mail "))
        table.fit(3, cutting: [0, 1])
        #expect(table.text.contains("COLLECTION  NAME"), "\(table.text)")
        #expect(
            Escaping.cut("abc", to: 3) == "abc" && Escaping.cut("abcd", to: 3) == "ab…"
                && Escaping.cut("東東", to: 2) == "…")
    }

    @Test func helpFitsTheScreen() throws {
        for command in CommandTable.program.all {
            let text = try CommandTable.program.help(for: command.syntax.words)
            #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count <= 80 }, "\(text)")
        }
        #expect(try CommandTable.program.help(for: []).split(separator: "\n").allSatisfy { $0.utf8.count <= 80 })
    }

    @Test func exitCodesFollowTheTable() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 126, 127, 130, 141])
    }
}
