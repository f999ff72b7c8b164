import ProgramProtocols
import TestSupport
import Testing
import VaultFormat

/// Templates: where the insertions are.
@Suite struct TemplateTests {
    private func parse(_ text: String) throws(ProgramProtocolError) -> Template {
        let bytes = Array(text.utf8)
        return try unsafe Template(parsing: bytes.span.bytes)
    }

    /// With the numbers of references for their values.
    private func filled(_ text: String) throws(ProgramProtocolError) -> String {
        let bytes = Array(text.utf8)
        return try parse(text).parts.map { part in
            switch part {
            case .text(let range): String(decoding: bytes[range], as: UTF8.self)
            case .insertion(let number): "<\(number)>"
            }
        }.joined()
    }

    @Test(arguments: [
        ("", ""), ("no insertion { } {{ }} }}", "no insertion { } {{ }} }}"),
        ("{{holdfast://a/b}}", "<0>"), ("a{{ holdfast://a/b/c }}\nb", "a<0>\nb"),
        ("{{\tholdfast://a/b  }}{{holdfast://a/c}}{{ holdfast://a/b }}", "<0><1><0>"),
        ("{{{ holdfast://a/b }}}", "{<0>}"), ("{{ .Values.x }}{{ holdfast://a/b }}", "{{ .Values.x }}<0>"),
        ("holdfast://a/b", "holdfast://a/b"), ("{ holdfast://a/b }", "{ holdfast://a/b }"),
        ("{{ x holdfast://a/b }}", "{{ x holdfast://a/b }}"), ("{{\nholdfast://a/b }}", "{{\nholdfast://a/b }}"),
        ("{{ Holdfast://a/b }}", "{{ Holdfast://a/b }}"), ("{{", "{{"), ("{", "{"),
        ("{{ holdfast://a/caf%C3%A9 }}{{ holdfast://a/cafe%CC%81 }}", "<0><1>"),
    ])
    func `insertions are found, and everything else stays`(text: String, result: String) throws {
        #expect(try filled(text) == result)
    }

    @Test(
        arguments: [
            ("x\n{{ holdfast://a/b", .openInsertion(2)), ("{{ holdfast://a/b }", .openInsertion(1)),
            ("{{ holdfast://a/b\n}}", .openInsertion(1)), ("{{ holdfast://a/b | upper }}", .openInsertion(1)),
            ("{{ holdfast://a }}", .reference(1, .missing(.item))),
            ("\n{{holdfast://a/%}}", .reference(2, .invalidEscape)),
            ("{{ holdfast://a/" + String(repeating: "b", count: 5000) + " }}", .openInsertion(1)),
            (String(repeating: "x", count: 1 << 20) + "x", .tooMuch(.bytes, 1 << 20)),
            ((0...256).map { "{{ holdfast://a/\($0) }}" }.joined(), .tooMuch(.references, 256)),
        ] as [(String, ProgramProtocolError)])
    func `an insertion that is wrong is refused with its line`(text: String, error: ProgramProtocolError) {
        #expect(throws: error) { try parse(text) }
        #expect(!error.words.isEmpty)
    }

    @Test func `many braces are read in one pass`() throws {
        let text = String(repeating: "{{ ", count: 300_000)
        #expect(try parse(text).parts == [.text(0..<900_000)])
    }
}
