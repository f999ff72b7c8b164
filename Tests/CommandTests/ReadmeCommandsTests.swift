import CommandLineArguments
import Foundation
import Testing

@testable import HoldfastCommand

/// The command lines that the README and the documents show are ones that the command takes.
@Suite struct ReadmeCommandsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The lines of shell blocks that call the command, with their numbers, up to what is the shell's.
    static func commands(_ text: String) -> [(line: Int, words: [String])] {
        var (isShell, isFenced) = (false, false)
        var commands: [(Int, [String])] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                isShell = line == "```sh"
                isFenced.toggle()
                continue
            }
            // A block of a document may also be one by its four spaces.
            guard isShell || !isFenced && line.hasPrefix("    ") else { continue }
            var words = line.split(separator: " ")[...]
            if words.first == "sudo" { words = words.drop { $0 != "holdfast" } }
            guard words.first == "holdfast" else { continue }
            let own = words.dropFirst().prefix { !["#", "|", "&&", ">", "<", "2>"].contains($0) && !$0.hasPrefix("<") }
            commands.append((index + 1, own.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "'\"")) }))
        }
        return commands
    }

    /// The README, and the documents that users read.
    private static func documents() throws -> [(name: String, text: String)] {
        let docs = root.appending(path: "Docs")
        let names = try FileManager.default.contentsOfDirectory(atPath: docs.path).filter { $0.hasSuffix(".md") }
        return try [("README.md", String(contentsOf: root.appending(path: "README.md"), encoding: .utf8))]
            + names.sorted().map { ("Docs/\($0)", try String(contentsOf: docs.appending(path: $0), encoding: .utf8)) }
    }

    @Test func `every command line of the README and of the documents is understood, under today's words`() throws {
        let commands = try Self.documents().map { ($0.name, Self.commands($0.text)) }
        #expect(commands[0].1.count > 12 && commands.map(\.1.count).reduce(0, +) > 30)
        for (name, lines) in commands {
            for (line, words) in lines {
                do throws(UsageError) {
                    guard case .run(let command, _) = try CommandTable.program.parse(words) else {
                        Issue.record("\(name):\(line): \(words) only shows help")
                        continue
                    }
                    #expect(command.syntax.successor == nil, "\(name):\(line): \(words) are earlier words")
                } catch { Issue.record("\(name):\(line): \(error)") }
            }
        }
    }

    @Test func `only shell lines that call the command are commands`() {
        let text =
            "holdfast a\n```sh\nmake\nholdfast get 'mail' -r | cat  # the bytes\n```\n```\nholdfast c\n```\n"
        #expect(Self.commands(text).map(\.line) == [4])
        #expect(Self.commands(text).first?.words == ["get", "mail", "-r"])
    }
}
