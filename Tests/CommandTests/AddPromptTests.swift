import Foundation
import Testing

/// What `add` and `edit` ask for on a terminal.
@Suite struct AddPromptTests {
    private func opened() throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        return sandbox
    }

    @Test func `a login without options is asked for field by field`() throws {
        let sandbox = try opened()
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start("add", "mail", on: terminal, environment: sandbox.variables)
        for (prompt, value) in [
            ("username (Enter for none): ", "ada"), ("website (Enter for none): ", "https://mail.example"),
        ] {
            try terminal.wait(for: prompt)
            #expect(terminal.echoes)
            terminal.type(value + "\n")
        }
        for prompt in ["password (not shown, ? shows it; Enter for none): ", "Repeat password: "] {
            try terminal.wait(for: prompt)
            #expect(!terminal.echoes)
            terminal.type("correct horse battery\n")
        }
        try terminal.wait(for: "Added")
        #expect(child.wait() == 0)
        let shown = try sandbox.run("show", "mail", "-r").text
        let places = ["username", "password", "website"].map { label in shown.range(of: label)?.lowerBound }
        #expect(
            places.allSatisfy { $0 != nil } && places.compactMap(\.self) == places.compactMap(\.self).sorted(),
            "\(shown)")
        #expect(shown.contains("ada") && shown.contains("https://mail.example"), "\(shown)")

        // Enter skips, and any option asks for no more than before.
        let bare = try sandbox.sandbox.start("add", "bare", on: terminal, environment: sandbox.variables)
        for prompt in ["username (", "website (", "password ("] {
            try terminal.wait(for: prompt)
            terminal.type("\n")
        }
        #expect(bare.wait() == 0)
        _ = terminal.rest()
        let named = try sandbox.sandbox.start("add", "named", "-u", "ada", on: terminal, environment: sandbox.variables)
        let first = try terminal.wait(for: "password (")
        #expect(!first.contains("username") && !first.contains("website"))
        terminal.type("\n")
        #expect(named.wait() == 0)
    }

    /// Nothing that was typed before is lost, and what cannot be read is said at once.
    @Test func `an unreadable one-time key is asked for again, once each time`() throws {
        let sandbox = try opened()
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start("add", "codes", "--otp", on: terminal, environment: sandbox.variables)
        for prompt in ["password (", "Repeat password: "] {
            try terminal.wait(for: prompt)
            terminal.type("correct horse battery\n")
        }
        try terminal.wait(for: "code (otpauth:// text or key, not shown, ? shows it; Enter for none): ")
        terminal.type("not a key!\n")
        try terminal.wait(for: "letters from A to Z and digits from 2 to 7")
        try terminal.wait(for: "Enter for none): ")
        terminal.type("jbsw y3dp ehpk 3pxp\n")
        try terminal.wait(for: "Added")
        #expect(child.wait() == 0)
        #expect(try sandbox.run("otp", "codes").text.wholeMatch(of: /[0-9]{6}\n?/) != nil)
        #expect(try sandbox.run("show", "codes", "-f", "password").text == "correct horse battery")
    }

    @Test func `a question mark shows what is typed, and takes it off the terminal again`() throws {
        let sandbox = try opened()
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(
            "add", "visa", "--kind=card", on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "holder (Enter for none): ")
        #expect(terminal.echoes)
        terminal.type("Ada Lovelace\n")
        try terminal.wait(for: "number (not shown, ? shows it; Enter for none): ")
        terminal.type("?\n")
        try terminal.wait(for: "number: ")
        #expect(terminal.echoes)
        terminal.type("4111111111111111\n")
        let screen = try terminal.wait(for: "number: 16 characters")
        #expect(screen.contains("4111111111111111\r\n\u{1B}[1A\r\u{1B}[J"), "\(screen)")
        for (prompt, value) in [
            ("expires (Enter for none): ", "12/31"), ("Not understood: a date looks like 2031-12-24 or 2031-12.", ""),
            ("expires (Enter for none): ", "2031-12"), ("security code (", "123"), ("PIN (", "123"),
        ] {
            try terminal.wait(for: prompt)
            if !value.isEmpty { terminal.type(value + "\n") }
        }
        try terminal.wait(for: "Added")
        #expect(child.wait() == 0)
        let labels = ["holder", "number", "expires", "security code", "PIN"]
        let fields = try sandbox.run("show", "visa", "--json").json()["fields"] as? [[String: Any]]
        #expect(fields?.compactMap { $0["label"] as? String } == labels)
        #expect(try sandbox.run("show", "visa", "-f", "number").text == "4111111111111111")
    }

    @Test func `an identity without options is asked for field by field, and nothing that is left out`() throws {
        let sandbox = try opened()
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(
            "add", "me", "--kind=identity", on: terminal, environment: sandbox.variables)
        for (prompt, value) in [
            ("name", "Ada"), ("email", "ada@mail.example"), ("phone", ""), ("address", "Ockham Park"),
            ("born", "1815-12-10"),
        ] {
            try terminal.wait(for: "\(prompt) (Enter for none): ")
            terminal.type(value + "\n")
        }
        try terminal.wait(for: "Added")
        #expect(child.wait() == 0)
        let fields = try sandbox.run("show", "me", "--json").json()["fields"] as? [[String: Any]]
        #expect(fields?.compactMap { $0["label"] as? String } == ["name", "email", "address", "born"])
    }

    @Test func `notes are written in the editor`() throws {
        let sandbox = try opened()
        let terminal = try PseudoTerminal()
        let editor = sandbox.path + "/editor"
        try "#!/bin/sh\nprintf 'one\\ntwo\\n' > \"$1\"\n".write(toFile: editor, atomically: true, encoding: .utf8)
        #expect(unsafe chmod(editor, 0o700) == 0)
        let child = try sandbox.sandbox.start(
            "add", "wifi", "--kind=note", on: terminal,
            environment: sandbox.variables.merging(["VISUAL": "", "EDITOR": editor]) { $1 })
        try terminal.wait(for: "Added")
        #expect(child.wait() == 0)
        #expect(try sandbox.run("show", "wifi", "-f", "notes").text == "one\ntwo")
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.runtime) == ["holdfast"])
    }

    @Test func `a note that was not written is not added`() throws {
        let sandbox = try opened()
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(
            "add", "wifi", "--kind=note", on: terminal,
            environment: sandbox.variables.merging(["VISUAL": "", "EDITOR": "true"]) { $1 })
        try terminal.wait(for: "nothing was written; nothing was added")
        #expect(child.wait() == 1)
        #expect(try sandbox.run("show", "wifi").code == 6)
    }

    @Test func `a date that is none is asked for again`() throws {
        let sandbox = try opened()
        #expect(
            try sandbox.run(
                "add", "pass", "--kind=identity", "--date=expires=2031-12", "--secret-fd=5",
                descriptors: [5: sandbox.lines("")]
            ).code == 0)
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(
            "edit", "pass", "-f", "expires", on: terminal, environment: sandbox.variables)
        try terminal.wait(for: "new expires (Enter changes nothing): ")
        terminal.type("next year\n")
        try terminal.wait(for: "a date looks like 2031-12-24 or 2031-12")
        try terminal.wait(for: "new expires (Enter changes nothing): ")
        terminal.type("2032-01\n")
        try terminal.wait(for: "Changed")
        #expect(child.wait() == 0)
        #expect(try sandbox.run("show", "pass", "-f", "expires").text == "2032-01")
    }
}
