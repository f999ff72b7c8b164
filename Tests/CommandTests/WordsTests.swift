import Foundation
import Testing

@testable import HoldfastCommand

/// People read words; the names that programs read stay in `--json`, in files of a policy and in scripts.
@Suite struct WordsTests {
    /// Names of cases and of settings as `--json` has them. None is a word.
    private static let names = [
        "keyBound", "hardwareBound", "hardwareLimited", "devicePasscode", "appPasscode", "recoveryPhrase",
        "openCompartment", "padlock", "useFaceID", "countBiometricFailures", "attemptLimit", "lockTiming",
        "neverBlocks", "memfd_secret", "notCalledFor", "passedOver", "systemLockout", "hardwareBusy", "deviceOwner",
    ]

    static let commands = [
        ["status", "--long"], ["slots", "list"], ["explain"], ["lock-policy", "explain"], ["lock-policy", "show"],
        ["self-destruct", "status"], ["doctor"], ["config"], ["log", "--passcode-fd=3"],
        ["help", "all"], ["help", "vault"], ["help", "options"], ["lock-policy", "set", "--help"],
        ["enroll", "remove", "--help"],
    ]

    @Test(arguments: commands)
    func `no command shows the name of a case`(_ words: [String]) throws {
        let sandbox = try Sandbox(prepared: true)
        let changes = ["fallback=convenient", "useFaceID=on", "minimum.work=keyBound", "padlock=on"]
        let changed = try sandbox.run(
            raw: (["lock-policy", "set"] + changes).map { Array($0.utf8) }, passcode: Prepared.passcode)
        #expect(changed.code == 0, "\(changed.errors)")
        let passcode = Source.file(try sandbox.file((Prepared.passcode + "\n").utf8))
        let result = try sandbox.run(raw: words.map { Array($0.utf8) }, descriptors: [3: passcode])
        #expect(result.code == 0, "\(result.errors)")
        for name in Self.names {
            for text in [result.text, result.errors, changed.errors] {
                #expect(!text.contains(name), "\(words) shows \(name)")
            }
        }
    }

    /// A name of a case is a word with a capital in it. Keys and identifiers are long, and may have any letters.
    @Test func `no word has a capital in its middle, before and after a wipe`() throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try [["status"], ["wipe", "--dry-run"], ["verify", "--passcode-fd=3"], ["identity", "status"]].map
        {
            try shown($0, sandbox)
        }
        try #require(sandbox.run("wipe", "--yes", passcode: Prepared.passcode).code == 0)
        for text in before + [try shown(["receipt", "verify"], sandbox)] {
            let words = text.split { " \n,;:()\"'".contains($0) }.filter { $0.count < 30 && !$0.contains("/") }
            let names = words.filter { $0.contains(/^[a-z]+[A-Z]/) && !["kB", "macOS", "iOS"].contains($0) }
            #expect(names.isEmpty, "\(names)")
        }
    }

    private func shown(_ words: [String], _ sandbox: Sandbox) throws -> String {
        let passcode = Source.file(try sandbox.file((Prepared.passcode + "\n").utf8))
        let result = try sandbox.run(raw: words.map { Array($0.utf8) }, descriptors: [3: passcode])
        #expect(result.text.count + result.errors.count > 20)
        return result.text + result.errors
    }

    @Test func `every setting has one word, and both forms name it`() {
        #expect(Set(Words.settings.map(\.1)).count == Words.settings.count)
        for (name, word) in Words.settings {
            #expect(Words.settingName(word) == name && Words.setting(name) == word && Words.settingName(name) == name)
        }
        #expect(Words.typed("hardwareLimited") == "hardware-limited" && Words.typed("none") == "none")
    }
}
