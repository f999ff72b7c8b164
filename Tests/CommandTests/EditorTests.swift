import Foundation
import TestSupport
import Testing

/// `edit` with editors that are scripts: what they do, what they leave, and what goes wrong.
@Suite struct EditorTests {
    private func opened() throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        try #require(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let added = try sandbox.run(
            "add", "mail", "-u", "ada", "--secret-fd=5", descriptors: [5: sandbox.lines("hunter2")])
        try #require(added.code == 0, "\(added.errors)")
        return sandbox
    }

    private func end(_ sandbox: AgentSandbox) throws { _ = try sandbox.run("lock", "--shut-down") }

    /// A script that gets the path of the text as `$1`.
    private func editor(_ sandbox: AgentSandbox, _ script: String) throws -> [String: String] {
        let path = try sandbox.file("#!/bin/sh\nprintf '%s' \"$1\" >> '\(sandbox.path)/paths'\n\(script)\n".utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return ["EDITOR": path, "VISUAL": ""]
    }

    private func password(_ sandbox: AgentSandbox) throws -> String {
        try sandbox.run("show", "mail", "-f", "password").text
    }

    /// The folder that the editor saw is gone with all that was in it.
    private func leftNothing(_ sandbox: AgentSandbox) throws -> Bool {
        let path = String(decoding: try sandbox.bytes("paths"), as: UTF8.self)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return folder.contains("/holdfast-edit-") && !FileManager.default.fileExists(atPath: folder)
    }

    @Test func `what the editor saves is stored, and its folder goes with backups and links in it`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let victim = try sandbox.sandbox.file("keep".utf8, "victim")
        let variables = try editor(
            sandbox,
            """
            stat -c %a "${1%/*}" "$1" > '\(sandbox.path)/modes'
            cp "$1" "$1~"; mkdir "${1%/*}/sub"; cp "$1" "${1%/*}/sub/swap"; ln -s '\(victim)' "${1%/*}/link"
            sed 's/hunter2/new one/' "$1" > "$1.new" && mv "$1.new" "$1"
            """)
        let edited = try sandbox.run("edit", "mail", environment: variables)
        #expect(edited.code == 0, "\(edited.errors)")
        #expect(try password(sandbox) == "new one")
        #expect(try leftNothing(sandbox))
        #expect(String(decoding: try sandbox.bytes("modes"), as: UTF8.self) == "700\n600\n")
        #expect(try sandbox.bytes("victim") == Array("keep".utf8))
    }

    /// Yanked and deleted lines would go to `~/.viminfo`.
    @Test(arguments: ["editor", "vi", "vim", "LANG=C vi -R", "nvim"])
    func `Vim is told to write nothing elsewhere, whatever it is called`(_ command: String) throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let name = try #require(command.split(separator: " ").first { !$0.contains("=") }.map(String.init))
        let program = try sandbox.sandbox.file(
            "#!/bin/sh\nprintf '%s ' \"$@\" > '\(sandbox.path)/words'\n".utf8, name == "nvim" ? name : "vim.basic")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        if name != "nvim" {
            try FileManager.default.createSymbolicLink(
                atPath: sandbox.path + "/" + name, withDestinationPath: "vim.basic")
        }
        let editor = command.replacing(name, with: sandbox.path + "/" + name)
        let edited = try sandbox.run("edit", "mail", environment: ["EDITOR": editor, "VISUAL": ""])
        #expect(edited.code == 0, "\(edited.errors)")
        let words = String(decoding: try sandbox.bytes("words"), as: UTF8.self)
        #expect(words.contains("-n -i NONE -c set noundofile nobackup nowritebackup /"), "\(words)")
    }

    @Test(arguments: ["exit 3", "kill -9 $$", "rm \"$1\"", "echo 'secrt x: y' > \"$1\"", "ln -sf /etc/passwd \"$1\""])
    func `an editor that fails changes nothing and leaves nothing`(_ script: String) throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let edited = try sandbox.run("edit", "mail", environment: editor(sandbox, script))
        #expect(edited.code != 0 && !edited.errors.contains("hunter2"))
        #expect(try password(sandbox) == "hunter2")
        #expect(try leftNothing(sandbox))
    }

    @Test func `an emptied text is asked for, and what is not meant changes nothing`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let variables = try editor(sandbox, ": > \"$1\"")
        for (answer, last, code) in [("", "cancelled; nothing was changed", Int32(1)), ("y", "Changed", 0)] {
            let terminal = try PseudoTerminal()
            let child = try sandbox.sandbox.start(
                "edit", "mail", on: terminal, environment: sandbox.variables.merging(variables) { $1 })
            try terminal.wait(for: "This removes all fields of mail. Continue? [y/N] ")
            #expect(try password(sandbox) == "hunter2")
            terminal.type(answer + "\n")
            try terminal.wait(for: last)
            #expect(child.wait() == code)
        }
        #expect(try sandbox.run("show", "mail", "-f", "password").code == 6)
    }

    @Test func `what is said of the value before is true`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let put = try sandbox.run("put", "token", input: .file(sandbox.file("first".utf8)))
        try #require(put.code == 0, "\(put.errors)")
        for (name, field, said, isKept) in [
            ("token", "value", "The value before is gone: ", false),
            ("mail", "password", "The value before is in its history.", true),
        ] {
            let terminal = try PseudoTerminal()
            let child = try sandbox.sandbox.start(
                "edit", name, "-f", field, "--generate", on: terminal, environment: sandbox.variables)
            try terminal.wait(for: said)
            #expect(child.wait() == 0)
            let history = try sandbox.run("history", "list", name).text
            #expect(history.contains(field) == isKept, "\(history)")
        }
    }

    @Test func `what another program wrote meanwhile is not replaced`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let variables = try editor(
            sandbox, "'\(Program.path)' edit mail -f password -g --length 9 && sed -i s/hunter2/mine/ \"$1\"")
        let edited = try sandbox.run("edit", "mail", environment: variables)
        #expect(edited.code == 1 && edited.errors.contains("changed by another program"))
        #expect(try password(sandbox).utf8.count == 9)
    }

    @Test func `an agent that locks meanwhile costs a passcode, and nothing that was edited`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let terminal = try PseudoTerminal()
        let variables = try editor(sandbox, "'\(Program.path)' lock; sed -i s/hunter2/kept/ \"$1\"")
        let child = try sandbox.sandbox.start(
            "edit", "mail", on: terminal, environment: sandbox.variables.merging(variables) { $1 })
        try terminal.wait(for: "Passcode: ")
        terminal.type("\u{4}")
        try terminal.wait(for: "Press Enter to edit again, or type discard: ")
        terminal.type("\n")
        try terminal.wait(for: "Passcode: ")
        terminal.type("wrong one\n")
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "Changed")
        #expect(child.wait() == 0)
        #expect(try sandbox.run("show", "mail", "-f", "password", passcode: Prepared.passcode).text == "kept")
    }

    @Test func `a text that is not understood brings the editor back with it`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let terminal = try PseudoTerminal()
        let variables = try editor(
            sandbox, "grep -q BAD \"$1\" && sed -i 's/^BAD.*$/text extra: y/' \"$1\" || echo BAD >> \"$1\"")
        let child = try sandbox.sandbox.start(
            "edit", "mail", on: terminal, environment: sandbox.variables.merging(variables) { $1 })
        try terminal.wait(for: "line ")
        try terminal.wait(for: "Press Enter to edit again, or type discard: ")
        terminal.type("\n")
        try terminal.wait(for: "Changed")
        #expect(child.wait() == 0)
        #expect(try sandbox.run("show", "mail", "-f", "extra").text == "y")
    }

    @Test func `a command that is ended ends its editor and leaves nothing`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let variables = try editor(sandbox, "echo $$ > '\(sandbox.path)/pid'; kill -TERM $PPID; exec sleep 1000")
        let edited = try sandbox.run("edit", "mail", environment: variables)
        #expect(edited.code == 130)
        let pid = try #require(
            Int32(String(decoding: try sandbox.bytes("pid"), as: UTF8.self).trimmingCharacters(in: .newlines)))
        #expect(kill(pid, 0) != 0)
        #expect(try leftNothing(sandbox))
    }

    /// The agent stands still, so the command is caught between its editor and its end.
    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
    func `a command that is ended behind its editor leaves nothing`(_ number: Int32) throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let agent = pid_t(try #require(try sandbox.agent()?["process"] as? Int))
        let variables = try editor(sandbox, "kill -STOP \(agent); sed -i 's/hunter2/new one/' \"$1\"")
        let edited = try sandbox.run(
            raw: ["edit", "mail"].map { Array($0.utf8) }, environment: variables
        ) { command in
            // While the editor runs, the command has a handler for SIGTERM.
            let isBehind = Patience.wait {
                let status = try? String(contentsOfFile: "/proc/\(command)/status", encoding: .utf8)
                let line = status?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
                let caught = line.flatMap { UInt64($0.split(separator: "\t").last ?? "", radix: 16) }
                return sandbox.sandbox.exists("paths") && caught.map { $0 & 1 << UInt64(SIGTERM - 1) == 0 } ?? true
            }
            #expect(isBehind)
            kill(command, number)
            kill(agent, SIGCONT)
        }
        #expect(edited.code == 1000 + number, "\(edited.errors)")
        #expect(try leftNothing(sandbox))
    }

    @Test func `what a killed command left is removed by the next one`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let killed = try sandbox.run("edit", "mail", environment: editor(sandbox, "kill -KILL $PPID; exit"))
        #expect(killed.code == 1009)
        #expect(try sandbox.run("edit", "mail", environment: ["EDITOR": "true", "VISUAL": ""]).code == 0)
        #expect(try leftNothing(sandbox))
    }

    @Test func `a long secret of several lines is typed, and a password that is not repeated is asked for again`()
        throws
    {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let terminal = try PseudoTerminal()
        let key = (0..<200).map { "line \($0) " + String(repeating: "x", count: 40) + "\n" }.joined()
        let child = try sandbox.sandbox.start(
            "add", "key", "--kind=ssh-key", on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "passphrase (not shown")
        #expect(!terminal.echoes)
        terminal.type("typo\u{7F}\u{7F}\u{7F}\u{7F}\n")
        try terminal.wait(for: "private key")
        for piece in key.split(separator: "\n") { terminal.type(piece + "\n") }
        terminal.type("\u{4}")
        try terminal.wait(for: "Added")
        #expect(child.wait() == 0)
        #expect(try sandbox.run("show", "key", "-f", "private key").text == key)
        let long = String(repeating: "y", count: 6000)
        let second = try sandbox.sandbox.start(
            "edit", "mail", "-f", "password", on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "new password")
        terminal.type(long + "\n")
        try terminal.wait(for: "Repeat")
        terminal.type(long + "\n")
        try terminal.wait(for: "Changed")
        #expect(second.wait() == 0)
        #expect(try password(sandbox) == long)
        let third = try sandbox.sandbox.start(
            "edit", "mail", "-f", "password", on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "new password")
        terminal.type("one\n")
        try terminal.wait(for: "Repeat")
        terminal.type("two\n")
        try terminal.wait(for: "The two entries differ. Try again.")
        try terminal.wait(for: "new password")
        terminal.type("\u{3}")
        #expect(third.wait() == 130)
        #expect(try password(sandbox) == long)
    }
}
