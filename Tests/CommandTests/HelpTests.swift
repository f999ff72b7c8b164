import CommandLineArguments
import Foundation
import Testing

@testable import HoldfastCommand

/// What is made from the command table.
@Suite struct HelpTests {
    @Test("help", arguments: CommandTable.program.all.map(\.syntax.name))
    func namesEveryOption(_ name: String) throws {
        let words = name.split(separator: " ").map(String.init)
        let command = try #require(CommandTable.program.command(words)).syntax
        let sandbox = try Sandbox()
        let help = try sandbox.run(raw: (words + ["--help"]).map { Array($0.utf8) })
        #expect(help.code == 0)
        #expect(help.errors.isEmpty)
        let summary = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
        #expect(help.text.hasPrefix(summary + "\n\nUsage: holdfast \(name)"))
        #expect(help.text.contains("\nExample:\n  \(command.example)\n"))
        // What every command has is told once, in `help options`.
        #expect(!help.text.contains("$HOLDFAST_HOME") && !help.text.contains("Show this help"))
        for option in command.shownOptions { #expect(help.text.contains(option.spelled), "\(option.spelled)") }
        for place in command.places { #expect(help.text.contains(place.name)) }
        let same = try sandbox.run(raw: (["help"] + words).map { Array($0.utf8) })
        #expect(same.output == help.output)
    }

    /// Earlier scripts have it; everybody else writes the collection in front of the name.
    @Test func `a collection of its own is shown only where it means what is below it`() throws {
        let shown = ["list", "find", "import", "export", "git-credential", "docker-credential"]
        for command in CommandTable.program.all.map(\.syntax) where command.option(named: "collection") != nil {
            let help = try CommandTable.program.help(for: command.words)
            #expect(help.contains("--collection") == shown.contains(command.name), "\(command.name)")
            #expect(help.contains("-c, --collection") == shown.contains(command.name), "\(command.name)")
        }
    }

    @Test func theListOfAllNamesEveryCommandAndTheOptionsEveryExitCode() throws {
        let sandbox = try Sandbox()
        let all = try sandbox.run("help", "all")
        #expect(all.code == 0)
        for command in CommandTable.program.all.map(\.syntax) { #expect(all.text.contains("  \(command.name) ")) }
        let options = try sandbox.run("help", "options")
        for code in ExitCode.allCases { #expect(options.text.contains("  \(code.rawValue) ")) }
        #expect(options.text.contains("$HOLDFAST_HOME") && options.text.contains("never read from arguments"))
        let group = try sandbox.run("passcode", "--help")
        #expect(group.code == 0)
        #expect(group.text.contains("passcode change") && group.text.contains("passcode check"))
    }

    @Test func theVersionIsPrinted() throws {
        let result = try Sandbox().run("--version")
        #expect(result.code == 0)
        // By these words scripts know a build of the tests, whose key derivation is cheap.
        #expect(result.text == "holdfast \(Version.text)\(Version.note)\n")
        #expect(["", " (test build, not for secrets)"].contains(Version.note))
    }

    @Test func `the manual page has what the table says, between the lines that name it`() throws {
        let page = try String(
            contentsOf: Program.root.appendingPathComponent("Docs/man/holdfast.1"), encoding: .utf8)
        let parts = CommandTable.program.manual.split(separator: ".\\\" begin ").map { ".\\\" begin " + $0 }
        #expect(parts.count == 3)
        for part in parts {
            #expect(page.contains(part), "run scripts/man (or make man): \(part.prefix(while: { !$0.isNewline }))")
        }
        for command in CommandTable.program.all.map(\.syntax) {
            #expect(parts[0].contains("\n\\fB\(command.name.replacing("-", with: "\\-"))\\fR"), "\(command.name)")
        }
        let text = page.replacing("\\-", with: "-")
        for option in CommandTable.program.options { #expect(text.contains(option.spelled), "\(option.spelled)") }
    }
}

/// Completion scripts: they parse, and bash's does what it should.
@Suite struct CompletionTests {
    private static func found(_ shell: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(shell)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    @Test("script", arguments: ["bash", "zsh", "fish"])
    func parses(_ shell: String) throws {
        let sandbox = try Sandbox()
        let script = try sandbox.run("completions", shell)
        #expect(script.code == 0)
        for option in CommandTable.program.options {
            let name = shell == "fish" ? "-l \(option.name)" : option.spelled
            #expect(script.text.contains(name), "\(option.spelled)")
        }
        for word in CommandTable.program.nextWords([]) { #expect(script.text.contains(word)) }
        guard let program = CompletionTests.found(shell) else {
            #expect(shell != "bash", "bash is needed")
            return
        }
        let child = try Child(
            program, raw: [Array("-n".utf8), Array(try sandbox.file(script.output).utf8)],
            descriptors: [2: .output(sandbox.path + "/errors")], environment: ["HOME": sandbox.path])
        #expect(child.wait() == 0)
        #expect(try sandbox.bytes("errors").isEmpty)
    }

    static let bash: [([String], [String])] = [
        (["ver"], ["verify"]), (["passcode", ""], ["change", "check", "--help"]),
        (["put", "name", "--re"], ["--replace"]), (["--home", "put", "li"], ["list"]),
        (["completions", "z"], ["zsh"]), (["passcode", "change", "--phrase-o"], ["--phrase-out-fd"]),
        (["get", "--collection", ""], []), (["list", "--col"], ["--collection"]), (["get", "put", "--col"], []),
        (["--home", "=", "/x", "stat"], ["status"]), (["restore", "a", ""], []),
    ]

    @Test("bash", arguments: bash)
    func completes(_ words: [String], _ expected: [String]) throws {
        let sandbox = try Sandbox()
        let script = try sandbox.file(try sandbox.run("completions", "bash").output)
        let quoted = (["holdfast"] + words).map { "'\($0)'" }.joined(separator: " ")
        let test = """
            source \(script)
            COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count)
            _holdfast
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let child = try Child(
            try #require(CompletionTests.found("bash")), raw: [Array("-c".utf8), Array(test.utf8)],
            descriptors: [1: .output(sandbox.path + "/found")])
        #expect(child.wait() == 0)
        let found = String(decoding: try sandbox.bytes("found"), as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(found == expected)
    }
}
