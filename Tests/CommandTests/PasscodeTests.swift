import Foundation
import Testing

/// Passcodes, the recovery phrase, and what is refused.
@Suite struct PasscodeTests {
    @Test func initNeverOverwrites() throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try sandbox.bytes("home/header")
        let again = try sandbox.run(
            "init", "--phrase-out-fd=4", passcode: "correct horse", descriptors: [4: .output(sandbox.path + "/phrase")])
        #expect(again.code == 1)
        #expect(again.errors.contains("a vault already exists at \(sandbox.home); nothing was changed"))
        #expect(try sandbox.bytes("home/header") == before)
        #expect(try sandbox.bytes("phrase").isEmpty)

        let other = try Sandbox()
        _ = try other.file("mine".utf8, "mine")
        let elsewhere = try other.run(
            "init", "--phrase-out-fd=4", "--home", other.path, passcode: "correct horse",
            descriptors: [4: .output(sandbox.path + "/phrase")])
        #expect(elsewhere.code == 1)
        #expect(try other.bytes("mine") == Array("mine".utf8))
        #expect(!other.exists("header"))
    }

    @Test func `a passcode that is guessed at once is refused unless the user insists`() throws {
        let sandbox = try Sandbox()
        let words = sandbox.path + "/phrase"
        let refused = try sandbox.run(
            "init", "--phrase-out-fd=4", passcode: "letmein", descriptors: [4: .output(words)])
        #expect(refused.code == 1 && refused.errors.contains("--weak"), "\(refused.errors)")
        #expect(!sandbox.exists("home"))
        let insisted = try sandbox.run(
            "init", "--weak", "--phrase-out-fd=4", passcode: "letmein", descriptors: [4: .output(words)])
        #expect(insisted.code == 0, "\(insisted.errors)")
    }

    @Test func thePhraseHas24Words() throws {
        let words = try Prepared.shared().phrase.split(separator: " ")
        #expect(words.count == 24)
        #expect(words.allSatisfy { $0.allSatisfy { ("a"..."z").contains($0) } })
    }

    @Test func aWrongPasscodeTellsWhatRemains() throws {
        let sandbox = try Sandbox(prepared: true)
        let first = try sandbox.run("get", "greeting", passcode: "wrong 1")
        #expect(first.code == 3)
        #expect(first.output.isEmpty)
        #expect(first.errors.contains("wrong passcode; 4 attempts remain"))
        let repeated = try sandbox.run("passcode", "verify", "--json", passcode: "wrong 1")
        #expect(repeated.code == 3)
        #expect(try repeated.jsonError()["code"] as? String == "wrongPasscode")
        #expect(try repeated.jsonError()["remainingAttempts"] as? Int == 3, "another process does not know it again")
        let third = try sandbox.run("list", "--json", passcode: "wrong 3")
        #expect(third.code == 3)
        #expect(try third.jsonError()["remainingAttempts"] as? Int == 2)
        #expect(try third.jsonError()["retryAfterSeconds"] as? Int ?? 0 > 0)

        // Now even the right one has to wait, and is not asked for.
        let right = unsafe open(try sandbox.file((Prepared.passcode + "\n").utf8), O_RDONLY)
        defer { close(right) }
        let delayed = try sandbox.run("passcode", "verify", "--json", "--passcode-fd=3", descriptors: [3: .ours(right)])
        #expect(lseek(right, 0, SEEK_CUR) == 0)
        #expect(try sandbox.run("get", "greeting", "--passcode-fd=3", descriptors: [3: .ours(right)]).code == 4)
        #expect(lseek(right, 0, SEEK_CUR) == 0)
        #expect(delayed.code == 4)
        #expect(try delayed.jsonError()["code"] as? String == "delayed")
        #expect(try delayed.jsonError()["retryAfterSeconds"] as? Int ?? 0 > 0)
        #expect(delayed.errors.contains("too many wrong passcodes"))
        #expect(delayed.errors.contains("holdfast recover opens the vault with it"), "\(delayed.errors)")
        let status = try sandbox.run("status", "--json")
        #expect(status.code == 0)
        #expect(try status.json()["remainingAttempts"] as? Int == 2)
        #expect(try status.json()["retryAfterSeconds"] as? Int ?? 0 > 0)

        // The phrase opens at once and is not counted.
        let phrase = try sandbox.lines(try Prepared.shared().phrase)
        let get = try sandbox.run("get", "greeting", "--phrase-fd", "3", descriptors: [3: phrase])
        #expect(get.text == Prepared.greeting)
    }

    @Test func aRightPasscodeIsSaidToBe() throws {
        let sandbox = try Sandbox(prepared: true)
        let right = try sandbox.run("passcode", "verify", "--json", passcode: Prepared.passcode)
        #expect(right.code == 0)
        #expect(try right.json()["isCorrect"] as? Bool == true)
        #expect(try right.json()["remainingAttempts"] as? Int == 5)
    }

    @Test("passcode that cannot be one", arguments: ["", String(repeating: "x", count: 1025)])
    func isNotCounted(_ passcode: String) throws {
        let sandbox = try Sandbox(prepared: true)
        let result = try sandbox.run("passcode", "verify", passcode: passcode)
        #expect(result.code == 1)
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5)
    }

    @Test func thePasscodeIsChanged() throws {
        let sandbox = try Sandbox(prepared: true)
        let same = try sandbox.run(
            "passcode", "change", "--passcode-fd", "3",
            descriptors: [3: sandbox.lines(Prepared.passcode, Prepared.passcode)])
        #expect(same.code == 1)
        #expect(same.errors.contains("the new passcode is the same as the old one"))
        let alone = try sandbox.run("passcode", "change", passcode: Prepared.passcode)
        #expect(alone.code == 1)
        #expect(alone.errors.contains("ended where a passcode was expected"))

        let refused = try sandbox.run(
            "passcode", "change", "--passcode-fd", "3", descriptors: [3: sandbox.lines(Prepared.passcode, "123456")])
        #expect(refused.code == 1 && refused.errors.contains("insist with --weak"), "\(refused.errors)")
        let recovered = try sandbox.run(
            "recover", "--phrase-fd=4", passcode: "123456", descriptors: [4: sandbox.lines(Prepared.shared().phrase)])
        #expect(recovered.code == 1 && recovered.errors.contains("insist with --weak"), "\(recovered.errors)")
        let other = try Sandbox(prepared: true)
        let insisted = try other.run(
            "passcode", "change", "--weak", "--passcode-fd", "3",
            descriptors: [3: other.lines(Prepared.passcode, "123456")])
        #expect(insisted.code == 0, "\(insisted.errors)")
        #expect(try other.run("get", "greeting", passcode: "123456").text == Prepared.greeting)

        let longest = String(repeating: "ø", count: 512)
        let changed = try sandbox.run(
            "passcode", "change", "--passcode-fd", "3", descriptors: [3: sandbox.lines(Prepared.passcode, longest)])
        #expect(changed.code == 0)
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).code == 3)
        #expect(try sandbox.run("get", "greeting", passcode: longest).text == Prepared.greeting)
        let phrase = try sandbox.lines(try Prepared.shared().phrase)
        #expect(try sandbox.run("get", "greeting", "--phrase-fd=3", descriptors: [3: phrase]).code == 0)
    }

    @Test func aRekeyIssuesAnotherPhrase() throws {
        let sandbox = try Sandbox(prepared: true)
        let wrong = try sandbox.run(
            "passcode", "change", "--rekey", "--passcode-fd=3", "--phrase-out-fd=4",
            descriptors: [3: sandbox.lines("wrong", "new one"), 4: .output(sandbox.path + "/no-phrase")])
        #expect(wrong.code == 3)
        #expect(try sandbox.bytes("no-phrase").isEmpty, "a phrase was issued for a wrong passcode")

        let rekey = try sandbox.run(
            "passcode", "change", "--rekey", "--passcode-fd=3", "--phrase-out-fd=4",
            descriptors: [3: sandbox.lines(Prepared.passcode, "new one"), 4: .output(sandbox.path + "/phrase")])
        #expect(rekey.code == 0, "\(rekey.errors)")
        #expect(rekey.output.isEmpty)
        let phrase = try sandbox.bytes("phrase")
        #expect(phrase.split(separator: UInt8(ascii: " ")).count == 24)
        let old = try sandbox.lines(try Prepared.shared().phrase)
        #expect(try sandbox.run("get", "greeting", "--phrase-fd=3", descriptors: [3: old]).code == 3)
        let new = Source.file(sandbox.path + "/phrase")
        #expect(try sandbox.run("get", "greeting", "--phrase-fd=3", descriptors: [3: new]).text == Prepared.greeting)
        let big = try sandbox.run("get", "big", "--collection=files", passcode: "new one")
        #expect(big.output == Prepared.big)
        let verify = try sandbox.run("verify", "--json", "--phrase-fd=3", descriptors: [3: new])
        #expect(try verify.json()["isIntact"] as? Bool == true)
        #expect(try verify.json()["orphanedFiles"] as? Int == 0)
    }

    /// Everything on one descriptor: passcode, new passcode, phrase.
    @Test func aRekeyMayKeepThePhrase() throws {
        let sandbox = try Sandbox(prepared: true)
        let phrase = try Prepared.shared().phrase
        let rekey = try sandbox.run(
            "passcode", "change", "--rekey", "--passcode-fd=3", "--phrase-fd=3",
            descriptors: [3: sandbox.lines(Prepared.passcode, "new one", phrase)])
        #expect(rekey.code == 0, "\(rekey.errors)")
        let get = try sandbox.run("get", "greeting", "--phrase-fd=3", descriptors: [3: sandbox.lines(phrase)])
        #expect(get.text == Prepared.greeting)
        #expect(try sandbox.run("get", "greeting", passcode: "new one").text == Prepared.greeting)
    }

    @Test func theVaultIsRecovered() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("passcode", "verify", passcode: "wrong").code == 3)
        let phrase = try Prepared.shared().phrase
        let recovered = try sandbox.run(
            "recover", "--phrase-fd=4", passcode: "found again",
            descriptors: [4: sandbox.lines(phrase.uppercased())])
        #expect(recovered.code == 0, "\(recovered.errors)")
        #expect(recovered.errors.isEmpty, "a header that nobody touched was said to be altered")
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5)
        #expect(try sandbox.run("get", "greeting", passcode: "found again").text == Prepared.greeting)
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).code == 3)
    }

    static let noPhrase = [
        (String(repeating: "abandon ", count: 23) + "art", "wrongPhrase"),
        (String(repeating: "abandon ", count: 24), "malformedPhrase"), ("one two", "malformedPhrase"),
        ("", "malformedPhrase"), ("zzzz", "malformedPhrase"),
    ]

    @Test("wrong phrase", arguments: noPhrase)
    func isRefused(_ phrase: String, _ code: String) throws {
        let sandbox = try Sandbox(prepared: true)
        let result = try sandbox.run("list", "--json", "--phrase-fd=3", descriptors: [3: sandbox.lines(phrase + "\n")])
        #expect(result.code == 3)
        #expect(try result.jsonError()["code"] as? String == code)
        #expect(phrase.count < 4 || !result.errors.contains(phrase))
    }
}
