import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HoldfastCommand
@testable import HoldfastTour
import Holdfast

/// Self-destruct, wipe and receipts through the real binary; what takes half a minute runs with a clock of the test's
/// own.
@Suite struct SelfDestructTests {
    /// Jumps by some seconds each time it is looked at.
    final class JumpingClock: BootClock {
        private let time = Mutex(SystemBootClock().now())
        let step: UInt64

        init(step: UInt64) { self.step = step }

        func now() -> BootInstant {
            time.withLock {
                $0 = BootInstant(bootID: $0.bootID, milliseconds: $0.milliseconds + step)
                return $0
            }
        }
    }

    /// Switches it on in a copy of the prepared vault, as the command does but for the waiting.
    /// - Returns: The receipt's public key.
    static func enable(_ sandbox: Sandbox) throws -> String {
        var settings = VaultSettings.standard
        settings.clock = JumpingClock(step: 1_000)
        let vault = try Vault(at: sandbox.home, settings: settings)
        let passcode = try Tour.secret(Prepared.passcode)
        let selfDestruct = SelfDestructSwitch(vault: vault)
        try selfDestruct.begin(.enable, passcode: passcode)
        try selfDestruct.confirm()
        try Countdown.wait(OwnChange(selfDestruct), .enable)
        return try #require(try selfDestruct.finish(passcode: passcode)).publicKey
    }

    @Test func theLastOfFiveWrongPasscodesDestroysTheVault() throws {
        let sandbox = try Sandbox(prepared: true)
        let key = try SelfDestructTests.enable(sandbox)
        let status = try sandbox.run("self-destruct", "status", "--json").json()
        #expect(status["selfDestruct"] as? Bool == true)
        #expect(status["receiptKey"] as? String == key)
        #expect(status["remembered"] is NSNull, "no key store is there")
        #expect(
            try sandbox.run("self-destruct", "status").text.contains("vouched for    by nothing outside of the folder"))
        #expect(try sandbox.run("status").text.contains("self-destruct  on; 5 more wrong passcodes destroy this vault"))
        let first = try sandbox.run("get", "greeting", passcode: "wrong 1")
        #expect(first.code == 3)
        #expect(first.errors.contains("4 attempts remain; 4 more wrong passcodes destroy this vault"))
        try SelfDestructTests.guess(sandbox, 2...4)
        let last = try SelfDestructTests.afterAnHour(sandbox) { try sandbox.run("list", "--json", passcode: "wrong 5") }
        #expect(last.code == 4)
        #expect(try last.jsonError()["code"] as? String == "wiped")
        #expect(last.errors.contains("destroyed because wrong passcodes reached the limit"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.home) == ["wipe-receipt"])
        for words in [
            ["status"], ["list", "--passcode-fd=3"], ["verify", "--passcode-fd=3"], ["backup", sandbox.path + "/b"],
            ["list"], ["get", "x"], ["log"], ["verify"],  // it is said before anything is asked for
        ] {
            let result = try sandbox.run(
                raw: words.map { Array($0.utf8) }, descriptors: [3: sandbox.lines(Prepared.passcode)])
            #expect(result.code == 4, "\(words)")
            #expect(result.errors.contains("\(sandbox.home)/wipe-receipt"))
        }
        let receipt = sandbox.home + "/wipe-receipt"
        let verified = try sandbox.run("receipt", "verify", receipt, "--key", key, "--json")
        #expect(verified.code == 0)
        #expect(try verified.json()["cause"] as? String == "attempts")
        #expect(try verified.json()["isComplete"] as? Bool == true)
        #expect(try verified.json()["keyOrigin"] as? String == "enabled")
        #expect(try sandbox.run("receipt", "verify", receipt, "--key", key.uppercased()).code == 0)

