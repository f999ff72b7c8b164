import Foundation
import Testing

/// A first day, typed into a shell on a terminal: no line fails, and no passcode is asked for without a reason.
@Suite struct FirstDayTests {
    /// A shell on a terminal, and who types into it.
    private final class Shell {
        let terminal: PseudoTerminal
        private let child: Child

        init(_ sandbox: AgentSandbox) throws {
            terminal = try PseudoTerminal()
            let commands = sandbox.path + "/bin"
            try FileManager.default.createDirectory(atPath: commands, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: commands + "/holdfast", withDestinationPath: Program.path)
            let environment = sandbox.variables.merging([
                "PS1": "ready>", "TERM": "xterm", "PATH": commands + ":/usr/bin:/bin", "PWD": sandbox.path,
            ]) { $1 }
            child = try Child(
                "/bin/bash", raw: ["--norc", "--noprofile", "--noediting", "-i"].map { Array($0.utf8) },
                descriptors: [0: .terminal(terminal.path), 1: .terminal(terminal.path), 2: .terminal(terminal.path)],
                environment: environment)
            try terminal.wait(for: "ready>")
            try run("cd")
        }

        /// Types a line and what it asks for.
        /// - Returns: What it wrote behind the last answer.
        @discardableResult
        func run(_ line: String, _ answers: (prompt: String, answer: String)...) throws -> String {
            terminal.type(line + "\n")
            for (prompt, answer) in answers {
                try terminal.wait(for: prompt)
                terminal.type(answer + "\n")
            }
            return try end(of: line)
        }

        /// Waits for the end of a line that succeeds and asks for nothing more.
        func end(of line: String) throws -> String {
            let shown = try terminal.wait(for: "ready>")
            terminal.type("echo co\"\"de=$?.\n")
            try terminal.wait(for: "code=")
            let code = try terminal.wait(for: ".")
            #expect(code == "0.", "\(line): \(code) \(shown)")
            #expect(!shown.contains("asscode:"), "\(line): \(shown)")
            try terminal.wait(for: "ready>")
            return shown
        }

        func leave() {
            terminal.type("exit\n")
            _ = child.wait()
        }
    }

    @Test func `a first day`() throws {
        let sandbox = try AgentSandbox(prepared: false)
        let shell = try Shell(sandbox)
        shell.terminal.type("holdfast init\n")
        for prompt in ["New passcode: ", "Repeat passcode: "] {
            try shell.terminal.wait(for: prompt)
            shell.terminal.type("five words of my own\n")
        }
        let words = try shell.terminal.takePhrase().joined(separator: " ")
        #expect(try shell.end(of: "init").contains("holdfast add"), "what comes next is said")
        #expect(!shell.terminal.rest().contains(words.prefix(20)))

        let first = try shell.run(
            "holdfast add logins/mail -u ada --generate", ("Passcode: ", "five words of my own"))
        #expect(first.contains("Unlocked until 15 minutes pass without use"))
        for name in ["shop", "bank", "forum", "work/vpn", "work/wiki", "work/mail"] {
            try shell.run("holdfast add logins/\(name) -u ada --generate")
        }
        try shell.run("echo 'a note of two lines' | holdfast put notes/garden")
        try shell.run("holdfast add codes/site --kind otp --secret-fd 5 5<<<JBSWY3DPEHPK3PXP")
        try shell.run("holdfast add notes/wifi --kind note --secret-fd 5 5<<<'the password is long'")
        let list = try shell.run("holdfast list")
        for name in ["logins/mail", "logins/work/vpn", "notes/garden", "codes/site"] { #expect(list.contains(name)) }
        #expect(try shell.run("holdfast list logins/work").contains("logins/work/wiki"))
        #expect(try shell.run("holdfast list --tree").contains("  work/"))
        #expect(try shell.run("holdfast find forum").contains("logins/forum"))
        #expect(try shell.run("holdfast show bank").contains("username  ada"))
        #expect(try shell.run("holdfast otp site").firstMatch(of: /[0-9]{6}/) != nil)
        try shell.run("holdfast edit bank -f password --generate")
        #expect(try shell.run("holdfast history list bank").contains("password"))
        try shell.run("holdfast mv logins/forum archive/")
        let asked = try shell.run("holdfast rm wiki", ("Remove logins/work/wiki? [y/N] ", "y"))
        #expect(asked.contains("to the trash"))
        try shell.run("holdfast trash restore logins/work/wiki")
        #expect(try shell.run("holdfast get notes/garden").contains("a note of two lines"))
        #expect(try shell.run("holdfast run --env P=holdfast://notes/garden -- printenv P").contains("of two lines"))
        try shell.run("printf 'name,url,username,password,note\\nShop,https://shop.example,ada,one,\\n' > web.csv")
        let imported = try shell.run(
            "holdfast import web.csv --prefix web", ("Passcode: ", "five words of my own"))
        #expect(imported.contains("Imported 1 entry"))
        #expect(try shell.run("holdfast list web").contains("web/Shop"))
        try shell.run("holdfast backup stick")
        try shell.run("holdfast backup stick")
        try shell.run("holdfast lock")

        // The passcode is forgotten.
        shell.terminal.type("holdfast recover\n")
        try shell.terminal.wait(for: "not shown): ")
        shell.terminal.type(words + "x\n")
        // A slip is asked for again: the shell does not get the next line.
        try shell.terminal.wait(for: "not shown): ")
        shell.terminal.type(words + "\n")
        for prompt in ["New passcode: ", "Repeat passcode: "] {
            try shell.terminal.wait(for: prompt)
            shell.terminal.type("another five words here\n")
        }
        _ = try shell.end(of: "recover")
        try shell.run("holdfast show bank", ("Passcode: ", "another five words here"))
        try shell.run("holdfast restore stick --home elsewhere")
        let elsewhere = try shell.run(
            "holdfast list --home elsewhere --no-agent", ("Passcode: ", "five words of my own"))
        #expect(elsewhere.contains("logins/mail"))
        try shell.run("holdfast status")
        try shell.run("holdfast lock --shut-down")
        shell.leave()
    }
}
