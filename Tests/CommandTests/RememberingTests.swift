import Cryptography
import Foundation
import TestSupport
import Testing
import VaultFormat

/// Unlocked once: the passcode that a command asks for on the terminal opens the vault for the next ones.
@Suite struct RememberingTests {
    private static let said = "Unlocked until 15 minutes pass without use; \"holdfast lock\" ends it."

    /// Types the passcode to a command on a terminal.
    /// - Returns: What was said behind the prompt.
    private func typed(
        _ words: [String], _ sandbox: AgentSandbox, environment: [String: String] = [:],
        descriptors: [Int32: Source] = [:]
    ) throws -> String {
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(
            words, on: terminal, descriptors: descriptors, environment: sandbox.variables.merging(environment) { $1 })
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        #expect(child.wait() == 0, "\(words) \(terminal.rest())")
        return terminal.rest()
    }

    @Test func `the first right passcode starts the agent, and the next commands ask for nothing`() throws {
        let sandbox = try AgentSandbox()
        let before = try sandbox.run("log", passcode: Prepared.passcode).text
        let screen = try typed(["list"], sandbox)
        #expect(screen.contains(RememberingTests.said) && screen.contains("greeting"), "\(screen)")
        let agent = try #require(try sandbox.agent())
        #expect(agent["isUnlocked"] as? Bool == true)
        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
        let log = try sandbox.run("log").text
        let unlocks = [before, log].map { $0.matches(of: /unlocked with/).count }
        #expect(unlocks[1] == unlocks[0] + 1, "the passcode was checked once: \(log)")

        // One that runs and is locked is used.
        #expect(try sandbox.run("lock").code == 0)
        #expect(try typed(["get", "greeting"], sandbox).contains(RememberingTests.said))
        #expect(try sandbox.agent()?["process"] as? Int == agent["process"] as? Int)
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == true)
    }

    /// git's pipes, the shell's `$(...)`, and the value that `put` reads.
    @Test func `a pipe on standard input and output does not matter`() throws {
        let sandbox = try AgentSandbox()
        let pipes: [Int32: Source] = [0: .file(try sandbox.file("value".utf8)), 1: .output(sandbox.path + "/out")]
        #expect(try typed(["put", "piped"], sandbox, descriptors: pipes).contains(RememberingTests.said))
        #expect(try sandbox.run("get", "piped").text == "value")
    }

    @Test func `under --json the line is not said`() throws {
        let sandbox = try AgentSandbox()
        #expect(try !typed(["list", "--json"], sandbox).contains("Unlocked until"))
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == true)
    }

    @Test func `the times are those of unlock`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("config", "set", "idle=1h").code == 0)
        #expect(try typed(["list"], sandbox).contains("Unlocked until 1 hour passes without use"))
        let left = try #require(try sandbox.agent()?["locksInSeconds"] as? Int)
        #expect((3500...3600).contains(left))
    }

    @Test(arguments: [
        ["--no-agent"], ["XDG_RUNTIME_DIR="], ["SUDO_UID=1000"], ["DOAS_USER=ada"], ["PKEXEC_UID=1000"], ["verify"],
        ["export"], ["log", "verify", "--key-out-fd=5"], ["stderr"], ["0755"], ["link"], ["configuration"], ["broken"],
        ["policy"],
    ])
    func `no agent is started where nobody sees it, for whom it is not, or for the whole vault`(_ how: [String]) throws
    {
        let sandbox = try AgentSandbox()
        var (words, environment, descriptors) = (["list"], [String: String](), [Int32: Source]())
        switch how[0] {
        case "--no-agent": words += how
        case "verify": words = how
        case "export": words = ["export", sandbox.path + "/out.kdbx", "--file-password-fd=5"]
        case "log": words = how
        case "stderr": descriptors[2] = .output(sandbox.path + "/err")
        case "0755": #expect(unsafe chmod(sandbox.runtime, 0o755) == 0)
        case "link":
            try FileManager.default.createSymbolicLink(
                atPath: sandbox.path + "/link", withDestinationPath: sandbox.runtime)
            environment["XDG_RUNTIME_DIR"] = sandbox.path + "/link"
        case "policy":
            #expect(try sandbox.run("config", "set", "unlock.remember=yes").code == 0)
            #expect(try sandbox.run("lock-policy", "set", "remember=never", passcode: Prepared.passcode).code == 0)
        case "configuration": #expect(try sandbox.run("config", "set", "unlock.remember=no").code == 0)
        case "broken":
            try FileManager.default.createDirectory(
                atPath: sandbox.path + "/.config/holdfast", withIntermediateDirectories: true)
            _ = try sandbox.sandbox.file("what = this\n".utf8, ".config/holdfast/config")
            words = ["show", "greeting"]
        default:
            let parts = how[0].split(separator: "=", omittingEmptySubsequences: false)
            environment[String(parts[0])] = String(parts[1])
        }
        if how[0] == "export" { descriptors[5] = try sandbox.lines("a password of the file") }
        if how[0] == "log" { descriptors[5] = .output(sandbox.path + "/key") }
        let screen = try typed(words, sandbox, environment: environment, descriptors: descriptors)
        #expect(!screen.contains("Unlocked until"), "\(screen)")
        #expect(try sandbox.agent() == nil)
        let own = try sandbox.run("status", "--json", environment: environment).json()
        #expect(own["agent"] is NSNull, "\(own)")
    }

    @Test func `a policy by which nothing is remembered is said, and unlock still opens the vault`() throws {
        let sandbox = try AgentSandbox()
        func policy(_ word: String) throws {
            #expect(try sandbox.run("lock-policy", "set", "remember=\(word)", passcode: Prepared.passcode).code == 0)
            #expect(try sandbox.run("lock-policy", "show", "--json").json()["remember"] as? String == word)
            #expect(try sandbox.run("status", "--json").json()["remember"] as? String == word)
            #expect(try sandbox.run("explain", "--json").json()["remember"] as? String == word)
            #expect(try sandbox.run("status", "--long").text.contains("remember=never") == (word == "never"))
        }
        let before = try sandbox.bytes("home/header")
        try policy("never")
        #expect(try sandbox.run("lock-policy", "show").text.contains(/\nremember +never\n/))
        #expect(try sandbox.run("log", passcode: Prepared.passcode).text.contains("remember"))
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
        #expect(try sandbox.run("lock").code == 0)
        #expect(try !typed(["list"], sandbox).contains("Unlocked until"), "a locked agent is not unlocked either")
        #expect(try sandbox.agent()?["isUnlocked"] as? Bool == false)
        try policy("allowed")
        #expect(try typed(["list"], sandbox).contains(RememberingTests.said))
        #expect(try sandbox.bytes("home/header") != before)
        let wrong = try sandbox.run("lock-policy", "set", "remember=yes", passcode: Prepared.passcode)
        #expect(wrong.code == 2 && wrong.errors.contains("remember=yes: allowed: never, allowed"), "\(wrong.errors)")
    }

    /// Who can write the folder can have the agent asked, and gets nothing by it.
    @Test func `a header from which the rule was taken opens nothing`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("lock-policy", "set", "remember=never", passcode: Prepared.passcode).code == 0)
        let genuine = try sandbox.bytes("home/header")
        var edited: [UInt8] = []
        for copy in 0..<2 {
            var bytes = Array(genuine[(copy * Header.copySize)..<((copy + 1) * Header.copySize)])
            let start = 54  // vault-format.md 4
            let count = Int(bytes[start - 2]) | Int(bytes[start - 1]) << 8
            // The switches are followed by the countdown and two steps.
            let switches = start + count - 16
            try #require(bytes[start] == 4 && bytes[switches] == 12)
            bytes[switches] = 5
            bytes[start] = 2
            let covered = Array(bytes.dropLast(32))
            edited += unsafe covered + BLAKE3.hash(covered.span.bytes).bytes
        }
        _ = try sandbox.sandbox.file(edited, "home/header")
        #expect(try sandbox.run("lock-policy", "show", "--json").json()["remember"] as? String == "allowed")
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(["list"], on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        #expect(child.wait() == 5)
        #expect(!terminal.rest().contains("greeting"))
        #expect(try sandbox.agent() == nil)

        // Nor one that is there only while the command looks.
        let swapped = try sandbox.sandbox.start(["list"], on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "Passcode: ")
        _ = try sandbox.sandbox.file(genuine, "home/header")
        terminal.type(Prepared.passcode + "\n")
        #expect(swapped.wait() == 1)
        #expect(terminal.rest().contains("the vault's rules changed meanwhile"))
        #expect(try sandbox.agent() == nil)
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5)
        #expect(try !typed(["list"], sandbox).contains("Unlocked until"))
    }

    @Test(arguments: [["list"], ["unlock"]])
    func `an agent that ends while the prompt waits does not matter to what is typed then`(_ words: [String]) throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try sandbox.run("lock").code == 0)
        let first = try #require(try sandbox.agent()?["process"] as? Int)
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(words, on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "Passcode: ")
        // The next one is asked over a connection that has been used.
        terminal.type("wrong\n")
        try terminal.wait(for: "Passcode: ")
        kill(pid_t(first), SIGKILL)
        // Its claim on the home goes before its connections; a zombie whose threads have ended has none.
        while let stat = try? String(contentsOfFile: "/proc/\(first)/stat", encoding: .utf8),
            let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(first)/task"),
            threads.count > 1 || !stat.contains(") Z ")
        {
            sched_yield()
        }
        terminal.type(Prepared.passcode + "\n")
        #expect(child.wait() == 0, "\(terminal.rest())")
        let agent = try #require(try sandbox.agent())
        #expect(agent["isUnlocked"] as? Bool == true && agent["process"] as? Int != first)
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5)
    }

    @Test(arguments: [
        (["verify", "--clean"], "the whole vault"), (["lock-policy", "set"], "the passcode itself"),
        (["passcode", "verify"], "the passcode itself"),
    ])
    func `a command that asks while the agent is unlocked says why`(_ words: [String], _ need: String) throws {
        let sandbox = try AgentSandbox()
        for isOpen in [false, true] {
            if isOpen { #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0) }
            let terminal = try PseudoTerminal()
            let settings = words[0] == "lock-policy" ? [isOpen ? "attempts=7" : "attempts=6"] : []
            let child = try sandbox.sandbox.start(words + settings, on: terminal, environment: sandbox.variables)
            let before = try terminal.wait(for: "Passcode: ")
            #expect(before.contains("This command needs \(need), so it asks once more.") == isOpen, "\(before)")
            terminal.type(Prepared.passcode + "\n")
            #expect(child.wait() == 0, "\(terminal.rest())")
        }
    }

    @Test func `an agent that cannot be used does not matter to what was typed`() throws {
        let sandbox = try AgentSandbox()
        let other = sandbox.path + "/other"
        try FileManager.default.createDirectory(
            atPath: other, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let elsewhere = ["XDG_RUNTIME_DIR": other]
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode, environment: elsewhere).code == 0)
        defer { _ = try? sandbox.run("lock", "--shut-down", environment: elsewhere) }
        let screen = try typed(["get", "greeting"], sandbox)
        #expect(screen.contains("not in this runtime folder; opening the vault without the agent"), "\(screen)")
        #expect(screen.contains(Prepared.greeting.prefix { $0 != "\n" }), "\(screen)")
        #expect(!screen.contains("Passcode: ") && !screen.contains("Unlocked until"), "\(screen)")
    }

    @Test func `a command that gives up leaves no agent that it started`() throws {
        let sandbox = try AgentSandbox()
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start("list", on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "Passcode: ")
        terminal.type("wrong\n")
        try terminal.wait(for: "Passcode: ")
        terminal.type("\u{3}")
        #expect(child.wait() == 130)
        #expect(try sandbox.agent() == nil)
        #expect(terminal.echoes)
    }

    /// The agent is stopped meanwhile, so that the check lasts.
    @Test(arguments: [SIGINT, SIGTERM, SIGTSTP])
    func `a signal while the passcode is checked brings the echo back`(_ signal: Int32) throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try sandbox.run("lock").code == 0)
        let agent = pid_t(try #require(try sandbox.agent()?["process"] as? Int))
        let terminal = try PseudoTerminal()
        // A shell with job control, where the command is stopped.
        let script = "set -m; '\(Program.path)' list; echo stopped=$?; read -r go; fg >/dev/null; echo ended=$?"
        let child =
            signal == SIGTSTP
            ? try sandbox.sandbox.start(
                ["-c", script], on: terminal, program: "/bin/bash", environment: sandbox.variables)
            : try sandbox.sandbox.start("list", on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "Passcode: ")
        kill(agent, SIGSTOP)
        defer { kill(agent, SIGCONT) }
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "Unlocking ...")
        #expect(!terminal.echoes)
        guard signal == SIGTSTP else {
            if signal == SIGINT { terminal.type("\u{3}") } else { kill(child.pid, signal) }
            #expect(child.wait() == 1000 + signal)
            #expect(terminal.echoes)
            return
        }
        terminal.type("\u{1A}")
        try terminal.wait(for: "stopped=148")
        #expect(terminal.echoes)
        terminal.type("go\n")
        try terminal.wait(for: "go")
        kill(agent, SIGCONT)
        try terminal.wait(for: "greeting")
        try terminal.wait(for: "ended=0")
        #expect(child.wait() == 0)
        #expect(terminal.echoes)
    }
}
