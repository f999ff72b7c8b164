import CommandLineArguments
import Foundation
import Testing

@testable import HoldfastCommand

/// The page that `holdfast` prints first, the pages behind it, and the words that commands had before.
@Suite struct FrontPageTests {
    @Test func `the front page fits a terminal, and is what the command prints without arguments`() throws {
        let sandbox = try Sandbox()
        let page = try sandbox.run("--help")
        let lines = page.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(page.code == 0 && lines.count == 25 && lines.last == "", "\(lines.count) lines")
        #expect(lines.allSatisfy { $0.count <= 76 })
        #expect(try sandbox.run("help").output == page.output)
        let alone = try sandbox.run()
        #expect(alone.output == page.output && alone.errors.isEmpty && alone.code == 2)
    }

    @Test func `every command that the front page names is there, and so is every page`() throws {
        let program = CommandTable.program
        let lines = try program.help(for: []).split(separator: "\n")
        let named = lines.filter { $0.hasPrefix("  ") }.flatMap { line in
            line.prefix(18).split(whereSeparator: { " ,".contains($0) }).filter { $0.allSatisfy(\.isLowercase) }
        }
        #expect(named.count == 21 && named.allSatisfy { program.command([String($0)]) != nil }, "\(named)")
        for page in ["vault", "programs", "identity", "options", "all"] {
            #expect(try program.help(for: []).contains("help \(page)"))
            #expect(try !program.help(for: [page]).isEmpty)
        }
    }

    @Test func `every command stands on the front page or on one other, beside the list of all`() throws {
        let program = CommandTable.program
        let front = try program.help(for: [])
        let pages = try ["vault", "programs", "identity"].map { try program.help(for: [$0]) }
        for command in program.all.map(\.syntax) where !["config", "completions", "help"].contains(command.words[0]) {
            let isFront = front.contains(" \(command.name) ") || front.contains(" \(command.name), ")
            let count = pages.count { $0.contains("\n  \(command.name) ") }
            #expect(isFront ? count <= 1 : count == 1, "\(command.name)")
        }
    }

    /// All commands of the time when `--help` listed them one below the other.
    static let before = [
        "init", "add", "list", "show", "copy", "otp", "edit", "rm", "find", "generate", "unlock", "lock", "import",
        "export", "backup", "restore", "run", "inject", "status", "doctor", "mv", "cp", "put", "get", "tag list",
        "tag add", "tag remove", "history list", "history restore", "trash list", "trash restore", "trash empty",
        "inbox list", "inbox accept", "inbox reject", "passcode change", "passcode verify", "recover", "enroll pin",
        "enroll fingerprint", "enroll device", "enroll tpm", "enroll phrase", "slots list", "slots add",
        "slots remove", "lock-policy show", "lock-policy set", "lock-policy explain", "explain",
        "self-destruct enable", "self-destruct disable", "self-destruct cancel", "self-destruct status",
        "hardware claim", "hardware leave", "wipe", "receipt verify", "verify", "log", "git-credential", "ssh agent",
        "ssh import", "secrets serve", "leases list", "leases add", "leases revoke", "identity create",
        "identity recover", "identity delete", "identity link", "identity accept-link", "identity unlink",
        "identity rotate", "identity session open", "identity session refresh", "identity session close",
        "identity request", "identity change-recovery", "identity trust", "identity erase", "identity status",
        "identity drill", "config show", "config set", "completions", "help",
    ]

    @Test func `each of the 87 commands of before still runs under its words`() throws {
        #expect(FrontPageTests.before.count == 87)
        for name in FrontPageTests.before {
            let words = name.split(separator: " ").map(String.init)
            let command = try #require(CommandTable.program.command(words), "\(name)").syntax
            guard case .help(words) = try CommandTable.program.parse(words + ["--help"]) else {
                Issue.record("\(name) is not understood")
                continue
            }
            let isListed = CommandTable.program.all.contains { $0.syntax.name == name }
            #expect((command.successor == nil) == isListed, "\(name)")
            #expect(try CommandTable.program.help(for: words).contains(command.example))
        }
    }

    @Test func `what an earlier word names in its place can be typed`() throws {
        for command in CommandTable.program.hidden.map(\.syntax) {
            guard let successor = command.successor else { continue }
            for text in successor.split(separator: ", or ") {
                let words = text.split(separator: " ").dropFirst().map(String.init).filter { !$0.hasPrefix("-") }
                #expect(CommandTable.program.command(words) != nil, "\(successor)")
            }
        }
    }

    @Test(
        arguments: [
            (["ls"], "list"), (["search", "x"], "find"), (["clip", "x"], "copy"), (["cat", "x"], "get"),
            (["remove", "x"], "rm"), (["--json", "ls"], "list"), (["config"], "config"),
            (["config", "set", "a=b"], "config set"),
        ])
    func `words of other programs are understood`(_ words: [String], _ name: String) throws {
        guard case .run(let command, _) = try CommandTable.program.parse(words) else {
            Issue.record("\(words) runs nothing")
            return
        }
        #expect(command.syntax.name == name)
    }

    @Test func `an earlier word prints what it printed, and a note on a terminal only`() throws {
        let sandbox = try Sandbox(prepared: true)
        let now = try sandbox.run("config", "--json")
        let before = try sandbox.run("config", "show", "--json")
        #expect(before.output == now.output && before.errors.isEmpty)
        #expect(try sandbox.run("explain", "--json").output == sandbox.run("lock-policy", "explain", "--json").output)
        let terminal = try PseudoTerminal()
        let shown = try sandbox.start("config", "show", on: terminal)
        try terminal.wait(for: "This command is now called holdfast config; these words still work.")
        #expect(shown.wait() == 0)
    }

    @Test func `the version has three spellings`() throws {
        let sandbox = try Sandbox()
        let version = try sandbox.run("--version").output
        #expect(try sandbox.run("version").output == version)
        #expect(try sandbox.run("-v").output == version)
    }

    @Test func `status has the whole state with its long form`() throws {
        let sandbox = try Sandbox(prepared: true)
        let short = try sandbox.run("status")
        let long = try sandbox.run("status", "--long")
        #expect(long.code == 0 && long.text.hasPrefix(short.text) && long.text.count > short.text.count)
        #expect(long.text.contains("enroll remove phrase") && long.text.contains("self-destruct"))
        let object = try sandbox.run("status", "--long", "--json").json()
        let ways = try #require(object["ways"] as? [[String: Any]])
        #expect(ways.compactMap { $0["kind"] as? String } == object["slots"] as? [String])
        let slots = try sandbox.run("slots", "list", "--json").json()
        #expect(NSArray(array: ways) == NSArray(array: try #require(slots["slots"] as? [Any])))
        let explained = try sandbox.run("explain", "--json").json()
        #expect(NSDictionary(dictionary: explained) == (object["explanation"] as? NSDictionary))
    }
}
