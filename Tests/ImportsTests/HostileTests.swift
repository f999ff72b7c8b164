import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Files of every format, cut, changed and too much: each is an error that names no value, or is read; nothing traps or
/// lasts.
@Suite(.seeded) struct HostileTests {
    enum Sample: String, CaseIterable, Sendable {
        case bitwarden, protected, aegis, aegisEncrypted, holdfast, onePassword, xml, kdbx, kdbxContent, csv, pass

        /// Whether a part of it may be a whole file too.
        var hasNoEnd: Bool { self == .csv || self == .pass }

        func bytes() throws -> [UInt8] {
            switch self {
            case .bitwarden: Array(FormatTests.bitwarden.utf8)
            case .protected: Array(ProtectedExportTests.exports[0].utf8)
            case .aegis: Array(HostileTests.aegis.utf8)
            case .aegisEncrypted: Array(ProtectedExportTests.aegis.utf8)
            case .holdfast: Array(HostileTests.holdfast.utf8)
            case .onePassword: OnePasswordTests.archive
            case .xml: Array(HostileTests.xml.utf8)
            case .kdbx: try HostileTests.sealed()
            case .kdbxContent: try KDBXTests.filled().innerContent().bytes().revealed()
            case .csv: Array("name,url,username,password,note\nMail,https://a,ada,\"\(HostileTests.value),\",n\n".utf8)
            case .pass:
                Array("\(HostileTests.value)\nlogin: ada\notpauth://totp/x?secret=JBSWY3DPEHPK3PXP\nnotes\n".utf8)
            }
        }

        func read(_ bytes: [UInt8]) throws(ImportError) -> Imported {
            let file = try! secret(bytes)
            switch self {
            case .bitwarden: return try BitwardenImport.read(file, password: nil)
            case .protected: return try BitwardenImport.read(file, password: try! secret("p\u{f6}w"))
            case .aegis: return try AegisImport.read(file, password: nil)
            case .aegisEncrypted: return try AegisImport.read(file, password: try! secret("pw"))
            case .holdfast: return try HoldfastImport.read(file)
            case .onePassword: return try OnePasswordImport.read(file)
            case .xml: return try KeePassTree.read(export: file)
            case .kdbx: return try KDBXImport.read(file, password: try! secret("pw"), keyFile: nil)
            case .kdbxContent:
                var content = SecretBuffer()
                try! file.withBytes { try content.append($0) }
                return try KDBXImport.inner(SecretBufferBox(content))
            case .csv: return try TableImport.read(file)
            case .pass:
                var result = Imported()
                try PassImport.read(["x"], file, into: &result)
                return result
            }
        }
    }

    /// In no error.
    static let value = "hunter2"

