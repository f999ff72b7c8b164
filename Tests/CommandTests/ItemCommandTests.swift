import Foundation
import Testing

/// The items' commands on a vault that an agent keeps open, and without one.
@Suite struct ItemCommandTests {
    /// A vault with a login, open in an agent.
    private func opened() throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        try #require(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let added = try sandbox.run(
            "add", "logins/mail", "-u", "ada", "--url=https://mail.example", "-t", "work", "--secret-fd=5",
            descriptors: [5: sandbox.lines("hunter2")])
        try #require(added.code == 0 && added.output.isEmpty, "\(added.errors)")
        return sandbox
    }

    private func end(_ sandbox: AgentSandbox) throws { _ = try sandbox.run("lock", "--shut-down") }

    @Test func `a login is added and shown, and its secrets only when they are asked for`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let shown = try sandbox.run("show", "mail")
        #expect(shown.code == 0 && shown.text.contains("username  ada") && shown.text.contains("password  (hidden)"))
        #expect(!shown.text.contains("hunter2"))
        #expect(try sandbox.run("show", "MAIL", "-r").text.contains("password  hunter2"))
        #expect(try sandbox.run("show", "mail", "-fpass").text == "hunter2")
        let json = try sandbox.run("show", "mail", "--json").json()
        let fields = try #require(json["fields"] as? [[String: Any]])
        #expect(fields.map { $0["label"] as? String } == ["username", "password", "website"])
        #expect(fields[1]["value"] is NSNull && fields[0]["value"] as? String == "ada")
        #expect(try sandbox.run("show", "mail", "--json", "--reveal").text.contains("\"value\":\"hunter2\""))
        let missing = try sandbox.run("show", "mial")
        #expect(missing.code == 6 && missing.errors.contains("there is no entry 'mial'; did you mean 'logins/mail'?"))
        let field = try sandbox.run("show", "mail", "--field", "pasword")
        #expect(field.code == 6 && field.errors.contains("did you mean 'password'?"))
        let taken = try sandbox.run("add", "logins/mail", "--generate")
        #expect(taken.code == 1 && taken.errors.contains("already an entry 'logins/mail'"))
    }

    @Test func `the same works without an agent, and a plain value is shown as an item`() throws {
        let sandbox = try Sandbox(prepared: true)
        let added = try sandbox.run(
            "add", "card", "--kind=card", "--date=expires=2031-12", "--secret-fd=5", passcode: Prepared.passcode,
            descriptors: [5: sandbox.lines("4111", "", "0000")])
        #expect(added.code == 0, "\(added.errors)")
        let json = try sandbox.run("show", "card", "--json", "-r", passcode: Prepared.passcode).json()
        let fields = try #require(json["fields"] as? [[String: Any]])
        #expect(fields.map { $0["label"] as? String } == ["number", "PIN", "expires"])
        #expect(try sandbox.run("show", "greet", "-f", "value", passcode: Prepared.passcode).text == Prepared.greeting)
        // Still what it was.
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)
    }

    @Test func `control characters in names and values reach no terminal and no line of their own`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let name = "evil\u{1B}[2J\nname"
        let refused = try sandbox.run("add", name, "--generate")
        #expect(
            refused.code == 2 && refused.errors.contains("no new entry can be called 'evil\\u{1b}"), "\(refused.errors)"
        )
        let added = try sandbox.run(
            "add", name, "--collection=default", "--text=a=b\u{1B}]0;x\u{7}", "--secret-fd=5",
            descriptors: [5: sandbox.lines("x\u{1B}[31m")])
        #expect(added.code == 0, "\(added.errors)")
        for words in [["show", name, "-r"], ["show", name, "--json", "-r"], ["list"], ["find", "evil"]] {
            let shown = try sandbox.run(raw: words.map { Array($0.utf8) })
            #expect(shown.code == 0 && !shown.text.contains("\u{1B}") && !shown.text.contains("\u{7}"))
        }
        #expect(try sandbox.run("show", name, "-f", "password").text == "x\u{1B}[31m")
        #expect(
            try sandbox.run("complete", "items").text.split(separator: "\n").sorted()
                == [#"evil\u{1b}[2J\u{a}name"#, "files/big", "greeting", "logins/mail"])
        let values = try sandbox.run("complete", "values").text.split(separator: "\n").map(String.init)
        #expect(values.sorted() == ["files/big", "greeting"])
        for path in values {
            #expect(try sandbox.run("get", path).code == 0, "\(path) is completed, but not read")
        }
        for path in ["files/big", "logins/mail"] {
            #expect(try sandbox.run("mv", path, "moved/").code == 0, "\(path) is completed, but not found")
        }
        let label = try sandbox.run("add", "other", "--text=a\u{7}=b", "--generate")
        #expect(label.code == 2)
    }

    @Test func `a generated password obeys its rules, and --secret-fd 5 that is short is an error`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        #expect(try sandbox.run("add", "pin", "-g", "--length=6", "--kinds=digits").code == 0)
        #expect(try sandbox.run("show", "pin", "-f", "password").text.wholeMatch(of: /[0-9]{6}/) != nil)
        let short = try sandbox.run(
            "add", "card", "--kind=card", "--secret-fd=5", descriptors: [5: sandbox.lines("4111")])
        #expect(short.code == 1)
        #expect(try sandbox.run("show", "card").code == 6)
        #expect(try sandbox.run("add", "x", "--length=6").code == 2)
        #expect(try sandbox.run("add", "x").code == 2)  // nowhere to ask
    }

    @Test func `an earlier value comes back, and what was there becomes an earlier one`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let changed = try sandbox.run(
            "edit", "mail", "-f", "password", "--secret-fd=5", descriptors: [5: sandbox.lines("second")])
        #expect(changed.code == 0, "\(changed.errors)")
        #expect(try sandbox.run("show", "mail", "-f", "password").text == "second")
        let history = try sandbox.run("history", "list", "mail")
        #expect(history.text.contains("password") && !history.text.contains("hunter2"))
        #expect(try sandbox.run("history", "restore", "mail", "1").code == 0)
        #expect(try sandbox.run("show", "mail", "-f", "password").text == "hunter2")
        #expect(try sandbox.run("history", "list", "mail", "-r").text.contains("second"))
        #expect(try sandbox.run("history", "restore", "mail", "3").code == 6)
    }

    @Test func `an item that is removed is in the trash until it is put back or emptied`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        #expect(try sandbox.run("rm", "mail").code == 6)  // no guessing when something goes
        #expect(try sandbox.run("rm", "logins/mail").code == 0)
        #expect(try sandbox.run("show", "mail").code == 6)
        #expect(try sandbox.run("trash", "list").text.contains("logins/mail"))
        #expect(try sandbox.run("trash", "restore", "logins/mail", "--as=back").code == 0)
        #expect(try sandbox.run("show", "back", "-f", "password").text == "hunter2")
        #expect(try sandbox.run("rm", "back").code == 0)
        #expect(try sandbox.run("trash", "empty").code == 2)  // nobody to ask
        // A number behind a name is for putting back alone.
        #expect(try sandbox.run("trash", "empty", "back#1", "--yes").code == 6)
        #expect(try sandbox.run("trash", "restore", "back#1").code == 0)
        #expect(try sandbox.run("rm", "back").code == 0)
        #expect(try sandbox.run("trash", "empty", "--yes").code == 0)
        #expect(try sandbox.run("trash", "list", "--json").text == "{\"trash\":[]}\n")
        // A value goes there too, and comes back as one.
        #expect(try sandbox.run("rm", "greeting").code == 0)
        #expect(try sandbox.run("trash", "restore", "greeting").code == 0)
        #expect(try sandbox.run("get", "greeting").text == Prepared.greeting)
        let large = try sandbox.run("rm", "files/big")
        #expect(large.code == 1 && large.errors.contains("--for-good removes it at once"), "\(large.errors)")
        #expect(try sandbox.run("rm", "files/big", "--for-good").code == 0)
        #expect(try sandbox.run("add", "x", "-g").code == 0)
        #expect(try sandbox.run("rm", "x", "--for-good").code == 0)
        #expect(try sandbox.run("trash", "list", "--json").text == "{\"trash\":[]}\n")
    }

    @Test func `tags are added, removed and completed`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        #expect(try sandbox.run("tag", "add", "mail", "a b", "z").code == 0)
        #expect(try sandbox.run("tag", "list").text == "a b\nwork\nz\n")
        #expect(try sandbox.run("complete", "tags").text == "a b\nwork\nz\n")
        #expect(try sandbox.run("tag", "remove", "mail", "work", "none").code == 0)
        let nothing = try sandbox.run("tag", "remove", "mail", "none")
        #expect(nothing.code == 0 && nothing.errors == "holdfast: logins/mail\nholdfast: nothing changed\n")
        #expect(try sandbox.run("tag", "list", "--json").text == "{\"tags\":[\"a b\",\"z\"]}\n")
        #expect(try sandbox.run("find", "#z").text.contains("logins/mail"))
        #expect(try sandbox.run("complete", "fields", "mail").text == "username\npassword\nwebsite\n")
        _ = try sandbox.run("lock")
        let locked = try sandbox.run("complete", "items")
        #expect(locked.code == 0 && locked.output.isEmpty && locked.errors.isEmpty)
    }

    @Test(.enabled(if: QRPictures.canDraw, "qrencode is needed (scripts/bootstrap --test)"))
    func `the key of one-time codes is read from a picture of its QR code`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let text = "otpauth://totp/Ex:ada?secret=JBSWY3DPEHPK3PXP&issuer=Ex"
        let picture = try QRPictures.draw(text, sandbox.sandbox)
        let added = try sandbox.run(
            "add", "codes", "--kind=otp", "--qr-image=\(picture)", "--secret-fd=5", descriptors: [5: sandbox.lines("")])
        #expect(added.code == 0 && !added.errors.contains("JBSWY"), "\(added.errors)")
        #expect(
            try sandbox.run("show", "codes", "-f", "code").text.hasPrefix(
                "otpauth://totp/Ex:ada?secret=JBSWY3DPEHPK3PXP"))
        let edited = try sandbox.sandbox.run(
            "edit", "mail", "--qr-image=-", input: .file(picture), environment: sandbox.variables)
        #expect(edited.code == 0, "\(edited.errors)")
        #expect(try sandbox.run("otp", "mail").text.wholeMatch(of: /[0-9]{6}\n?/) != nil)
        let other = try QRPictures.draw("https://a.example", sandbox.sandbox)
        let noCode = try sandbox.run("edit", "mail", "--qr-image=\(other)")
        #expect(noCode.code == 5 && noCode.errors.contains("no QR code of one-time codes"), "\(noCode.errors)")
        for bytes in [Array("<svg/>".utf8), Array(try sandbox.sandbox.contents(picture).prefix(60)), []] {
            let none = try sandbox.run("edit", "mail", "--qr-image=\(sandbox.file(bytes))")
            #expect(none.code == 5, "\(none.errors)")
        }
    }

    @Test func `a weak password that is typed is said to be weak, and no other secret`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let terminal = try PseudoTerminal()
        let child = try sandbox.sandbox.start(
            "add", "weak", "--secret=PIN", on: terminal, environment: sandbox.variables)
        for (label, value) in [("password", "password"), ("PIN", "1234")] {
            try terminal.wait(for: "\(label) (not shown")
            terminal.type(value + "\n")
            guard label == "password" else { continue }
            try terminal.wait(for: "Repeat \(label)")
            terminal.type(value + "\n")
            try terminal.wait(for: "This password is easily guessed")
        }
        try terminal.wait(for: "Added")
        #expect(!terminal.rest().contains("This PIN"))
        #expect(child.wait() == 0)
    }

    @Test func `a folder that another program keeps alike with other machines is warned of`() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try !sandbox.run("status").errors.contains("syncs"))
        try FileManager.default.createDirectory(atPath: sandbox.path + "/.stfolder", withIntermediateDirectories: false)
        let status = try sandbox.run("status")
        #expect(status.code == 0 && status.errors.contains("WARNING: Syncthing syncs"), "\(status.errors)")
        let made = try sandbox.run(
            "init", "--device", "--file", "--home=\(sandbox.path)/new/vault")
        #expect(made.code == 0 && made.errors.contains("WARNING: Syncthing syncs"), "\(made.errors)")
        let found = try sandbox.run("doctor", "--json", environment: DoctorTests.nothing)
        let parts = try #require(try found.json()["parts"] as? [[String: Any]])
        let folder = try #require(parts.first { $0["part"] as? String == "files" })
        #expect(folder["state"] as? String == "broken")
        #expect((folder["words"] as? String)?.hasPrefix("Syncthing syncs /") == true, "\(folder)")
    }

    @Test func `a code by counter is the one of RFC 4226, and no number comes twice even from two at once`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        let key = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
        let added = try sandbox.run("add", "token", "--kind=otp", "--secret-fd=5", descriptors: [5: sandbox.lines(key)])
        #expect(added.code == 0, "\(added.errors)")
        #expect(try sandbox.run("otp", "token").text == "755224\n")
        #expect(
            try sandbox.run("otp", "token", "--json").text
                == "{\"code\":\"287082\",\"remainingSeconds\":null,\"counter\":1}\n")
        let children = try (0..<4).map { number in
            try Child(
                raw: ["otp", "token"].map { Array($0.utf8) },
                descriptors: [
                    1: .output(sandbox.path + "/code-\(number)"), 2: .output(sandbox.path + "/errors-\(number)"),
                ],
                environment: sandbox.variables)
        }
        #expect(children.allSatisfy { $0.wait() == 0 })
        let codes = try (0..<4).map { String(decoding: try sandbox.bytes("code-\($0)"), as: UTF8.self) }
        #expect(Set(codes) == ["359152\n", "969429\n", "338314\n", "254676\n"])
        #expect(try sandbox.run("show", "token", "--json").json()["modified"] != nil)
        #expect(try sandbox.run("history", "list", "token", "--json").text == "{\"history\":[]}\n")
        let none = try sandbox.run("otp", "mail")
        #expect(none.code == 6 && none.errors.contains("no one-time code"))
    }

    @Test func `short options stand alone, with a value in the same word, and together`() throws {
        let sandbox = try opened()
        defer { try? end(sandbox) }
        for words in [
            ["show", "mail", "-f", "username"], ["show", "mail", "-fusername"], ["show", "-rf", "username", "mail"],
        ] {
            #expect(try sandbox.run(raw: words.map { Array($0.utf8) }).text == "ada")
        }
        #expect(try sandbox.run("show", "mail", "-z").code == 2)
        #expect(try sandbox.run("show", "mail", "-f").code == 2)
    }
}
