import Foundation
import TestSupport
import Testing

/// The import of a folder of pass, with the real gpg.
@Suite struct PassImportTests {
    private func load(_ sandbox: Sandbox, _ home: GPGHome, _ words: String...) throws -> Sandbox.Result {
        try sandbox.run(
            raw: (["import", sandbox.path + "/store"] + words).map { Array($0.utf8) }, passcode: Prepared.passcode,
            environment: home.variables)
    }

    @Test func `the folder of pass is decrypted with gpg, and what is not imported is listed`() throws {
        let sandbox = try Sandbox(prepared: true)
        let home = try GPGHome(sandbox)
        for folder in ["store/web", "store/sub", "store/.git"] {
            try FileManager.default.createDirectory(
                atPath: sandbox.path + "/" + folder, withIntermediateDirectories: true)
        }
        for (file, text) in [
            (".gpg-id", GPGHome.user), ("sub/.gpg-id", GPGHome.user), (".git/config", ""), ("README", "x"),
        ] {
            _ = try sandbox.file("\(text)\n".utf8, "store/" + file)
        }
        for (link, target) in [
            ("web/alias.gpg", "mail.gpg"), ("all", "web"), ("outside.gpg", "/etc/passwd"), ("gone.gpg", "no"),
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: sandbox.path + "/store/" + link, withDestinationPath: target)
        }
        try home.seal("s3cret\r\nlogin: ada\r\n", as: "store/web/mail.gpg")
        try home.seal("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP\n", as: "store/sub/code.gpg")
        let done = try load(sandbox, home, "--json")
        let report = try done.json()
        #expect(done.code == 8 && (report["added"] as? [String])?.sorted() == ["sub/code", "web/mail"], "\(done.text)")
        let notes = try #require(report["notUnderstood"] as? [[String: String]])
        #expect(notes.allSatisfy { $0["result"] == "left out" })
        #expect(
            notes.map { "\($0["name"] ?? "") \($0["place"] ?? ""): \($0["what"] ?? "")" }.sorted() == [
                "README : a file that is no entry of pass", "all web: another name of what is imported",
                "gone : a link to what is not in the store", "outside : a link to what is not in the store",
                "web/alias web/mail: another name of what is imported",
            ])
        #expect(try sandbox.run("show", "web/mail", "-f", "username", passcode: Prepared.passcode).text == "ada")
        let code = try sandbox.run("otp", "sub/code", passcode: Prepared.passcode)
        #expect(code.text.wholeMatch(of: /[0-9]{6}\n?/) != nil, "\(code.errors)")
    }

    @Test func `an entry that gpg cannot decrypt ends the import, or is left out and listed`() throws {
        let sandbox = try Sandbox(prepared: true)
        let home = try GPGHome(sandbox)
        try FileManager.default.createDirectory(atPath: sandbox.path + "/store", withIntermediateDirectories: true)
        _ = try sandbox.file("\(GPGHome.user)\n".utf8, "store/.gpg-id")
        try home.seal("s3cret\n", as: "store/mail.gpg")
        _ = try sandbox.file("no gpg".utf8, "store/broken.gpg")
        let refused = try load(sandbox, home)
        #expect(refused.code == 5 && refused.errors.contains("gpg cannot decrypt it; nothing was imported"))
        let rest = try load(sandbox, home, "--skip-faulty")
        #expect(
            rest.code == 8 && rest.errors.contains("left out: broken: an entry that cannot be read"), "\(rest.errors)")
        #expect(try sandbox.run("show", "mail", "-f", "password", passcode: Prepared.passcode).text == "s3cret")
    }

    /// In `make check` alone: it tries the other program, which does not change with ours.
    @Test(.enabled(if: TestRun.isCheck, "SKIPPED: tries other programs, see make check"))
    func `what the program pass wrote is imported`() throws {
        let sandbox = try Sandbox(prepared: true)
        let home = try GPGHome(sandbox)
        func pass(_ words: String..., input: String = "") throws {
            try home.run(
                "pass", words, input: input, ["PASSWORD_STORE_DIR": sandbox.path + "/store", "HOME": sandbox.path])
        }
        try pass("init", GPGHome.user)
        try pass("init", "-p", "team", GPGHome.user)
        try pass(
            "insert", "-m", "web/mail", input: "s3cret\nlogin: ada\nurl: https://a.example\nPIN: 1234\nfree text\n")
        try pass("insert", "-e", "plain", input: "one line\n")
        try pass("insert", "-m", "team/otp", input: "pw\notpauth://totp/x?secret=JBSWY3DPEHPK3PXP&period=60&digits=8\n")
        try pass("generate", "-n", "made", "20")
        let done = try load(sandbox, home)
        #expect(done.code == 0 && done.errors.contains("Imported 4 entries."), "\(done.errors)")
        for (entry, field, value) in [
            ("web/mail", "password", "s3cret"), ("web/mail", "username", "ada"), ("web/mail", "PIN", "1234"),
            ("web/mail", "website", "https://a.example"), ("web/mail", "notes", "free text"),
            ("plain", "password", "one line"), ("team/otp", "password", "pw"),
        ] {
            let shown = try sandbox.run("show", entry, "-f", field, passcode: Prepared.passcode)
            #expect(shown.text == value, "\(entry) \(field): \(shown.errors)")
        }
        #expect(try sandbox.run("show", "made", "-f", "password", passcode: Prepared.passcode).output.count == 20)
        let code = try sandbox.run("otp", "team/otp", passcode: Prepared.passcode)
        #expect(code.text.wholeMatch(of: /[0-9]{8}\n?/) != nil, "\(code.errors)")
    }
}