    static let aegis = #"""
        {"version": 1, "header": {"slots": null, "params": null}, "db": {"version": 2, "groups": [{"uuid": "g", "name": "G"}],
        "entries": [{"type": "totp", "uuid": "1", "name": "ada", "issuer": "Ex", "note": "hunter2", "groups": ["g"],
         "info": {"secret": "JBSWY3DPEHPK3PXP", "algo": "SHA256", "digits": 8, "period": 60}}]}}
        """#

    static let holdfast = #"""
        {"format":"holdfast-items","version":1,"items":[{"collection":"work","name":"a/b","kind":"login","favourite":true,
        "created":"2024-01-02T03:04:05Z","modified":"2024-01-02T03:04:05Z","tags":["x"],"fields":[
        {"label":"password","kind":"secret","size":7,"value":"hunter2"},
        {"label":"file","kind":"file","size":3,"file":"a.bin","value":{"base64":"AP8K"}}],
        "notes":"n","hasNotes":true,"isRevealed":true}]}
        """#

    static let xml = """
        <?xml version="1.0"?><KeePassFile><Meta><Binaries><Binary ID="0">BwgJ</Binary></Binaries></Meta><Root><Group>
        <Name>R</Name><Entry><UUID>AAAAAAAAAAAAAAAAAAAAAw==</UUID><String><Key>Title</Key><Value>Mail &amp; &#x41;</Value></String>
        <String><Key>Password</Key><Value ProtectInMemory="True">hunter2</Value></String>
        <String><Key>URL</Key><Value><![CDATA[https://a]]></Value></String><Tags>a;b</Tags>
        <Binary><Key>n</Key><Value Ref="0"/></Binary><History><Entry><String><Key>Password</Key><Value>hunter2x</Value></String>
        </Entry></History></Entry></Group></Root></KeePassFile>
        """

    private static func sealed() throws -> [UInt8] {
        var settings = KDBXExport.Settings()
        settings.aesRounds = 1
        return try KDBXTests.filled().seal(password: secret("pw"), settings: settings).revealed()
    }

    /// - Returns: Whether it was read.
    private func isRead(_ sample: Sample, _ bytes: [UInt8]) -> Bool {
        do throws(ImportError) {
            let read = try sample.read(bytes)
            #expect(read.items.allSatisfy { (1...1000).contains($0.name.utf8.count) })
            return true
        } catch {
            #expect(!error.what.isEmpty && error.reason.utf8.count < 1024)
            #expect(!error.reason.contains(HostileTests.value), "\(error.reason)")
            #expect(error.kind != .unexpected && error.kind != .outOfMemory, "\(error)")
            return false
        }
    }

    @Test(arguments: Sample.allCases)
    func `a file that was cut is an error`(_ sample: Sample) throws {
        let bytes = try sample.bytes()
        #expect(isRead(sample, bytes))
        var generator = TestRun.generator("cut \(sample)")
        let ends = Array(stride(from: 0, to: bytes.count - 1, by: max(1, bytes.count / 400)))
        for end in TestRun.sample(ends, ends.count, using: &generator) {
            let isWhole = isRead(sample, Array(bytes[..<end]))
            if !sample.hasNoEnd { #expect(!isWhole, "\(end) bytes") }
        }
    }

    @Test(arguments: Sample.allCases)
    func `a file that was changed anywhere is an error or is read`(_ sample: Sample) throws {
        let bytes = try sample.bytes()
        // Digits of costs are not changed: what is within the limits takes its time.
        let costs =
            sample == .protected ? "Iterations\": " : sample == .aegisEncrypted ? "\"n\": 16, \"r\": 8, \"p\": " : nil
        let start = costs.flatMap { bytes.first($0) } ?? 0
        let spared = costs.map { start..<start + $0.utf8.count + 4 } ?? 0..<0
        var generator = TestRun.generator("changed \(sample)")
        let indices = Array(stride(from: 0, to: bytes.count, by: max(1, bytes.count / 300)))
        var refused = 0
        for index in TestRun.sample(indices, indices.count, using: &generator) where !spared.contains(index) {
            for change in [0x01, 0x20, 0x80] as [UInt8] {
                // The rounds of a database's derivation are little endian, and their high bytes as costly.
                if sample == .kdbx, change == 0x20 || change == 0x80, index < 250 { continue }
                var changed = bytes
                changed[index] ^= change
                if !isRead(sample, changed) { refused += 1 }
            }
        }
        // Whatever pass has is a password and notes.
        #expect(refused > 0 || sample == .pass)
    }

    @Test(arguments: [
        (Sample.bitwarden, "{\"items\": ", "[", "]}"), (.aegis, "{\"version\": 1, \"db\": ", "[", "]}"),
        (.holdfast, "{\"format\": ", "[", "]}"), (.xml, "<KeePassFile><Root>", "<Group>", "</Group>"),
    ])
    func `what is too deep names its line`(_ sample: Sample, _ front: String, _ open: String, _ close: String) throws {
        for depth in [64, 100_000] {
            let text = front + "\n" + String(repeating: open, count: depth) + String(repeating: close, count: depth)
            do throws(ImportError) {
                _ = try sample.read(Array(text.utf8))
                Issue.record("it was read")
            } catch { #expect(error.kind == .tooLarge && error.place == "line 2", "\(error)") }
        }
    }

    /// Small files of very many parts.
    enum Crowd: String, CaseIterable, Codable, Sendable {
        case arrays = "arrays", elements = "elements", lines = "lines", keys = "keys"

        func text() -> [UInt8] {
            switch self {
            case .arrays: Array(("[" + String(repeating: "[],", count: 3_900_000) + "[]]").utf8)
            case .elements: Array(("<a>" + String(repeating: "<a/>", count: 4_000_000) + "</a>").utf8)
            case .lines: Array(repeating: [44, 10], count: 2_000_000).flatMap(\.self)
            case .keys: Array(("{" + (0..<2_500_000).map { "\"\($0)\":0" }.joined(separator: ",") + "}").utf8)
            }
        }

        func read(_ text: [UInt8]) throws(ImportError) {
            switch self {
            case .arrays, .keys:
                var reader = JSONNodeReader(end: text.count)
                _ = try unsafe reader.document(text.span.bytes)
            case .elements: _ = try unsafe XMLReader.parse(text.span.bytes)
            case .lines: _ = try DelimitedText(try! secret(text))
            }
        }
    }

    #if os(Linux) && !canImport(Darwin)
    @Test(.enabled(if: !Sanitizer.isPresent, "a sanitizer has a heap of its own"), arguments: Crowd.allCases)
    func `parts beyond what they may take together are refused before they are made`(_ crowd: Crowd) async {
        await #expect(processExitsWith: .success) { [crowd] in
            let text = crowd.text()
            let before = try ProcessMemory().resident
            try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
            let error = #expect(throws: ImportError.self) { try crowd.read(text) }
            let grown = try ProcessMemory().peak - before
            #expect(error?.kind == .tooLarge && grown < 170_000, "\(grown) kB")
        }
    }

    @Test(.enabled(if: !Sanitizer.isPresent, "a sanitizer has a heap of its own"))
    func `attachments stay where they are in the content`() async {
        await #expect(processExitsWith: .success) {
            let content = SecretBufferBox(limit: ImportLimits.expanded)
            try content.append(inner: 1, [3, 0, 0, 0])
            try content.append(inner: 2, [UInt8](repeating: 1, count: 64))
            for _ in 0..<8 { try content.append(inner: 3, [UInt8](repeating: 7, count: 4 << 20)) }
            try content.append(inner: 0, [])
            let xml =
                "<KeePassFile><Root><Group><Entry><Binary><Key>a</Key><Value Ref=\"0\"/></Binary></Entry></Group></Root></KeePassFile>"
            try unsafe content.append(Array(xml.utf8).span.bytes)
            let before = try ProcessMemory().resident
            try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
            let read = try KDBXImport.inner(content)
            let grown = try ProcessMemory().peak - before
            #expect(read.items.count == 1 && grown < 16_000, "\(grown) kB")
        }
    }
    #endif

    @Test func `what is not understood is listed up to a limit, which is said`() throws {
        var imported = Imported()
        for _ in 0..<ImportLimits.notes + 2 { imported.note(.leftOut, "x", place: "line 1") }
        #expect(imported.notes.count == ImportLimits.notes + 1)
        #expect(imported.notes[ImportLimits.notes - 1].text == "line 1: x")
        #expect(imported.notes.last?.text == "line 1: this and what follows is not listed")
    }

    @Test func `more items than a file may have are an error`() throws {
        let item = try ImportedItem(.note, path: ["a"], place: "line 7")
        var imported = Imported()
        for _ in 0..<ImportLimits.items { try imported.append(item) }
        do throws(ImportError) {
            try imported.append(item)
            Issue.record("it was taken")
        } catch { #expect(error.kind == .tooLarge && error.place == "line 7") }
    }
}

extension SecretBufferBox {
    /// Appends a field of the inner header.
    fileprivate func append(inner id: UInt8, _ value: [UInt8]) throws(ImportError) {
        let head = [id] + (0..<4).map { UInt8(truncatingIfNeeded: value.count >> (8 * $0)) }
        try unsafe append(head.span.bytes)
        try unsafe append(value.span.bytes)
    }
}

extension [UInt8] {
    /// Where a text is first.
    fileprivate func first(_ text: String) -> Int? {
        indices.first { self[$0...].starts(with: text.utf8) }
    }
}
