import Foundation

/// A block of Swift in a document.
///
/// A comment before the block says what it stands in, so that it can be compiled as it is shown:
/// `<!-- snippet (app: HoldfastApp, passcode: borrowing SecretBytes) -->` gives it parameters, `<!-- snippet file -->`
/// makes it a file of its own, and `<!-- snippet not compiled: … -->` says why it is left out. A block without a
/// comment needs nothing. Parameters may be of the types in Tests/PublicSurface/Screens.swift, and `@MainActor` may
/// stand before them.
struct Snippet {
    enum Place: Equatable {
        case function(parameters: String)
        case file
        case nowhere(reason: String)
    }

    /// The document, from the root of the package.
    let document: String
    /// The number of the block's first line.
    let line: Int
    let lines: [String]
    let place: Place

    private static let marker = "<!-- snippet "

    /// The blocks of a document.
    static func all(in document: String, text: String) -> [Snippet] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var snippets: [Snippet] = []
        var start: Int?
        for (index, line) in lines.enumerated() where line.hasPrefix("```") {
            guard let opening = start else {
                start = index
                continue
            }
            start = nil
            guard lines[opening] == "```swift" else { continue }
            let comment = lines[..<opening].last { !$0.isEmpty } ?? ""
            snippets.append(
                Snippet(
                    document: document, line: opening + 2, lines: Array(lines[opening + 1..<index]),
                    place: place(comment)))
        }
        return snippets
    }

    private static func place(_ comment: String) -> Place {
        guard comment.hasPrefix(marker), comment.hasSuffix(" -->") else { return .function(parameters: "()") }
        let words = String(comment.dropFirst(marker.count).dropLast(4))
        if words == "file" { return .file }
        if words.hasPrefix("not compiled: ") { return .nowhere(reason: String(words.dropFirst(14))) }
        return .function(parameters: words)
    }

    /// What the compiler gets; it names the document and the line in what it says. Nil for what is left out.
    func source(number: Int) -> String? {
        let imports = lines.filter { $0.hasPrefix("import ") }
        let modules =
            imports.isEmpty ? ["import BetterAuth", "import BetterAuthTransport", "import Holdfast"] : imports
        let body = lines.map { $0.hasPrefix("import ") ? "" : $0 }.joined(separator: "\n")
        let location = "#sourceLocation(file: \"\(document)\", line: \(line))"
        switch place {
        case .file: return "\(location)\n\(lines.joined(separator: "\n"))\n"
        case .nowhere: return nil
        case .function(let parameters):
            let isolation = parameters.hasPrefix("@MainActor ") ? "@MainActor " : ""
            return """
                \(modules.joined(separator: "\n"))
                \(isolation)func snippet\(number)\(parameters.dropFirst(isolation.utf8.count)) async throws {
                \(location)
                \(body)
                #sourceLocation()
                }

                """
        }
    }
}
