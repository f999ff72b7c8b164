import ProgramProtocols
import TestSupport
import Testing
import VaultFormat

/// `.env` files.
@Suite struct EnvironmentFileTests {
    private func parse(_ text: String) throws(ProgramProtocolError) -> [EnvironmentFile.Variable] {
        try EnvironmentFile.parse(Array(text.utf8))
    }

    @Test func `names, quotation marks, comments and references are read`() throws {
        let file = """
            # what the service needs
            PLAIN=value with blanks
              export INDENTED= x\u{20}
            SINGLE='a # "b" '
            DOUBLE="it's"
            EMPTY=
            QUOTED_EMPTY=""
            KEY=holdfast://default/api/key
            QUOTED="holdfast://default/api"
            NOT=xholdfast://default/api
            DOLLAR=$HOME\\n\r
            """
        let reference = try SecretReference(parsing: "holdfast://default/api/key")
        let short = try SecretReference(parsing: "holdfast://default/api")
        #expect(
            try parse(file) == [
                .init(name: "PLAIN", value: .text("value with blanks")), .init(name: "INDENTED", value: .text("x")),
                .init(name: "SINGLE", value: .text("a # \"b\" ")), .init(name: "DOUBLE", value: .text("it's")),
                .init(name: "EMPTY", value: .text("")), .init(name: "QUOTED_EMPTY", value: .text("")),
                .init(name: "KEY", value: .reference(reference)), .init(name: "QUOTED", value: .reference(short)),
                .init(name: "NOT", value: .text("xholdfast://default/api")),
                .init(name: "DOLLAR", value: .text("$HOME\\n")),
            ])
    }

    @Test(
        arguments: [
            ("A=1\nnothing", .invalidLine(2)), ("=x", .invalidName(1)), ("1A=x", .invalidName(1)),
            ("A B=x", .invalidName(1)), ("A-B=x", .invalidName(1)), ("Ä=x", .invalidName(1)), ("A='x", .openQuote(1)),
            ("A=\"x\"y", .openQuote(1)), ("A='", .openQuote(1)), ("A='x'y'", .openQuote(1)),
            ("\n\nA=x\0", .invalidText(3)),
            ("A=holdfast://a", .reference(1, .missing(.item))),
            ("A=holdfast://a/b c", .reference(1, .invalidCharacter)),
            (String(repeating: "A=\n", count: 4097), .tooMuch(.lines, 4096)),
            (String(repeating: "#", count: 1 << 20) + "#", .tooMuch(.bytes, 1 << 20)),
        ] as [(String, ProgramProtocolError)])
    func `a line that is no variable is refused with its number`(text: String, error: ProgramProtocolError) {
        #expect(throws: error) { try parse(text) }
        #expect(!error.words.isEmpty)
    }

    @Test func `bytes that are no UTF-8 are refused`() {
        #expect(throws: ProgramProtocolError.invalidText(1)) { try EnvironmentFile.parse([0x41, 0x3D, 0xFF]) }
    }
}
