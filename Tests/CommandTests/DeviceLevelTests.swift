import Foundation
import RealParts
import TestSupport
import Testing
import VaultCore

/// A vault that asks for nothing, at the command line: its key in a real TPM, in a real keyring, in a file.
@Suite(.patient) struct DeviceLevelTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private static let noTPM = ["HOLDFAST_TPM": "swtpm:path=/nonexistent/tpm.sock"]
    private static let nothing = noTPM.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]) { $1 }

    private func run(_ words: [String], _ environment: [String: String]) throws -> Sandbox.Result {
        try sandbox.run(raw: words.map { Array($0.utf8) }, environment: environment)
    }

    private func put(_ value: String, _ name: String, _ environment: [String: String], passcode: String? = nil) throws {
        let result = try sandbox.run(
            "put", name, passcode: passcode, input: .file(try sandbox.file(value.utf8)), environment: environment)
        #expect(result.code == 0, "\(result.errors)")
    }

    private func protection(_ environment: [String: String]) throws -> [String: Any] {
        try #require(try run(["status", "--json"], environment).json()["protection"] as? [String: Any])
    }

    private func code(_ result: Sandbox.Result) throws -> String? {
        #expect(result.code != 0)
        return try result.jsonError()["code"] as? String
    }

    @Test func `a share that is lost without a phrase is not said to be made up for`() throws {
        #expect(try run(["init", "--device", "--file"], Self.nothing).code == 0)
        try FileManager.default.removeItem(atPath: sandbox.home + "/shares")
        let listed = try run(["list"], Self.nothing)
        let raised = try sandbox.run(
            "slots", "remove", "device", "--phrase-out-fd", "4", passcode: "correct horse",
            descriptors: [4: .output(sandbox.path + "/words")], environment: Self.nothing)
        for lost in [listed, raised] {
            #expect(lost.code != 0 && lost.errors.contains("so only a backup is left"), "\(lost.errors)")
        }
    }

    @Test func `recover says what is true of a vault that never had a phrase`() throws {
        #expect(try run(["init", "--device", "--file"], Self.nothing).code == 0)
        let words = try sandbox.lines("abandon")
        let refused = try sandbox.run(
            "recover", "--phrase-fd=3", "--passcode-fd=4", descriptors: [3: words, 4: sandbox.lines("new one")],
            environment: Self.nothing)
        #expect(refused.code == 1 && !refused.errors.contains("passcode"), "\(refused.errors)")
        #expect(
            refused.errors.contains(
                "this vault opens without asking and has no recovery phrase; holdfast enroll phrase issues one"),
            "\(refused.errors)")
    }

    /// The unit of the documents with a share in a file, as its comments say, and a program that shows what it was
    /// given.
    @Test func `a service gets its secrets as the example says`() throws {
        let unit = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Docs/holdfast-service-example.service")
        let start = try #require(
            String(contentsOf: unit, encoding: .utf8).split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        var words = start.split(separator: " ").map(String.init)
        #expect(words.removeFirst().hasSuffix("/holdfast") && words.removeLast().hasSuffix("/digest"))
        #expect(try run(["init", "--device", "--file"], Self.nothing).code == 0)
        try put("the secret", "smtp", Self.nothing)
        let shown = try run(words + ["/usr/bin/printenv", "SMTP_PASSWORD"], Self.nothing)
        #expect(shown.text == "the secret\n", "\(shown.errors)")
    }

    @Test func `a share that is lost is made up for with the recovery phrase`() throws {
        #expect(try run(["init", "--device", "--file"], Self.nothing).code == 0)
        try put("kept", "a", Self.nothing)
        let words = sandbox.path + "/words"
        let issued = try sandbox.run(
            "enroll", "phrase", "--phrase-out-fd", "4", descriptors: [4: .output(words)], environment: Self.nothing)
        #expect(issued.code == 0, "\(issued.errors)")
        try FileManager.default.removeItem(atPath: sandbox.home + "/shares")
        let lost = try run(["list", "--json"], Self.nothing)
        #expect(try code(lost) == "shareLost")
        #expect(
            lost.errors.contains("holdfast recover opens it") && !lost.errors.contains("passcode opens"),
            "\(lost.errors)")
        let again = try run(["slots", "add", "device"], Self.nothing)
        #expect(again.code != 0 && again.errors.contains("no longer has the share"), "\(again.errors)")
        let recovered = try sandbox.run(
            "recover", "--phrase-fd", "3", "--passcode-fd", "4",
            descriptors: [3: .file(words), 4: sandbox.lines("correct horse")], environment: Self.nothing)
        #expect(recovered.code == 0, "\(recovered.errors)")
        #expect(try protection(Self.nothing)["level"] as? String == "secret")
        #expect(try run(["get", "a"], Self.nothing).code == 3, "it asks, and there is no terminal")
        let read = try sandbox.run("get", "a", passcode: "correct horse", environment: Self.nothing)
        #expect(read.text == "kept", "\(read.errors)")
        let byPhrase = try sandbox.run(
            "get", "a", "--phrase-fd", "3", descriptors: [3: .file(words)], environment: Self.nothing)
        #expect(byPhrase.text == "kept", "\(byPhrase.errors)")
        #expect(try sandbox.run("verify", passcode: "correct horse", environment: Self.nothing).code == 0)
    }

    @Test func `a header that is put back with its share is called put back, and says what helps`() throws {
        #expect(try run(["init", "--device", "--file"], Self.nothing).code == 0)
        try put("kept", "a", Self.nothing)
        let shares = sandbox.home + "/shares"
        let old = try sandbox.bytes("home/header")
        try FileManager.default.copyItem(atPath: shares, toPath: shares + "-old")
        let raised = try sandbox.run(
            "slots", "remove", "device", "--phrase-out-fd", "4", passcode: "correct horse",
            descriptors: [4: .output(sandbox.path + "/words")], environment: Self.nothing)
        #expect(raised.code == 0, "\(raised.errors)")
        let new = try sandbox.bytes("home/header")
        try Data(old).write(to: URL(fileURLWithPath: sandbox.home + "/header"))
        try? FileManager.default.removeItem(atPath: shares)
        try FileManager.default.moveItem(atPath: shares + "-old", toPath: shares)
        for _ in 0..<2 {
            let listed = try run(["list", "--json"], Self.nothing)
            #expect(try listed.jsonError()["code"] as? String == "rollbackSuspected")
            #expect(
                listed.errors.contains("put the newer header back, or holdfast restore")
                    && !listed.errors.contains("holdfast recover"), "\(listed.errors)")
        }
        try Data(new).write(to: URL(fileURLWithPath: sandbox.home + "/header"))
        #expect(try sandbox.run("get", "a", passcode: "correct horse", environment: Self.nothing).text == "kept")
    }

    /// From the first command to a passcode and back; an old header opens nothing of what came after.
    private func climb(_ environment: [String: String], store: String) throws {
        let made = try run(["init", "--device"], environment)
        #expect(made.code == 0, "\(made.errors)")
        try put("first", "a", environment)
        #expect(try run(["get", "a"], environment).text == "first")
        let began = try protection(environment)
        #expect(began["level"] as? String == "device" && began["isRecoverable"] as? Bool == false)
        #expect((began["shares"] as? [[String: Any]])?.compactMap { $0["store"] as? String } == [store])
        #expect(try run(["explain"], environment).text.contains("opens without asking"))
        #expect(try !run(["status"], environment).text.contains("attempts"), "nothing can be guessed")
        let parts = try run(["doctor", "--json"], environment).json()["parts"] as? [[String: Any]]
        let vault = try #require(parts?.first { $0["part"] as? String == "vault" })
        #expect(vault["state"] as? String == "good" && "\(vault["words"] ?? "")".contains("without asking"), "\(vault)")
        #expect(try run(["slots", "remove", "pin", "--weak"], environment).code == 2)
        let old = try sandbox.bytes("home/header")

        let words = sandbox.path + "/words"
        let raised = try sandbox.run(
            "slots", "remove", "device", "--phrase-out-fd", "4", passcode: "correct horse",
            descriptors: [4: .output(words)], environment: environment)
        #expect(raised.code == 0, "\(raised.errors)")
        #expect(try String(contentsOfFile: words, encoding: .utf8).split(separator: " ").count == 24)
        #expect(try protection(environment)["level"] as? String == "secret")
        #expect(try run(["get", "a"], environment).code == 3, "it asks, and there is no terminal")
        try put("second", "b", environment, passcode: "correct horse")

        let new = try sandbox.bytes("home/header")
        try Data(old).write(to: URL(fileURLWithPath: sandbox.home + "/header"))
        #expect(try code(run(["list", "--json"], environment)) == "shareLost")
        try Data(new).write(to: URL(fileURLWithPath: sandbox.home + "/header"))

        let lowered = try sandbox.run("slots", "add", "device", passcode: "correct horse", environment: environment)
        #expect(lowered.code == 0, "\(lowered.errors)")
        #expect(try run(["get", "b"], environment).text == "second")
        #expect(try protection(environment)["level"] as? String == "device")
    }

    @Test(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
    func `under a TPM a vault asks for nothing, grows, and its old header is dead`() throws {
        let chip = try SoftwareTPM()
        let environment = ["HOLDFAST_TPM": chip.location]
        try climb(environment, store: "tpm")
        // Another chip has no such share, and one that does not answer has lost nothing.
        let other = try SoftwareTPM()
        #expect(try code(run(["list", "--json"], ["HOLDFAST_TPM": other.location])) == "shareLost")
        let absent = try run(["list", "--json"], DeviceLevelTests.noTPM)
        #expect(try code(absent) == "shareUnavailable" && absent.jsonError()["until"] as? String == "present")
        try chip.cutPower()
        #expect(try run(["get", "a"], environment).text == "first")
        // A wipe takes the share out of the chip.
        func indexes() throws -> Int {
            try chip.tool("tpm2_getcap", "handles-nv-index").output.split(separator: "\n").count { $0.contains("0x1") }
        }
        #expect(try indexes() == 1)
        let wiped = try run(["wipe", "--yes"], environment)
        #expect(wiped.code == 0, "\(wiped.errors)")
        #expect(try indexes() == 0)
    }

    @Test(.enabled(if: SessionKeyring.isInstalled, "gnome-keyring or dbus-daemon is not installed"))
    func `in the keyring a vault asks for nothing, grows, and its old header is dead`() throws {
        let keyring = try SessionKeyring()
        let environment = keyring.environment.merging(["HOME": sandbox.path]) { $1 }
            .merging(DeviceLevelTests.noTPM) { $1 }
        try climb(environment, store: "secretService")
    }

    /// Each of these commands asks the keyring in the background whether it vouches for self-destruct, and waits for no
    /// answer.
    @Test(.enabled(if: SessionKeyring.isInstalled, "gnome-keyring or dbus-daemon is not installed"))
    func `a command that ends while the keyring is asked ends in order`() throws {
        let keyring = try SessionKeyring()
        let environment = keyring.environment.merging(["HOME": sandbox.path]) { $1 }
            .merging(DeviceLevelTests.noTPM) { $1 }
        let sandbox = try Sandbox(prepared: true)
        let vault = try Vault(at: sandbox.home)
        try vault.changeSelfDestruct(to: true, passcode: secret(Prepared.passcode), spending: vault.burnAttempt()) {}
        let codes = try (0..<60).map { _ in
            try sandbox.run("get", "greeting", passcode: Prepared.passcode, environment: environment).code
        }
        #expect(codes.allSatisfy { $0 == 0 }, "\(codes)")
    }

    @Test(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
    func `a full chip makes no vault, and says why`() throws {
        let chip = try SoftwareTPM()
        var number = 0x0181_0000
        for size in ["2048", "256", "16"] {
            while try chip.tool("tpm2_nvdefine", "0x" + String(number, radix: 16), "-C", "o", "-s", size).status == 0 {
                number += 1
                guard number < 0x0181_0400 else { return }
            }
        }
        let environment = DeviceLevelTests.nothing.merging(["HOLDFAST_TPM": chip.location]) { $1 }
        let refused = try run(["init", "--device"], environment)
        #expect(refused.code == 1 && refused.errors.contains("no room"), "\(refused.errors)")
        #expect(!sandbox.exists("home/header"))
    }

    @Test func `a file keeps the key only where the user says so`() throws {
        let environment = DeviceLevelTests.nothing
        let refused = try run(["init", "--device"], environment)
        #expect(refused.code == 1 && refused.errors.contains("keyring"), "\(refused.errors)")
        #expect(!sandbox.exists("home"))
        #expect(try run(["init", "--file"], environment).code == 2)
        let made = try run(["init", "--device", "--file"], environment)
        #expect(made.code == 0 && made.errors.contains("WARNING"), "\(made.errors)")
        try put("value", "a", environment)
        #expect(try run(["get", "a"], environment).text == "value")
        #expect(try code(run(["backup", sandbox.path + "/copy", "--json"], environment)) == "notRecoverable")
        let verified = try run(["verify"], environment)
        #expect(verified.code == 0, "\(verified.errors)")
        let log = try run(["log", "verify"], environment)
        #expect(log.code == 0, "\(log.errors)")
    }

    @Test func `a command for a passcode says what to do where there is none, and burns nothing`() throws {
        let environment = DeviceLevelTests.nothing
        #expect(try run(["init", "--device", "--file"], environment).code == 0)
        let ledger = try sandbox.bytes("home/ledger")
        let commands: [[String]] = [
            ["passcode", "change"], ["passcode", "verify"], ["enroll", "tpm", "--insist"],
            ["lock-policy", "set", "attemptLimit=3"], ["self-destruct", "enable", "--yes"], ["hardware", "claim"],
        ]
        for words in commands {
            let result = try sandbox.run(
                raw: words.map { Array($0.utf8) }, passcode: "right", environment: environment)
            #expect(result.code == 1, "\(words): \(result.errors)")
            #expect(
                result.errors.contains("has no passcode") && result.errors.contains("holdfast open-without-asking off"),
                "\(words): \(result.errors)")
        }
        #expect(try sandbox.bytes("home/ledger") == ledger)
    }

    @Test func `a vault that opens without asking gets a phrase, and stays what it is`() throws {
        let environment = DeviceLevelTests.nothing
        #expect(try run(["init", "--device", "--file"], environment).code == 0)
        let words = sandbox.path + "/words"
        let issued = try sandbox.run(
            "enroll", "phrase", "--phrase-out-fd", "4", descriptors: [4: .output(words)], environment: environment)
        #expect(issued.code == 0, "\(issued.errors)")
        #expect(try String(contentsOfFile: words, encoding: .utf8).split(separator: " ").count == 24)
        let now = try protection(environment)
        #expect(now["level"] as? String == "device" && now["isRecoverable"] as? Bool == true)
        #expect(try run(["list"], environment).code == 0)
    }

    @Test func `without its own key a folder is claimed, or left as a copy, without a passcode`() throws {
        let environment = DeviceLevelTests.nothing
        #expect(try run(["init", "--device", "--file"], environment).code == 0)
        try put("value", "a", environment)
        try FileManager.default.removeItem(atPath: sandbox.home + "/wipe.key")
        let refused = try run(["enroll", "phrase"], environment)
        #expect(refused.code != 0 && refused.errors.contains("holdfast hardware claim"), "\(refused.errors)")
        #expect(try run(["hardware", "claim"], environment).code == 0)
        #expect(FileManager.default.fileExists(atPath: sandbox.home + "/wipe.key"))
        try FileManager.default.removeItem(atPath: sandbox.home + "/wipe.key")
        // A copy gets a share of its own, and only in words one in a file.
        let left = try run(["hardware", "leave", "--yes"], environment)
        #expect(left.code == 1 && left.errors.contains("keyring"), "\(left.errors)")
        #expect(try run(["get", "a"], environment).text == "value")
    }
}
