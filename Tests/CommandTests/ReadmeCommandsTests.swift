import CommandLineArguments
import Foundation
import Testing

@testable import HoldfastCommand

/// The command lines that the README shows are ones that the command takes.
@Suite struct ReadmeCommandsTests {
    private static let readme = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "README.md")

    /// The lines of shell blocks that call the command, with their numbers.
    static func commands(_ text: String) -> [(line: Int, words: [String])] {
        var isShell = false
        var commands: [(Int, [String])] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                isShell = line == "```sh"
            } else if isShell, line.hasPrefix("holdfast ") {
                let words = line.split(separator: " ").dropFirst().prefix { $0 != "#" }
                commands.append((index + 1, words.map(String.init)))
            }
        }
        return commands
    }

    @Test func `every command line of the README is understood`() throws {
        let commands = Self.commands(try String(contentsOf: Self.readme, encoding: .utf8))
        #expect(commands.count > 15)
        for (line, words) in commands {
            do throws(UsageError) {
                guard case .run = try CommandTable.program.parse(words) else {
                    Issue.record("README.md:\(line): \(words) only shows help")
                    continue
                }
            } catch { Issue.record("README.md:\(line): \(error)") }
        }
    }

    @Test func `only shell lines that call the command are commands`() {
        let text =
            "holdfast a\n```sh\nmake\nholdfast get mail --collection b   # the bytes\n```\n```\nholdfast c\n```\n"
        #expect(Self.commands(text).map(\.line) == [4])
        #expect(Self.commands(text).first?.words == ["get", "mail", "--collection", "b"])
    }
}
