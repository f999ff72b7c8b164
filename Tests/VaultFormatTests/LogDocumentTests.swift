import Foundation
import Testing
import VaultFormat

/// The table of events in the document of the format and the one of the second reader say what the code says.
@Suite struct LogDocumentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every event's word by its code.
    private static let words = Dictionary(
        LogTests.events.map { ($0.code, $0.name) }, uniquingKeysWith: { first, _ in first })

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Rows of the document's table: codes, words, fields.
    private static func rows() throws -> [(codes: [UInt8], words: [String], fields: String)] {
        let document = try text("Docs/vault-format.md")
        let start = try #require(document.range(of: "| code | word | event | fields |\n|---|---|---|---|\n"))
        let end = try #require(document.range(of: "\n\n", range: start.upperBound..<document.endIndex))
        return document[start.upperBound..<end.lowerBound].split(separator: "\n").map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let ends = cells[0].components(separatedBy: " ... ").compactMap { UInt8($0) }
            let codes =
                ends.count == 2
                ? Array(ends[0]...ends[1]) : cells[0].components(separatedBy: ", ").compactMap { UInt8($0) }
            return (codes, cells[1].matches(of: /`(\w+)`/).map { String($0.1) }, cells[3])
        }
    }

    @Test func `the document has every event with its code and word`() throws {
        var found: [UInt8: String] = [:]
        for row in try LogDocumentTests.rows() {
            #expect(row.codes.count == row.words.count, "\(row.codes)")
            for (code, word) in zip(row.codes, row.words) { found[code] = word }
        }
        #expect(found == LogDocumentTests.words)
    }

    @Test func `the document has every numbered word of a field`() throws {
        let expected: [UInt8: [UInt8: String]] = [
            2: names(LogRestart.Reason.self), 4: names(LogAlteration.Kind.self), 16: names(UnlockMethod.self),
            18: names(LogLockReason.self), 21: names(OwnerStep.self),
            72: names(VaultLevel.self), 74: names(LogFloor.self),
            64: Dictionary(uniqueKeysWithValues: LogRule.allCases.map { ($0.rawValue, $0.name) }),
        ]
        for row in try LogDocumentTests.rows() {
            let words = row.fields.matches(of: /([0-9]+) `([a-z]\w+)`/).filter { $0.2 != "u8" && $0.2 != "log" }
            let numbered = words.map { (UInt8($0.1) ?? 0, String($0.2)) }
            #expect(Dictionary(numbered, uniquingKeysWith: { $1 }) == expected[row.codes[0]] ?? [:], "\(row.codes)")
        }
    }

    @Test func `the second reader has every event with its code and word`() throws {
        let script = try LogDocumentTests.text("scripts/holdfast_log_verify.py")
        var found: [UInt8: String] = [:]
        for row in script.matches(of: /\n {4}([0-9]+): \("(\w+)",/) {
            found[try #require(UInt8(row.1))] = String(row.2)
        }
        let kinds = try #require(script.firstMatch(of: /RUN_KINDS = \((.*)\)/)).1.matches(of: /"(\w+)"/)
        for (number, kind) in kinds.enumerated() { found[32 + UInt8(number)] = String(kind.1) }
        #expect(found == LogDocumentTests.words)
    }

    private func names<T: LogWord>(_ type: T.Type) -> [UInt8: String] {
        Dictionary(uniqueKeysWithValues: T.allCases.map { ($0.rawValue, $0.name) })
    }
}
