import Foundation
import Testing

/// `lock-policy` on real vaults, with the real binary.
@Suite struct LockPolicyTests {
    func show(_ sandbox: Sandbox) throws -> [String: Any] {
        let result = try sandbox.run("lock-policy", "show", "--json")
        #expect(result.code == 0, "\(result.errors)")
        return try result.json()
    }

    func issues(_ json: [String: Any]) -> [String] {
        (json["issues"] as? [[String: Any]] ?? []).compactMap { $0["code"] as? String }
    }

    @Test func aNewVaultHasTheStandardRules() throws {
        let sandbox = try Sandbox(prepared: true)
        let rules = try show(sandbox)
        #expect(rules["padlock"] as? Bool == false && rules["useFaceID"] as? Bool == false)
        #expect(rules["countBiometricFailures"] as? Bool == true && rules["selfDestruct"] as? Bool == false)
        #expect(rules["attemptLimit"] as? Int == 5 && rules["selfDestructCountdown"] as? Int == 30)
        #expect(rules["delays"] as? [Int] == [0, 0, 30, 60, 300, 900, 1800, 3600])
        #expect(rules["lockTiming"] as? String == "immediately" && rules["lockSeconds"] as? Int == 0)
        #expect(rules["fallbackPreset"] as? String == "strict" && (rules["minima"] as? [String: Any])?.isEmpty == true)
        #expect(rules["storageAssurance"] as? String == "keyBound" && rules["isAuthenticated"] as? Bool == false)
        #expect(issues(rules).isEmpty)
        let text = try sandbox.run("lock-policy", "show")
        #expect(text.code == 0)
        #expect(text.text.contains("\nfallback                    strict: the passcode, then the recovery phrase\n"))
        #expect(text.text.contains("\nstorage                     key-bound; ") && !text.text.contains("warning"))
    }

