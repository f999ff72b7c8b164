import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

/// holdfast health on real vaults, with and without an agent.
@Suite struct HealthCommandTests {
    private static let strong = "r4!Vd0pX&uH2qZ8mLw"
    private static let secrets = ["password", strong, "hunter2"]

    private func prepare() throws -> Sandbox {
        let sandbox = try Sandbox(prepared: true)
        try sandbox.withItems { items in
            func add(_ name: String, _ collection: String, _ password: String, tags: [String] = []) throws {
                var item = try Item(.login)
                try item.add(.text, "username", secret("ada"))
                try item.add(.secret, "password", secret(password))
                for tag in tags { try item.addTag(tag) }
                try items.add(item, as: name, in: collection)
            }
            try add("mail", "logins", Self.strong)
            try add("shop", "logins", Self.strong)
            try add("bad", "work", "password")
            try add("good", "work", "Xk29!mMp0%sQe71f_a")
            try add("asks", "work", "hunter2", tags: ["ask-each-time"])
        }
        return sandbox
    }

    private func lines(_ result: Sandbox.Result) -> [[String]] {
        result.text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    }

    private func hidesSecrets(_ result: Sandbox.Result) -> Bool {
        // The name of the field is a word, too.
        let text = (result.text + result.errors).replacing("password", with: "", maxReplacements: 100)
        return !text.contains(Self.strong) && !text.contains("hunter2") && !text.contains("5BAA6")
    }

    private static let expected = [
        ["work/bad", "weak", "password", "very-weak"], ["logins/mail", "reused", "password", "2"],
        ["logins/shop", "reused", "password", "2"],
    ]

    @Test func `one line for each finding, and an exit code of its own`() throws {
        let sandbox = try prepare()
        let found = try sandbox.run("health", passcode: Prepared.passcode)
        #expect(found.code == 9 && lines(found) == Self.expected, "\(found.text)\(found.errors)")
        #expect(found.errors.contains("1 entry left out: a tag says that you are asked before use"))
        #expect(hidesSecrets(found))
        let json = try sandbox.run("health", "--json", passcode: Prepared.passcode)
        let object = try json.json()
        #expect(json.code == 9 && object["guarded"] as? Int == 1 && object["passwords"] as? Int == 4)
        let findings = try #require(object["findings"] as? [[String: Any]])
        #expect(findings.map { $0["path"] as? String } == ["work/bad", "logins/mail", "logins/shop"])
        #expect(findings[0]["strength"] as? String == "very-weak" && findings[1]["entries"] as? Int == 2)
        #expect(hidesSecrets(json))
        let empty = try Sandbox(prepared: true).run("health", passcode: Prepared.passcode)
        #expect(empty.code == 0 && empty.output.isEmpty && empty.errors.isEmpty, "\(empty.errors)")
    }

    @Test func `folders say what is reported, and one that is not there is refused`() throws {
        let sandbox = try prepare()
        let logins = try sandbox.run("health", "logins/", passcode: Prepared.passcode)
        #expect(logins.code == 9 && lines(logins) == Array(Self.expected[1...]) && logins.errors.isEmpty)
        let both = try sandbox.run("health", "work", "logins", passcode: Prepared.passcode)
        #expect(lines(both) == Self.expected)
        let none = try sandbox.run("health", "nothing", passcode: Prepared.passcode)
        #expect(none.code == 6 && none.errors.contains("there is no folder 'nothing'"), "\(none.errors)")
    }

    @Test func `old passwords are those that were not changed for so many days`() throws {
        let sandbox = try prepare()
        try sandbox.withItems { items in
            var item = try Item(.login, now: WallTime.milliseconds - 40 * 86_400_000)
            try item.add(.secret, "password", secret("9!kLm_Wq2x&Pz7Ty"))
            try items.add(item, as: "forty", in: "age")
        }
        let old = try sandbox.run("health", "age", "--old=30", passcode: Prepared.passcode)
        #expect(
            old.code == 9 && lines(old).map { Array($0.prefix(3)) } == [["age/forty", "old", "password"]], "\(old.text)"
        )
        let young = try sandbox.run("health", "age", passcode: Prepared.passcode)
        #expect(young.code == 0 && young.output.isEmpty)
        let wrong = try sandbox.run("health", "--old=0", passcode: Prepared.passcode)
        #expect(wrong.code == 2)
    }

    @Test func `a list of breached passwords is read, and a hostile one refused before anything is asked for`() throws {
        let sandbox = try prepare()
        let list = try sandbox.file("5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:3730471\n".utf8, "list")
        let found = try sandbox.run("health", "work", "--breached", list, passcode: Prepared.passcode)
        #expect(
            found.code == 9 && lines(found).first == ["work/bad", "breached", "password", "3730471"], "\(found.errors)")
        #expect(hidesSecrets(found))
        let folder = sandbox.path + "/ranges"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        _ = try sandbox.file("1E4C9B93F3F0682250B6CF8331B7EE68FD8:5\r\n".utf8, "ranges/5BAA6.txt")
        let ranges = try sandbox.run("health", "work", "--breached", folder, passcode: Prepared.passcode)
        #expect(lines(ranges).first == ["work/bad", "breached", "password", "5"])
        #expect(ranges.errors.contains("1 password not looked up"), "\(ranges.errors)")
        let text = try sandbox.run("health", "--breached", sandbox.file("hello\n".utf8, "text"))
        #expect(text.code == 1 && text.errors.contains("does not begin with 40 hexadecimal digits"), "\(text.errors)")
        let device = try sandbox.run("health", "--breached", "/dev/zero", "--json")
        #expect(try device.code == 1 && device.jsonError()["code"] as? String == "input")
        let none = try sandbox.run("health", "--breached", sandbox.path + "/none", "--json")
        #expect(try none.code == 1 && none.jsonError()["code"] as? String == "noFile")
    }

    /// Nobody is there to be asked: an entry that asks would fail the command, if it were read.
    @Test func `through the agent the report is the same, and nobody is asked`() throws {
        let sandbox = try prepare()
        let script = """
            holdfast() { "$HOLDFAST" "$@"; }
            holdfast unlock --passcode-fd 3 3< "$PASSCODE" > /dev/null 2>&1 || exit 90
            holdfast health; echo "code $?"
            holdfast lock --shut-down > /dev/null
            """
        let passcode = try sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let result = try sandbox.run(
            "/bin/sh", raw: ["-c", script].map { Array($0.utf8) },
            environment: ["HOLDFAST": Program.path, "PASSCODE": passcode, "XDG_RUNTIME_DIR": sandbox.path])
        #expect(lines(result) == Self.expected + [["code 9"]], "\(result.text)\(result.errors)")
        #expect(result.errors.contains("1 entry left out"))
        #expect(hidesSecrets(result))
    }
}

private enum WallTime {
    static var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
