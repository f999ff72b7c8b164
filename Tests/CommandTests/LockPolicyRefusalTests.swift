import Foundation
import Testing

extension LockPolicyTests {
    @Test func filesThatCannotBeReadAreFailures() throws {
        let sandbox = try Sandbox(prepared: true)
        let large = try sandbox.file([UInt8](repeating: 0x20, count: 65_537))
        for (path, words) in [
            (sandbox.path + "/none", "No such file"), (sandbox.path, "Is a directory"),
            ("/dev/zero", "more than 65536"),
            (large, "more than 65536"),
        ] {
            let result = try sandbox.run("lock-policy", "set", "fallback=@" + path, passcode: Prepared.passcode)
            #expect(result.code == 1 && result.errors.contains(words), "\(path): \(result.errors)")
        }
    }

    @Test(arguments: [
        (
            #"{"step": "openCompartment", "assurance": "none"}, {"step": "appPasscode", "assurance": "keyBound", "when": ["unavailable"]}"#,
            "openCompartmentNotLast"
        ),
        (#"{"step": "devicePasscode", "assurance": "presence", "withinHours": 1}"#, "noSecretStep"),
        (
            #"{"step": "biometrics", "assurance": "presence"}, {"step": "appPasscode", "assurance": "keyBound", "when": ["failed"]}"#,
            "expiredLeadsNowhere"
        ),
    ]) func whatTheLinterCallsAnErrorIsRefusedBeforeAnythingIsAsked(_ steps: String, _ code: String) throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try sandbox.bytes("home/header")
        let path = try sandbox.file("{\"version\": 1, \"steps\": [\(steps)]}".utf8)
        let result = try sandbox.run(
            "lock-policy", "set", "fallback=@" + path, "--passcode-fd=3", descriptors: [3: .null])
        #expect(result.code == 1 && result.errors.contains(code + ": "), "\(result.errors)")
        #expect(result.errors.contains("nothing was changed"))
        #expect(try sandbox.bytes("home/header") == before)
    }

    @Test func aWrongPasscodeChangesNoRule() throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try sandbox.bytes("home/header")
        let result = try sandbox.run("lock-policy", "set", "padlock=on", passcode: "wrong")
        #expect(result.code == 3 && result.errors.contains("4 attempts remain"))
        #expect(try sandbox.bytes("home/header") == before)
        let none = try sandbox.run("lock-policy", "set", "padlock=on")
        #expect(none.code == 2 && none.errors.contains("--passcode-fd"))
    }

    /// Each works on the rules that the other one left.
    @Test func changesAtOnceAreBothMade() throws {
        let sandbox = try Sandbox(prepared: true)
        let settings = ["padlock=on", "lockTiming=30min", "attemptLimit=9", "minimum.work=keyBound"]
        let children = try settings.map { setting in
            let passcode = try sandbox.file((Prepared.passcode + "\n").utf8)
            return try Child(
                raw: ["lock-policy", "set", setting, "--passcode-fd=3"].map { Array($0.utf8) },
                descriptors: [3: .file(passcode)], environment: ["HOLDFAST_HOME": sandbox.home])
        }
        #expect(children.map { $0.wait() } == [0, 0, 0, 0])
        let rules = try show(sandbox)
        #expect(rules["padlock"] as? Bool == true && rules["lockTiming"] as? String == "30min")
        #expect(rules["attemptLimit"] as? Int == 9 && rules["minima"] as? [String: String] == ["work": "keyBound"])
    }

    @Test func explainTellsTheTruthAboutThisMachine() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(
            try sandbox.run("lock-policy", "set", "fallback=convenient", "useFaceID=on", passcode: Prepared.passcode)
                .code == 0)
        let before = try sandbox.bytes("home/header")
        let text = try sandbox.run("lock-policy", "explain")
        #expect(text.code == 0 && text.errors.isEmpty)
        let lines = text.text.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(2) == [
                "The policy \"convenient\": biometrics, then the device's passcode, then the passcode, then the recovery "
                    + "phrase.",
                "Unlocking asks for the passcode.",
            ])
        #expect(lines.contains { $0.hasPrefix("Not biometrics: ") })
        #expect(lines.contains { $0.hasPrefix("Not the device's passcode: ") })
        #expect(lines.contains("Cancelling leaves everything locked."))
        #expect(lines.last?.hasPrefix("How strong this is here: key-bound;") == true)
        let json = try sandbox.run("lock-policy", "explain", "--json").json()
        #expect((json["action"] as? [String: String]) == ["kind": "ask", "step": "appPasscode"])
        let steps = try #require(json["steps"] as? [[String: String]])
        #expect(steps.map { $0["finding"] } == ["passedOver", "passedOver", "used", "notReached"])
        #expect(steps.map { $0["capability"] }.suffix(2) == ["available", "available"])
        #expect(try sandbox.bytes("home/header") == before)

        // A delay is a lockout of the passcode, and says so.
        for wrong in ["a", "b", "c"] {
            #expect(try sandbox.run("passcode", "verify", passcode: wrong).code == 3)
        }
        let delayed = try sandbox.run("lock-policy", "explain")
        #expect(delayed.text.contains("Unlocking asks for the recovery phrase.\n"), "\(delayed.text)")
        #expect(delayed.text.contains("Not the passcode: the next attempt is taken in "))
        #expect(try sandbox.run("lock-policy", "set", "padlock=on", passcode: Prepared.passcode).code == 4)
    }

    @Test func withoutAVaultThereAreNoRules() throws {
        let sandbox = try Sandbox()
        for words in [["show"], ["explain", "--json"], ["set", "padlock=on", "--passcode-fd=0"]] {
            let result = try sandbox.run(raw: (["lock-policy"] + words).map { Array($0.utf8) })
            #expect(result.code == 6, "\(words): \(result.errors)")
        }
    }
}
