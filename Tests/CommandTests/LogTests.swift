import Foundation
import Testing

@testable import HoldfastCommand

/// `holdfast log` on real homes.
@Suite struct LogCommandTests {
    private func entries(_ result: Sandbox.Result) throws -> [[String: Any]] {
        try #require(try result.json()["entries"] as? [[String: Any]])
    }

    @Test func showsWhatHappened() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("get", "greeting", passcode: "not it").code == 3)
        let shown = try sandbox.run("log", passcode: Prepared.passcode)
        #expect(shown.code == 0 && shown.errors.isEmpty, "\(shown.errors)")
        let lines = shown.text.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(lines.allSatisfy { $0.count == 3 })
        #expect(
            lines.map { String($0[2]) } == [
                "the vault was created", "unlocked with the passcode", "unlocked with the passcode",
                "a wrong passcode or PIN",
                "unlocked with the passcode, after 1 wrong passcode",
            ])
        #expect(lines.map { Int($0[0]) } == [0, 1, 2, 3, 4])
        let last = try sandbox.run("log", "--last", "2", "--json", passcode: Prepared.passcode)
        let events = try entries(last)
        #expect(last.code == 0 && events.map { $0["event"] as? String } == ["unlocked", "unlocked"])
        #expect(events[0]["refused"] as? Int == 1 && events[0]["entry"] as? Int == 4)
        #expect(try last.json()["isIntact"] as? Bool == true)
    }

    @Test func aRunIsCountedByKindWithTheRightNoun() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("get", "greeting", passcode: "not it").code == 3)
        for name in ["one", "two"] { #expect(try sandbox.run("backup", sandbox.path + "/" + name).code == 0) }
        let shown = try sandbox.run("log", passcode: Prepared.passcode).text
        #expect(shown.contains("a backup was made (1 wrong, 1 backup since "), "\(shown)")
        #expect(shown.contains("a backup was made (1 wrong, 2 backups since "), "\(shown)")
    }

    /// A short command writes one entry.
    @Test func aCommandIsOneEntry() throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try sandbox.bytes("home/log").count
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).code == 0)
        #expect(try sandbox.bytes("home/log").count == before + 192)
        #expect(try sandbox.run("status").code == 0)
        #expect(try sandbox.bytes("home/log").count == before + 192)
    }

    @Test func verifyNamesThePlace() throws {
        let sandbox = try Sandbox(prepared: true)
        let whole = try sandbox.run("log", "verify", passcode: Prepared.passcode)
        #expect(whole.code == 0 && whole.text.contains("unchanged"), "\(whole.text)")
        var log = try sandbox.bytes("home/log")
        log[2 * 192 + 50] ^= 1
        _ = try sandbox.file(log, "home/log")
        let found = try sandbox.run("log", "verify", passcode: Prepared.passcode)
        #expect(found.code == 5 && found.text.contains("entry 1") && found.text.contains("changed"))
        let object = try sandbox.run("log", "verify", "--json", passcode: Prepared.passcode)
        #expect(object.code == 5)
        let findings = try #require(try object.json()["findings"] as? [[String: Any]])
        #expect(findings.map { $0["entry"] as? Int } == [1] && findings.map { $0["kind"] as? String } == ["changed"])
        let shown = try sandbox.run("log", passcode: Prepared.passcode)
        #expect(shown.code == 5 && shown.errors.contains("entry 1 was changed"))
        #expect(shown.text.contains("the vault was created"), "what is right is shown all the same")
    }

    @Test func theKeyIsExported() throws {
        let sandbox = try Sandbox(prepared: true)
        let result = try sandbox.run(
            "log", "verify", "--key-out-fd", "4", passcode: Prepared.passcode,
            descriptors: [4: .output(sandbox.path + "/key")])
        #expect(result.code == 0, "\(result.errors)")
        let key = String(decoding: try sandbox.bytes("key"), as: UTF8.self)
        #expect(key.count == 73 && key.last == "\n" && key.dropLast().allSatisfy { $0.isHexDigit && !$0.isUppercase })
        let script = Program.root.appendingPathComponent("scripts/holdfast_log_verify.py").path
        let words = ["-B", script, "--key-fd", "4", sandbox.home].map { Array($0.utf8) }
        let python = "/usr/bin/python3"
        let probe = try Child(python, raw: ["-c", "import cryptography, argon2, lmdb"].map { Array($0.utf8) })
        guard probe.wait() == 0 else { return }  // told by DecryptorTests
        let verifier = try Child(python, raw: words, descriptors: [4: .file(sandbox.path + "/key")])
        #expect(verifier.wait() == 0)
    }

    @Test func aLostStateIsToldAndDoesNotMatter() throws {
        let sandbox = try Sandbox(prepared: true)
        try FileManager.default.removeItem(atPath: sandbox.home + "/log.state")
        let status = try sandbox.run("status")
        #expect(status.text.contains("its state is lost"))
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).code == 0)
        let verified = try sandbox.run("log", "verify", passcode: Prepared.passcode)
        #expect(verified.code == 5 && verified.text.contains("begun anew"))
        #expect(try sandbox.run("status", "--json").json()["log"] as? [String: Any] != nil)
    }

    @Test func aLogThatCannotBeWrittenIsSaid() throws {
        let sandbox = try Sandbox(prepared: true)
        try FileManager.default.removeItem(atPath: sandbox.home + "/log.state")
        try FileManager.default.createDirectory(
            atPath: sandbox.home + "/log.state", withIntermediateDirectories: false)
        let result = try sandbox.run("get", "greeting", passcode: Prepared.passcode)
        #expect(result.code == 0 && result.text == Prepared.greeting)
        #expect(result.errors.contains("could not be written to the security log"))
    }

    @Test func wrongUsageIsRefused() throws {
        let sandbox = try Sandbox(prepared: true)
        for words in [
            ["log", "verify", "--last", "3"], ["log", "check"], ["log", "verify", "verify"], ["log", "--last", "0"],
            ["log", "--key-out-fd", "2"], ["log", "verify", "--key-out-fd", "77"], ["log", "--last", "-1"],
            ["log", "--last", "x"], ["log", "--last"],
        ] {
            let result = try sandbox.run(raw: words.map { Array($0.utf8) }, passcode: Prepared.passcode)
            #expect(result.code == 2, "\(words): \(result.errors)")
        }
        #expect(try sandbox.run("log", passcode: "wrong").code == 3)
    }
}
