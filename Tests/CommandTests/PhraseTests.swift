import RealParts
import Testing

/// The vault's phrase is issued anew, and removed for who insists.
@Suite struct PhraseTests {
    private func issue(_ sandbox: Sandbox, _ passcode: String, to name: String) throws -> Sandbox.Result {
        try sandbox.run(
            "enroll", "phrase", "--passcode-fd=3", "--phrase-out-fd=4",
            descriptors: [3: sandbox.lines(passcode), 4: .output(sandbox.path + "/" + name)])
    }

    private func opens(_ sandbox: Sandbox, _ phrase: Source) throws -> Int32 {
        try sandbox.run("get", "greeting", "--phrase-fd=3", descriptors: [3: phrase]).code
    }

    @Test func aNewPhraseIsIssuedForTheRightPasscode() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try issue(sandbox, "wrong", to: "none").code == 3)
        #expect(try sandbox.bytes("none").isEmpty, "a phrase was issued for a wrong passcode")
        let issued = try issue(sandbox, Prepared.passcode, to: "phrase")
        #expect(issued.code == 0, "\(issued.errors)")
        #expect(issued.output.isEmpty)
        #expect(try sandbox.bytes("phrase").split(separator: UInt8(ascii: " ")).count == 24)
        #expect(try opens(sandbox, sandbox.lines(try Prepared.shared().phrase)) == 3)
        #expect(try opens(sandbox, .file(sandbox.path + "/phrase")) == 0)
    }

    @Test func aPhraseIsRemovedOnlyForWhoInsists() throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try sandbox.bytes("home/header")
        let refused = try sandbox.run("slots", "remove", "phrase", passcode: Prepared.passcode)
        #expect(refused.code == 1 && refused.errors.contains("--insist"), "\(refused.errors)")
        let elsewhere = try sandbox.run("slots", "remove", "tpm", "--insist", passcode: Prepared.passcode)
        #expect(
            elsewhere.code == 2 && elsewhere.errors.contains("is only for what takes the phrase away"),
            "\(elsewhere.errors)")
        #expect(try sandbox.bytes("home/header") == before)
        let removed = try sandbox.run("slots", "remove", "phrase", "--insist", passcode: Prepared.passcode)
        #expect(removed.code == 0, "\(removed.errors)")
        #expect(try sandbox.run("status", "--json").json()["slots"] as? [String] == ["passcode"])

        let phrase = try Prepared.shared().phrase
        #expect(try opens(sandbox, sandbox.lines(phrase)) == 1)
        let recovery = try sandbox.run(
            "recover", "--phrase-fd=3", "--passcode-fd=4",
            descriptors: [3: sandbox.lines(phrase), 4: sandbox.lines("new")])
        #expect(recovery.code == 1 && recovery.errors.contains("has no recovery phrase"), "\(recovery.errors)")
        let again = try sandbox.run("slots", "remove", "phrase", "--insist", passcode: Prepared.passcode)
        #expect(again.code == 1 && again.errors.contains("nothing was changed"))
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)

        #expect(try issue(sandbox, Prepared.passcode, to: "phrase").code == 0)
        #expect(try opens(sandbox, .file(sandbox.path + "/phrase")) == 0)
        let log = try sandbox.run("log", passcode: Prepared.passcode).text
        #expect(log.contains("the recovery phrase was removed") && log.contains("a new recovery phrase was issued"))
    }
}

extension EnrollTests {
    @Test func aVaultWithoutAPhraseGoesUnderTheTPMOnlyForWhoInsists() throws {
        #expect(try sandbox.run("slots", "remove", "phrase", "--insist", passcode: Prepared.passcode).code == 0)
        let phrase = try Prepared.shared().phrase
        let refused = try enroll(phrase: phrase)
        #expect(refused.code == 1 && refused.errors.contains("--insist"), "\(refused.errors)")
        let both = try sandbox.run(
            "enroll", "tpm", "--insist", "--phrase-fd", "4", passcode: Prepared.passcode,
            descriptors: [4: sandbox.lines(phrase)], environment: variables)
        #expect(both.code == 2, "\(both.errors)")
        let done = try sandbox.run(
            "enroll", "tpm", "--insist", passcode: Prepared.passcode, environment: variables)
        #expect(done.code == 0, "\(done.errors)")
        let here = try sandbox.run("get", "greeting", passcode: Prepared.passcode, environment: variables)
        #expect(here.text == Prepared.greeting, "\(here.errors)")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).code == 1)
    }
}
