import Foundation
import TestSupport
import Testing

/// Every Swift example in the documents compiles as a part of an app.
@Suite struct SnippetTests {
    private static func snippets() throws -> [Snippet] {
        let documents = try FileManager.default.subpathsOfDirectory(atPath: Outsider.root.path + "/Docs")
            .filter { $0.hasSuffix(".md") }.sorted().map { "Docs/\($0)" }
        return try (["README.md"] + documents).flatMap { document in
            Snippet.all(
                in: document,
                text: try String(contentsOf: Outsider.root.appending(path: document), encoding: .utf8))
        }
    }

    @Test func `every Swift block of the documents compiles in an app`() throws {
        let folder = try ScratchFolder("snippets")
        let snippets = try Self.snippets()
        var files = [Outsider.root.appending(path: "Tests/PublicSurface/Screens.swift").path]
        for (number, snippet) in snippets.enumerated() {
            guard let source = snippet.source(number: number) else { continue }
            files.append(folder["Snippet\(number).swift"])
            try source.write(toFile: files[files.count - 1], atomically: true, encoding: .utf8)
        }
        #expect(files.count > 6, "the documents have examples")
        let checked = try Outsider.check(files, warningsAsErrors: false)
        let errors = checked.words.split(separator: "\n").filter { $0.contains("error: ") }
        #expect(checked.status == 0, "\(errors.joined(separator: "\n"))\n\(checked.words.prefix(4000))")
    }

    /// The steps of tutorials repeat what stands in the ones before, so that each is a program of its own, as an
    /// example is.
    private static let programs = ["Docs/Holdfast.docc/Resources", "Examples/Server", "Examples/CommandLine"]

    @Test(arguments: programs)
    func `every program of the tutorials and examples compiles in an app`(_ folder: String) throws {
        let path = Outsider.root.appending(path: folder).path
        let files = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".swift") }.sorted()
        #expect(!files.isEmpty)
        for file in files {
            let checked = try Outsider.check(["\(path)/\(file)"])
            #expect(checked.status == 0, "\(file): \(checked.words.prefix(2000))")
        }
    }

    @Test func `an error in an example names the document and the line`() throws {
        let text =
            "A text.\n\n<!-- snippet (app: HoldfastApp) -->\n\n```swift\nlet vault = app.vault\nvault.unlockIt()\n```\n"
        let snippets = Snippet.all(in: "Docs/example.md", text: text)
        let source = try #require(snippets.first?.source(number: 0))
        let checked = try Outsider.check(source: source)
        #expect(checked.status != 0 && checked.words.contains("Docs/example.md:7:"), "\(checked.words.prefix(2000))")
    }

    @Test func `blocks are found with what they stand in`() {
        let text = """
            ```sh
            make
            ```
            ```swift
            let a = 1
            ```
            <!-- snippet file -->
            ```swift
            struct A {}
            ```
            <!-- snippet not compiled: a manifest -->
            ```swift
            .package()
            ```
            """
        let snippets = Snippet.all(in: "a.md", text: text)
        #expect(snippets.map(\.place) == [.function(parameters: "()"), .file, .nowhere(reason: "a manifest")])
        #expect(snippets.map(\.line) == [5, 9, 13])
    }
}