        // The place is free again.
        let again = try sandbox.run(
            "init", "--phrase-out-fd=4", passcode: "correct horse", descriptors: [4: .output(sandbox.path + "/phrase")])
        #expect(again.code == 0, "\(again.errors)")
        #expect(try sandbox.run("list", passcode: "correct horse").code == 0)
    }

    /// Wrong passcodes in this process, with the delays jumped over.
    static func guess(_ sandbox: Sandbox, _ numbers: ClosedRange<Int>) throws {
        var settings = VaultSettings.standard
        settings.clock = JumpingClock(step: 4_000_000)
        let vault = try Vault(at: sandbox.home, settings: settings)
        for number in numbers {
            let wrong = try Tour.secret("wrong \(number)")
            let error = #expect(throws: VaultError.self) {
                try vault.verify(passcode: wrong, spending: vault.burnAttempt())
            }
            #expect(error?.code == .wrongPasscode)
        }
        // The delay began in the future that the clock made up; a right start of it is one that is over.
        try afterAnHour(sandbox) {}
    }

    /// Takes the running delay out of the ledger, as an hour's wait would.
    @discardableResult
    static func afterAnHour<R>(_ sandbox: Sandbox, _ body: () throws -> R) throws -> R {
        let path = sandbox.home + "/ledger"
        guard FileManager.default.fileExists(atPath: path) else { return try body() }
        let checksum = { (bytes: RawSpan) in BLAKE3.hash(bytes).bytes }
        var file = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        for start in [0, LedgerSector.size] {
            var sector = try LedgerSector(parsing: Array(file[start..<start + LedgerSector.size]), checksum: checksum)
            sector.delay = 0
            file.replaceSubrange(start..<start + LedgerSector.size, with: sector.encoded(checksum: checksum))
        }
        try Data(file).write(to: URL(fileURLWithPath: path))
        return try body()
    }

    @Test func theCountdownIsCancelledByASignalAndChangesNothing() throws {
        let sandbox = try Sandbox(prepared: true)
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let before = try sandbox.bytes("home/header")
            let terminal = try PseudoTerminal()
            let child = try sandbox.start("self-destruct", "enable", on: terminal)
            try terminal.wait(for: "Passcode: ")
            terminal.type(Prepared.passcode + "\n")
            try terminal.wait(for: "In 30 s, self-destruct will be on: 5 wrong passcodes will then destroy this vault")
            try terminal.wait(for: "Type y or yes to continue: ")
            #expect(terminal.echoes)
            terminal.type("yes\n")
            try terminal.wait(for: "press Ctrl-C to cancel [")
            #expect(!terminal.echoes)
            try terminal.typeUnread("typed in vain")
            if signal == SIGINT { terminal.type("\u{3}") } else { kill(child.pid, signal) }
            #expect(child.wait() == 130)
            let shown = terminal.rest()
            #expect(shown.contains("cancelled; nothing was changed") && !shown.contains("in vain"))
            #expect(terminal.echoes)
            #expect(try sandbox.bytes("home/header") == before)
            #expect(!sandbox.exists("home/receipt.key"))
        }
        let killed = try sandbox.start(
            "self-destruct", "enable", "--yes", "--passcode-fd=3", on: PseudoTerminal(),
            descriptors: [3: sandbox.lines(Prepared.passcode, Prepared.passcode)])
        kill(killed.pid, SIGKILL)
        _ = killed.wait()
        #expect(try sandbox.run("self-destruct", "status", "--json").json()["selfDestruct"] as? Bool == false)
    }

    @Test func itIsNotSwitchedWithoutConfirmationOrTheRightPasscode() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("self-destruct", "enable", on: terminal)
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "Type y or yes to continue: ")
        terminal.type("no\n")
        try terminal.wait(for: "Only y or yes continues; press Ctrl-C to cancel.")
        try terminal.wait(for: "Type y or yes to continue: ")
        terminal.type("\u{3}")
        #expect(child.wait() == 130)
        #expect(try sandbox.run("self-destruct", "status", "--json").json()["selfDestruct"] as? Bool == false)

        let unconfirmed = try sandbox.run("self-destruct", "enable", passcode: Prepared.passcode)
        #expect(unconfirmed.code == 2)
        #expect(unconfirmed.errors.contains("--yes"))
        let wrong = try sandbox.run("self-destruct", "enable", "--yes", "--json", passcode: "wrong")
        #expect(wrong.code == 3)
        #expect(try wrong.jsonError()["code"] as? String == "wrongPasscode")
        let off = try sandbox.run("self-destruct", "disable", "--yes", passcode: Prepared.passcode)
        #expect(off.code == 0)
        #expect(off.text == "self-destruct is off already\n")
        for seconds in ["29", "29s", "86401", "2d", "0", "-1", "1e2", "30x", "1 h", ""] {
            let refused = try sandbox.run("self-destruct", "enable", "--yes", "--countdown=\(seconds)", passcode: "x")
            #expect(refused.code == 2, "\(seconds)")
        }
        let cancel = try sandbox.run("self-destruct", "cancel")
        #expect(cancel.code == 0)
        #expect(cancel.text.contains("nothing is pending"))
        #expect(try sandbox.run("self-destruct", "status").text.hasPrefix("self-destruct  off\n"))
    }

    /// Both directions with the real clock: a minute.
    @Test(.enabled(if: TestRun.isSoak, "a minute: in make soak only"))
    func itIsSwitchedOnAndOffByTheBinaryAlone() throws {
        let sandbox = try Sandbox(prepared: true)
        for word in ["enable", "disable"] {
            let start = DispatchTime.now().uptimeNanoseconds
            let result = try sandbox.run(
                "self-destruct", word, "--yes", "--json", "--passcode-fd=3",
                descriptors: [3: sandbox.lines(Prepared.passcode, Prepared.passcode)])
            #expect(result.code == 0, "\(result.errors)")
            #expect(DispatchTime.now().uptimeNanoseconds - start >= 30_000_000_000)
            #expect(try result.json()["selfDestruct"] as? Bool == (word == "enable"))
        }
    }

    @Test func theDryRunErasesNothingAndAsksNothing() throws {
        let sandbox = try Sandbox(prepared: true)
        let before = try sandbox.bytes("home/header")
        let plan = try sandbox.run("wipe", "--dry-run")
        #expect(plan.code == 0)
        #expect(plan.text.contains("keys"))
        #expect(plan.text.hasSuffix("nothing was erased\n"))
        let json = try sandbox.run("wipe", "--dry-run", "--json").json()
        let targets = try #require(json["steps"] as? [[String: Any]]).compactMap { $0["target"] as? String }
        #expect(targets == ["keys", "ledger", "open-keys", "log-state", "records", "files", "log"])
        #expect(try sandbox.bytes("home/header") == before)
    }

    @Test func theOwnerWipesWithThePasscode() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("wipe", passcode: Prepared.passcode).code == 2, "without a terminal or --yes")
        #expect(try sandbox.run("wipe", "--yes", passcode: "wrong").code == 3)
        let inside = try sandbox.run(
            "wipe", "--yes", "--receipt", sandbox.home + "/files/r", passcode: Prepared.passcode)
        #expect(inside.code == 2)
        let nowhere = try sandbox.run(
            "wipe", "--yes", "--receipt", sandbox.path + "/none/r", passcode: Prepared.passcode)
        #expect(nowhere.code == 1)
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)

        let copy = sandbox.path + "/receipt"
        let wiped = try sandbox.run("wipe", "--yes", "--receipt", copy, passcode: Prepared.passcode)
        #expect(wiped.code == 0, "\(wiped.errors)")
        let key = try #require(wiped.text.firstMatch(of: /receipt key: ([0-9a-f]{66})\n/)).1
        #expect(wiped.text.hasPrefix("receipt key"), "the key was not printed before")
        #expect(try sandbox.bytes("receipt") == sandbox.bytes("home/wipe-receipt"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.home) == ["wipe-receipt"])
        let verified = try sandbox.run("receipt", "verify", copy, "--key", String(key))
        #expect(verified.code == 0)
        #expect(verified.text.contains("because the user asked for it"))
        #expect(verified.text.contains("Not claimed:\n- copies and backups"))
        #expect(try sandbox.run("wipe", "--yes", passcode: Prepared.passcode).code == 4)
    }

    @Test func theOwnerWipesWithThePhraseAndAWord() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let phrase = try sandbox.lines(try Prepared.shared().phrase)
        let refused = try sandbox.start("wipe", "--phrase-fd=3", on: terminal, descriptors: [3: phrase])
        try terminal.wait(for: "Type destroy to continue: ")
        terminal.type("yes\n")
        try terminal.wait(for: "Only destroy continues; press Ctrl-C to cancel.")
        try terminal.wait(for: "Type destroy to continue: ")
        terminal.type("\u{3}")
        #expect(refused.wait() == 130)
        #expect(try sandbox.run("list", passcode: Prepared.passcode).code == 0)
        let child = try sandbox.start("wipe", "--phrase-fd=3", on: terminal, descriptors: [3: phrase])
        try terminal.wait(for: "This destroys the vault in \(sandbox.home)")
        try terminal.wait(for: "Type destroy to continue: ")
        terminal.type("destroy\n")
        #expect(child.wait() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.home) == ["wipe-receipt"])
    }

    /// An agent that has the vault open ends with it, whether its socket lies in the runtime folder or in the home.
    @Test(.patient, arguments: [true, false])
    func aWipeEndsTheAgent(hasRuntimeFolder: Bool) throws {
        let sandbox = try AgentSandbox()
        let variables = hasRuntimeFolder ? [:] : ["XDG_RUNTIME_DIR": ""]
        let words = { (words: [String]) in words.map { Array($0.utf8) } }
        let unlocked = try sandbox.run(raw: words(["unlock"]), passcode: Prepared.passcode, environment: variables)
        #expect(unlocked.code == 0, "\(unlocked.errors)")
        let status = try sandbox.run(raw: words(["status", "--json"]), environment: variables).json()
        let agent = try #require(status["agent"] as? [String: Any])
        let process = try #require(agent["process"] as? Int)
        let wiped = try sandbox.run(raw: words(["wipe", "--yes"]), passcode: Prepared.passcode, environment: variables)
        #expect(wiped.code == 0, "\(wiped.errors)")
        while kill(pid_t(process), 0) == 0 { usleep(5_000) }  // the test's time limit ends a hang
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.home) == ["wipe-receipt"])
    }

    @Test func aReceiptThatWasChangedOrIsNoneIsNamed() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("wipe", "--yes", passcode: Prepared.passcode).code == 0)
        let receipt = try sandbox.bytes("home/wipe-receipt")
        let text = String(decoding: receipt, as: UTF8.self)
        let cases: [(String, [UInt8], [String], Int32, String)] = [
            (
                "changed", Array(text.replacingOccurrences(of: "cause owner", with: "cause attempts").utf8), [], 5,
                "damaged"
            ),
            ("noise", [1, 2, 255, 0], [], 5, "damaged"), ("empty", [], [], 5, "damaged"),
            ("huge", [UInt8](repeating: 10, count: 1 << 18), [], 5, "damaged"),
            ("no key", receipt, ["--key", "xyz"], 2, "invalidName"),
            ("no point", receipt, ["--key", String(repeating: "f", count: 66)], 2, "invalidName"),
        ]
        for (what, bytes, options, code, word) in cases {
            let path = try sandbox.file(bytes)
            let result = try sandbox.run(
                raw: (["receipt", "verify", path, "--json"] + options).map { Array($0.utf8) })
            #expect(result.code == code, "\(what): \(result.errors)")
            #expect(try result.jsonError()["code"] as? String == word, "\(what)")
            #expect(result.errors.contains(path), "\(what): \(result.errors)")
        }
        let second = try Sandbox(prepared: true)
        let key = try SelfDestructTests.enable(second)
        let foreign = try sandbox.run("receipt", "verify", sandbox.home + "/wipe-receipt", "--key", key, "--json")
        #expect(foreign.code == 5)
        #expect(try foreign.jsonError()["code"] as? String == "receiptMismatch")
        #expect(try sandbox.run("receipt", "verify", sandbox.path + "/missing").code == 6)
        #expect(try sandbox.run("receipt", "verify", sandbox.home + "/wipe-receipt").code == 0)
    }
}