    @Test func `what no unlock reaches here is asked about before, and named by an export`() throws {
        let sandbox = try Sandbox(prepared: true)
        try sandbox.store("secret", "logins/bank")
        let words = ["lock-policy", "set", "minimum.logins=hardware-bound"]
        let terminal = try PseudoTerminal()
        let child = try sandbox.start(words, on: terminal)
        try terminal.wait(for: "no step opens collection")
        try terminal.wait(for: "Change it nevertheless? [y/N] ")
        terminal.type("\n")
        #expect(child.wait() == 1)
        #expect((try show(sandbox)["minima"] as? [String: Any])?.isEmpty == true)

        #expect(try sandbox.run("lock-policy", "set", words[2], passcode: Prepared.passcode).code == 0)
        let file = sandbox.path + "/all.json"
        let export = try sandbox.run("export", file, "--plain", "--yes", passcode: Prepared.passcode)
        #expect(
            export.code == 7 && export.errors.contains("not in the file is what is in 'logins'"), "\(export.errors)")
        let part = try sandbox.run(
            "export", sandbox.path + "/part.json", "--plain", "--yes", "-c", "default", passcode: Prepared.passcode)
        #expect(part.code == 0 && !part.errors.contains("logins"), "\(part.errors)")
    }

    /// What the command shows can be typed, and what programs read can be too.
    @Test func `the settings are taken under the words that are shown`() throws {
        let sandbox = try Sandbox(prepared: true)
        let set = try sandbox.run(
            "lock-policy", "set", "app-lock=on", "fingerprint=on", "count-fingerprint-failures=off", "attempts=7",
            "lock-after=5min", "fallback=never-blocks", "minimum.files=hardware-bound", passcode: Prepared.passcode)
        #expect(set.code == 0, "\(set.errors)")
        let rules = try show(sandbox)
        #expect(rules["padlock"] as? Bool == true && rules["useFaceID"] as? Bool == true)
        #expect(rules["countBiometricFailures"] as? Bool == false && rules["attemptLimit"] as? Int == 7)
        #expect(rules["lockTiming"] as? String == "5min" && rules["fallbackPreset"] as? String == "neverBlocks")
        #expect(rules["minima"] as? [String: String] == ["files": "hardwareBound"])
        let text = try sandbox.run("lock-policy", "show").text
        #expect(text.contains("minimum.files") && text.contains("  hardware-bound\n"))
    }

    @Test func rulesAreChangedTogetherAndHold() throws {
        let sandbox = try Sandbox(prepared: true)
        let set = try sandbox.run(
            "lock-policy", "set", "padlock=on", "useFaceID=on", "countBiometricFailures=off", "attemptLimit=7",
            "delays=0,5,3600", "lockTiming=5min", "fallback=neverBlocks", "minimum.files=hardwareBound",
            passcode: Prepared.passcode)
        #expect(set.code == 0 && set.output.isEmpty, "\(set.errors)")
        #expect(set.errors.contains("warning: cancelling uses the open compartment"))
        #expect(set.errors.contains("warning: no step opens collection \"files\" (hardware-bound) on this machine"))
        let rules = try show(sandbox)
        #expect(rules["padlock"] as? Bool == true && rules["useFaceID"] as? Bool == true)
        #expect(rules["countBiometricFailures"] as? Bool == false && rules["attemptLimit"] as? Int == 7)
        #expect(rules["delays"] as? [Int] == [0, 5, 3600] && rules["lockTiming"] as? String == "5min")
        #expect(rules["fallbackPreset"] as? String == "neverBlocks")
        #expect(rules["minima"] as? [String: String] == ["files": "hardwareBound"])
        #expect(Set(issues(rules)) == ["cancelUsesOpenCompartment", "stepBelowMinimum", "minimumOutOfReach"])

        // What asks for more than the passcode proves is refused, the rest continues.
        let get = try sandbox.run("get", "big", "--collection", "files", "--json", passcode: Prepared.passcode)
        #expect(get.code == 2, "get has no --json")
        let refused = try sandbox.run("get", "big", "--collection", "files", passcode: Prepared.passcode)
        #expect(refused.code == 7 && refused.output.isEmpty)
        #expect(refused.errors.contains("needs an unlock that is hardware-bound; this one is key-bound"))
        let put = try sandbox.run(
            "put", "new", "--collection", "files", passcode: Prepared.passcode, input: .file(sandbox.file([1, 2, 3])))
        #expect(put.code == 7)
        let list = try sandbox.run("list", "--json", passcode: Prepared.passcode)
        #expect(try (list.json()["records"] as? [[String: Any]])?.map { $0["name"] as? String } == ["greeting"])
        #expect(list.errors.contains("1 collection not listed"))
        let only = try sandbox.run("list", "--collection", "files", "--json", passcode: Prepared.passcode)
        #expect(try only.code == 7 && only.jsonError()["code"] as? String == "assuranceTooLow")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)

        let back = try sandbox.run(
            "lock-policy", "set", "minimum.files=none", "fallback=strict", "useFaceID=off", passcode: Prepared.passcode)
        #expect(back.code == 0 && back.errors.isEmpty, "\(back.errors)")
        #expect(
            try sandbox.run("get", "big", "--collection", "files", passcode: Prepared.passcode).output == Prepared.big)
    }

    @Test func aPolicyOfOnesOwnComesFromAFileAndGoesIntoOne() throws {
        let sandbox = try Sandbox(prepared: true)
        let own = """
            {"version": 1, "steps": [
              {"step": "devicePasscode", "assurance": "presence", "withinHours": 12},
              {"step": "appPasscode", "assurance": "keyBound", "when": ["unavailable", "expired", "failed"]},
              {"step": "recoveryPhrase", "assurance": "keyBound", "when": ["systemLockout"]}
            ]}
            """
        let set = try sandbox.run(
            "lock-policy", "set", "fallback=@" + sandbox.file(own.utf8), passcode: Prepared.passcode)
        #expect(set.code == 0 && set.errors.isEmpty, "\(set.errors)")
        let rules = try show(sandbox)
        #expect(rules["fallbackPreset"] is NSNull)
        // What `show --json` prints is a policy that `set` takes.
        let printed = try JSONSerialization.data(withJSONObject: try #require(rules["fallback"]))
        let again = try sandbox.run(
            "lock-policy", "set", "fallback=@" + sandbox.file(printed), "--passcode-fd=3",
            descriptors: [3: .null])
        #expect(again.code == 0, "these are the rules already, so nothing is asked: \(again.errors)")
        let explain = try sandbox.run("lock-policy", "explain")
        #expect(explain.text.hasPrefix("The vault's own policy: the device's passcode, then the passcode, then"))
    }

    @Test(arguments: [
        (["nonsense"], "a setting is KEY=VALUE"), (["padlock=yes"], "app-lock=yes: allowed: on, off"),
        (["App-lock=on"], "did you mean app-lock?"), (["useFaceID="], "fingerprint=: allowed: on, off"),
        (["attemptLimit=2"], "attempts=2: allowed: 3 to 10"), (["attempts=+5"], "allowed: 3 to 10"),
        (["attemptLimit=99999999999999999999"], "allowed: 3 to 10"),
        (["delays="], "delays=: allowed:"), (["delays=1,,2"], "allowed:"), (["delays=5,4"], "allowed:"),
        (["delays=3601"], "allowed:"), (["delays=-1"], "allowed:"),
        (["delays=" + [String](repeating: "0", count: 17).joined(separator: ",")], "allowed: 1 to 16"),
        (["lockTiming=soon"], "lock-after=soon: allowed: immediately"), (["lock-after=5 min"], "allowed:"),
        (["lockTiming=4294967294"], "allowed:"), (["lockTiming=99999999h"], "allowed:"),
        (["fallback=loose"], "allowed: strict, convenient, never-blocks, @FILE"), (["fallback=@"], "allowed:"),
        (["minimum.a=much"], "allowed: none, presence"), (["minimum=keyBound"], "unknown setting minimum"),
        (["minimum." + String(repeating: "c", count: 256) + "=keyBound"], "at most 255 bytes"),
        (["selfDestruct=on"], "holdfast self-destruct"), (["selfDestructCountdown=60"], "holdfast self-destruct"),
        (["padlock=on", "app-lock=on"], "app-lock is repeated"), ([], "KEY=VALUE is missing"),
        (["\u{1B}[31m=1"], #"unknown setting \u{1b}[31m"#),
    ]) func aSettingThatCannotBeNamesItself(_ settings: [String], _ words: String) throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try sandbox.bytes("home/header")
        let result = try sandbox.run(
            raw: (["lock-policy", "set"] + settings).map { Array($0.utf8) }, passcode: Prepared.passcode)
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(try sandbox.bytes("home/header") == before)
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5)
    }

    @Test(arguments: [
        (#"{"version": 1, "steps": []}"#, "steps: is empty"),
        (#"{"version": 1, "steps": [{"step": "face", "assurance": "none"}]}"#, #"steps[0].step: "face" is no step"#),
        ("{\n\"version\"", "line 2, byte 10: is not JSON"), ("", "line 1, byte 1: is not JSON"),
        (#"{"version": 1, "steps": [{"step": "appPasscode", "assurance": "keyBound", "x\u001b[2J": 1}]}"#, "is no key"),
    ]) func aMalformedPolicyIsRefusedWithItsPlace(_ text: String, _ words: String) throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try sandbox.bytes("home/header")
        let path = try sandbox.file(text.utf8, "policy.json")
        let result = try sandbox.run("lock-policy", "set", "fallback=@" + path, passcode: Prepared.passcode)
        #expect(result.code == 2 && result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.contains("policy.json") && !result.errors.contains("\u{1B}"))
        #expect(try sandbox.bytes("home/header") == before)
    }
}
