import CommandLineArguments
import Foundation
import RealParts
import Testing

@testable import HoldfastServer

/// What is made from the server's table of commands, and the man page that is not.
@Suite struct ServerTableTests {
    static let commands = ServerTable.program.all.map(\.syntax)

    private func output(_ program: String, _ arguments: [String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-table-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = unsafe open(folder + "/output", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        #expect(try Spawned([program] + arguments, output: file).wait() == 0)
        return try String(contentsOfFile: folder + "/output", encoding: .utf8)
    }

    @Test(arguments: commands.map(\.name))
    func `help of a command names its options, and its example is understood`(_ name: String) throws {
        let own = name.split(separator: " ").map(String.init)
        let command = try #require(ServerTable.program.command(own)).syntax
        let help = try output(ServerProcess.program, own + ["--help"])
        #expect(help.contains("\n\nUsage: holdfast-server \(name)") && help.contains("\n  \(command.example)\n"))
        for option in command.options { #expect(help.contains(option.spelled), "\(option.spelled)") }
        #expect(try output(ServerProcess.program, ["help"] + own) == help)
        #expect(help.split(separator: "\n").filter { $0 != "  \(command.example)" }.allSatisfy { $0.utf8.count <= 80 })
        let words = command.example.split(separator: " ").map(String.init)
        guard case .run(let parsed, _) = try ServerTable.program.parse(Array(words.dropFirst())) else {
            Issue.record("the example only shows help")
            return
        }
        #expect(words.first == "holdfast-server" && parsed.syntax.name == name)
    }

    @Test func `help of serve lists each option under one title`() throws {
        let serve = ServerCommand.serve.syntax
        let grouped = serve.groups.flatMap(\.options)
        #expect(Set(grouped).count == grouped.count)
        #expect(Set(grouped).isSubset(of: serve.options))
        #expect(
            Set(serve.options.filter { !grouped.contains($0) }.map(\.name))
                == ["listen", "database", "config", "help"])
        let help = try output(ServerProcess.program, ["serve", "--help"])
        var rest = Substring(help)
        for group in serve.groups {
            let title = try #require(rest.firstRange(of: "\n\n\(group.title):\n"))
            rest = rest[title.upperBound...]
            let section = rest.prefix(upTo: rest.firstRange(of: "\n\n")?.lowerBound ?? rest.endIndex)
            for option in group.options { #expect(section.contains("  \(option.spelled)"), "\(option.spelled)") }
        }
    }

    @Test func `options of one name are of one kind`() {
        #expect(Set(Self.commands.map(\.name)).count == Self.commands.count)
        for command in Self.commands {
            #expect(Set(command.options.map(\.name)).count == command.options.count, "\(command.name)")
            for option in command.options {
                let others = Self.commands.compactMap { $0.option(named: option.name) }
                #expect(others.allSatisfy { $0.kind == option.kind }, "--\(option.name)")
            }
        }
    }

    @Test func `the man page names every command, option and exit code`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Docs/man/holdfast-server.1"), encoding: .utf8)
        let text = page.replacing("\\-", with: "-")
        for command in Self.commands { #expect(text.contains("\n.B \(command.name)\n"), "\(command.name)") }
        for option in ServerTable.program.options {
            let isThere = [".B ", ".BI "].contains { text.contains("\n.TP\n\($0)\(option.spelled)") }
            #expect(isThere, "\(option.spelled)")
        }
        for code in ServerExit.allCases { #expect(text.contains("\n.B \(code.rawValue)\n")) }
    }

    @Test(
        arguments: [
            (["ser"], ["serve"]), (["serve", "--key-s"], ["--key-service"]),
            (["serve", "--keys-in", ""], ["file", "tpm"]),
            (["serve", "--connections", ""], []), (["completions", "b"], ["bash"]),
        ] as [([String], [String])])
    func `bash completes commands, options and their words`(_ words: [String], _ expected: [String]) throws {
        let quoted = (["holdfast-server"] + words).map { "'\($0)'" }.joined(separator: " ")
        let test = """
            source <('\(ServerProcess.program)' completions bash)
            COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count)
            _holdfast_server
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let found = try output("/bin/bash", ["-c", test]).split(separator: "\n").map(String.init)
        #expect(found == expected)
    }
}
