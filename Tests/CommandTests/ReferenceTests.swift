import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat

/// What references name besides fields of text, in `run`, `inject`, `get` and `show`: codes, notes, files, and values
/// of any size.
@Suite struct ReferenceTests {
    /// RFC 6238, appendix B: the key `12345678901234567890`.
    private static let key = "otpauth://totp/a:b?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8&period=86400"
    /// More than a message has.
    private static let large: [UInt8] = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 5) }

    private let sandbox: AgentSandbox

    init() throws {
        sandbox = try AgentSandbox()
        try sandbox.sandbox.withItems { items in
            var login = try Item(.login)
            try login.add(.text, "username", secret("ada"))
            try login.add(.secret, "password", secret("pass word"))
            try login.add(.url, "website", secret("https://one.example"))
            try login.add(.url, "website", secret("https://two.example"))
            try login.add(.oneTimeCode, "one-time code", secret(Self.key))
            try login.add(.oneTimeCode, "by counter", secret("otpauth://hotp/a:b?secret=GEZDGNBV&counter=3"))
            try unsafe login.addFile("file", name: "id.txt", content: Array("small\0file".utf8).span.bytes)
            try unsafe login.addFile("file", name: "scan.bin", content: Self.large.span.bytes)
            try login.setNotes(secret("first line\nsecond"))
            try items.add(login, as: "mail", in: "logins")
        }
    }

    private func unlock() throws { #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0) }

    /// The code of now; a day's, so that it is hardly ever another one a moment later.
    private func code() throws -> String {
        let shown = try sandbox.run("otp", "logins/mail", "--no-agent", passcode: Prepared.passcode)
        #expect(shown.code == 0, "\(shown.errors)")
        return String(shown.text.dropLast())
    }

    @Test(arguments: [false, true])
    func `get takes a reference to a field, a file, the notes or a code`(isUnlocked: Bool) throws {
        if isUnlocked { try unlock() }
        func get(_ reference: String) throws -> Sandbox.Result {
            try sandbox.run(
                "get", "holdfast://logins/mail" + reference, passcode: isUnlocked ? nil : Prepared.passcode)
        }
        for (reference, value) in [
            ("", "pass word"), ("/username", "ada"), ("/website", "https://one.example"),
            ("/website#2", "https://two.example"), ("/website%232", "https://two.example"),
            ("/notes", "first line\nsecond"), ("/id.txt", "small\0file"), ("/file", "small\0file"),
            ("/one-time%20code", Self.key),
        ] {
            #expect(try get(reference).output == Array(value.utf8), "\(reference)")
        }
        #expect(try get("/scan.bin").output == Self.large)
        #expect(try get("/file#2").output == Self.large)
        let (before, main, named, after) = try (
            code(), get("?attribute=otp").text, get("/one-time%20code?attribute=otp").text, code()
        )
        #expect(main.utf8.count == 8 && [before, after].contains(main) && [before, after].contains(named))
        for (reference, code) in [
            ("/website#3", 6), ("/web", 6), ("/password?attribute=otp", 6), ("/by%20counter?attribute=otp", 6),
            ("?attribute=x", 2), ("/a/b", 2), ("/none?attribute=otp", 6),
        ] as [(String, Int32)] {
            let refused = try get(reference)
            #expect(refused.code == code && refused.output.isEmpty, "\(reference) \(refused.errors)")
        }
        let other = isUnlocked ? nil : Prepared.passcode
        #expect(try sandbox.run("get", "holdfast://files/big", passcode: other).output == Prepared.big)
        #expect(try sandbox.run("get", "holdfast://default/greeting", passcode: other).text == Prepared.greeting)
        #expect(try sandbox.run("get", "holdfast://nowhere/x", passcode: other).code == 6)
        #expect(try sandbox.run("status", "--json").json()["agent"] is NSNull == !isUnlocked)
    }

    @Test func `run gives the code of now, notes and files`() throws {
        try unlock()
        let reference = "holdfast://logins/mail"
        let before = try code()
        let result = try sandbox.run(
            "run", "--env", "C=\(reference)?attribute=otp", "--env", "N=\(reference)/notes", "--env",
            "W=\(reference)/website#2", "--", "sh", "-c", #"printf '%s|%s|%s' "$C" "$N" "$W""#)
        let after = try code()
        let ends = "|first line\nsecond|https://two.example"
        #expect([before + ends, after + ends].contains(result.text), "\(result.text) \(result.errors)")
        for (value, words) in [
            ("\(reference)/scan.bin", "holdfast get reads it"), ("\(reference)/id.txt", "zero byte"),
            ("\(reference)/by%20counter?attribute=otp", "holdfast otp"),
        ] {
            let refused = try sandbox.run("run", "--env", "A=\(value)", "--", "true")
            #expect(refused.code != 0 && refused.errors.contains(words), "\(refused.errors)")
        }
    }

    @Test(arguments: [false, true])
    func `inject writes values of any size and any bytes into a file, and only there`(isUnlocked: Bool) throws {
        if isUnlocked { try unlock() }
        let passcode = isUnlocked ? nil : Prepared.passcode
        let out = "/dev/shm/holdfast-\(UUID().uuidString)"
        defer { unsafe unlink(out) }
        let template = try sandbox.file(
            "a{{ holdfast://files/big }}b{{holdfast://logins/mail/scan.bin}}c{{ holdfast://logins/mail/id.txt }}d".utf8)
        let refused = try sandbox.run("inject", "--in", template, passcode: passcode)
        #expect(refused.code == 1 && refused.output.isEmpty && refused.errors.contains("--out"), "\(refused.errors)")
        let result = try sandbox.run("inject", "--in", template, "--out", out, passcode: passcode)
        #expect(result.code == 0, "\(result.errors)")
        let written = Array(try Data(contentsOf: URL(fileURLWithPath: out)))
        let parts: [[UInt8]] = [
            Array("a".utf8), Prepared.big, Array("b".utf8), Self.large, Array("csmall\0filed".utf8),
        ]
        #expect(written == parts.flatMap { $0 })
        unsafe unlink(out)
        let many = String(repeating: "{{ holdfast://files/big }}", count: 6)
        let tooLarge = try sandbox.run("inject", "--in", sandbox.file(many.utf8), "--out", out, passcode: passcode)
        #expect(tooLarge.code == 1 && tooLarge.errors.contains("16 MiB"), "\(tooLarge.errors)")
        #expect(!FileManager.default.fileExists(atPath: out))
        let missing = try sandbox.file("{{ holdfast://files/big }}{{ holdfast://files/none }}".utf8)
        #expect(try sandbox.run("inject", "--in", missing, "--out", out, passcode: passcode).code == 6)
        #expect(!FileManager.default.fileExists(atPath: out))
    }

    @Test func `what is in the folder of the Secret Service is not read, whatever its size`() throws {
        for (name, size) in [("small", 10), ("large", 2 << 20)] {
            let value = [UInt8](repeating: 0x78, count: size)
            let put = try sandbox.run(
                "put", "secret-service/" + name, passcode: Prepared.passcode, input: .file(sandbox.file(value)))
            #expect(put.code == 0, "\(put.errors)")
            let refused = try sandbox.run("get", "holdfast://secret-service/" + name, passcode: Prepared.passcode)
            #expect(
                refused.code != 0 && refused.output.isEmpty && refused.errors.contains("session bus"),
                "\(refused.errors)")
        }
    }

    @Test func `show names fields by the same rule`() throws {
        try unlock()
        func show(_ label: String) throws -> Sandbox.Result { try sandbox.run("show", "logins/mail", "-f", label) }
        #expect(try show("website#2").text == "https://two.example" && show("id.txt").text == "small\0file")
        #expect(try show("SCAN.BIN").output == Self.large && show("file#2").output == Self.large)
        #expect(try show("user").text == "ada" && show("notes").text == "first line\nsecond")
        #expect(try show("website#3").code == 6)
        let edited = try sandbox.run(
            "edit", "logins/mail", "-f", "website#2", "--secret-fd=5",
            descriptors: [5: .file(sandbox.file("https://three.example\n".utf8))])
        #expect(edited.code == 0, "\(edited.errors)")
        #expect(try show("website").text == "https://one.example" && show("website#2").text == "https://three.example")
    }

    /// A unit of systemd has neither a terminal nor `HOME`, nor `XDG_RUNTIME_DIR`.
    @Test func `a service runs, injects and reads with nothing in its environment, and leaves no agent`() throws {
        let sandbox = try AgentSandbox(prepared: false)
        let bare = ["HOLDFAST_TPM=swtpm:path=/nonexistent/tpm.sock"]
        func service(_ words: String..., input: Source = .null) throws -> Sandbox.Result {
            let all = ["-i"] + bare + [Program.path] + words
            return try sandbox.sandbox.run("/usr/bin/env", raw: all.map { Array($0.utf8) }, input: input)
        }
        let home = sandbox.path + "/service"
        #expect(try service("init", "--device", "--file", "--home", home).code == 0)
        let put = try service("put", "smtp", "--home", home, input: .file(sandbox.file("s3cret".utf8)))
        #expect(put.code == 0, "\(put.errors)")
        let variables = try sandbox.file("PLAIN=text\nSMTP=holdfast://default/smtp\n".utf8)
        let ran = try service(
            "run", "--home", home, "--env-file", variables, "--", "/bin/sh", "-c", "echo $PLAIN $SMTP ${HOME-none}")
        #expect(ran.text == "text s3cret none\n", "\(ran.errors)")
        let masked = try service(
            "run", "--home", home, "--mask", "--env-file", variables, "--", "/bin/sh", "-c", "echo $PLAIN")
        #expect(masked.text == "text\n", "\(masked.errors)")
        let out = "/dev/shm/holdfast-\(UUID().uuidString)"
        defer { unsafe unlink(out) }
        let template = try sandbox.file("password={{ holdfast://default/smtp }}".utf8)
        let injected = try service("inject", "--home", home, "--in", template, "--out", out)
        #expect(injected.code == 0, "\(injected.errors)")
        #expect(try String(contentsOfFile: out, encoding: .utf8) == "password=s3cret")
        for name in ["smtp", "holdfast://default/smtp"] {
            let got = try service("get", name, "--home", home)
            #expect(got.code == 0 && got.text == "s3cret", "\(got.errors)")
        }
        #expect(try service("get", "none", "--home", home).code == 6)
        #expect(!FileManager.default.fileExists(atPath: home + "/agent"), "an agent was started")
        // With the folder of a session too.
        let got = try sandbox.run("get", "smtp", "--home", home, environment: ["HOLDFAST_TPM": "swtpm:path=/none"])
        #expect(got.text == "s3cret", "\(got.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.runtime).isEmpty)
    }
}
