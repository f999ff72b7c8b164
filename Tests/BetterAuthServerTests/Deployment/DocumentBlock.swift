import Foundation
import TestSupport

/// A fenced block of a document, as it is printed.
struct DocumentBlock: Sendable, CustomStringConvertible {
    let document: String
    /// The heading that it stands below.
    let heading: String
    /// Which one it is below that heading.
    let number: Int
    let text: String

    var description: String { "\(document), \(heading), \(number)" }

    static let documents = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Docs")

    static func text(of name: String) throws -> String {
        try String(contentsOf: documents.appending(path: name), encoding: .utf8)
    }

    static func all(in document: String) throws -> [DocumentBlock] {
        var (heading, number) = ("", 0)
        var blocks: [DocumentBlock] = []
        var open: [Substring]?
        for line in try text(of: document).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let lines = open {
                    number += 1
                    let text = lines.joined(separator: "\n")
                    blocks.append(DocumentBlock(document: document, heading: heading, number: number, text: text))
                }
                open = open == nil ? [] : nil
            } else if open != nil {
                open?.append(line)
            } else if line.hasPrefix("#") {
                (heading, number) = (String(line.drop { "# ".contains($0) }), 0)
            }
        }
        return blocks
    }

    static func named(_ heading: String, _ number: Int = 1, in document: String) throws -> DocumentBlock {
        guard let found = try all(in: document).first(where: { $0.heading == heading && $0.number == number }) else {
            throw HTTPClient.Problem(description: "\(document) has no block \(number) below \(heading)")
        }
        return found
    }

    /// Its commands: a line that ends with a backslash or a pipe continues in the next one.
    var commands: [String] {
        var commands: [String] = []
        var isContinued = false
        for line in text.split(separator: "\n") {
            if isContinued { commands[commands.count - 1] += "\n" + line } else { commands.append(String(line)) }
            isContinued = line.hasSuffix("\\") || line.hasSuffix("|")
        }
        return commands
    }
}

/// Where commands of the documents are run as they are printed, with only names, ports and paths replaced.
struct DocumentShell {
    let folder: String
    var environment: [String: String] = [:]
    /// What stands in the documents, and what stands for it here.
    var table: [(printed: String, here: String)] = []

    init(_ folder: String) { self.folder = folder }

    func replaced(_ text: String) -> String {
        table.reduce(text) { $0.replacing($1.printed, with: $1.here) }
    }

    private var words: [String] { ["sh", "-c", "cd \(folder) && PATH=\(Self.programs):$PATH && "] }
    private static var programs: String {
        URL(fileURLWithPath: ServerProcess.program).deletingLastPathComponent().path
    }

    /// Runs a command to its end.
    /// - Returns: What it prints.
    @discardableResult func run(_ command: String) throws -> String {
        let line = replaced(command)
        let result = try runServerCommand([], folder, environment, before: [words[0], words[1], words[2] + line])
        guard result.status == 0 else {
            throw HTTPClient.Problem(description: "\(line)\nends with \(result.status): \(result.output)")
        }
        return result.output
    }

    /// Starts one of the servers, and waits until it listens.
    /// - Parameter before: Words that run it elsewhere.
    func start(_ command: String, before: [String] = []) throws -> ServerProcess {
        let line = words[2] + "exec " + replaced(command)
        return try ServerProcess([], folder: folder, environment: environment, before: before + ["sh", "-c", line])
    }
}
