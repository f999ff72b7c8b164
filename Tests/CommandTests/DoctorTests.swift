import Foundation
import RealParts
import Testing

/// The doctor with parts that are there, missing, locked, broken and silent.
@Suite struct DoctorTests {
    struct Part {
        let state: String
        let assurance: String?
        let fix: String?
        let worth: String?
    }

    static let nothing = [
        "HOLDFAST_TPM": "swtpm:path=/nonexistent/tpm.sock", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
    ]

    func examine(
        _ sandbox: Sandbox, deep: Bool = false, bus: String = "unix:path=/nonexistent/bus",
        pam: String = "/nonexistent", _ environment: [String: String] = [:]
    ) throws -> [String: Part] {
        let words = ["doctor", "--json", "--system-bus", bus, "--pam-folder", pam] + (deep ? ["--deep"] : [])
        let result = try sandbox.run(
            raw: words.map { Array($0.utf8) }, environment: DoctorTests.nothing.merging(environment) { $1 })
        #expect(result.code == 0, "\(result.errors)")
        let parts = try #require(try result.json()["parts"] as? [[String: Any]])
        return parts.reduce(into: [:]) { all, part in
            all[part["part"] as? String ?? ""] = Part(
                state: part["state"] as? String ?? "", assurance: part["assurance"] as? String,
                fix: part["fix"] as? String, worth: part["worth"] as? String)
        }
    }

    @Test func `no line is wider than the terminal, and elsewhere a sentence is one line`() throws {
        let sandbox = try Sandbox(prepared: true)
        let words = ["doctor", "--system-bus", "unix:path=/nonexistent/bus", "--pam-folder", "/nonexistent"]
        let piped = try sandbox.run(raw: words.map { Array($0.utf8) }, environment: DoctorTests.nothing).text
        #expect(piped.split(separator: "\n").contains { $0.count > 80 })
        let terminal = try PseudoTerminal(columns: 80)
        let child = try sandbox.start(
            words[0], words[1], words[2], words[3], words[4], on: terminal, environment: DoctorTests.nothing)
        let shown =
            try terminal.wait(for: "vault: holdfast")
            + {
                #expect(child.wait() == 0); return terminal.rest()
            }()
        #expect(shown.split(separator: "\r\n").allSatisfy { $0.count <= 80 }, "\(shown)")
        #expect(shown.split(whereSeparator: \.isWhitespace) == piped.split(whereSeparator: \.isWhitespace))
    }

    @Test func whatIsMissingIsNamedWithWhatToDo() throws {
        let parts = try examine(Sandbox())
        for name in ["tpm", "keyring", "fingerprint", "devicePasscode", "session", "files"] {
            #expect(parts[name]?.state == "missing", "\(name)")
            #expect(parts[name]?.fix?.isEmpty == false, "\(name)")
        }
        #expect(parts["memory"]?.state == "good")
        #expect(parts["vault"] == nil)
        let text = try Sandbox().run("doctor", environment: DoctorTests.nothing)
        #expect(text.code == 0 && text.text.contains("\n\nPART "))
    }

    @Test func aVaultIsToldWhatProtectsItsCopy() throws {
        let parts = try examine(Sandbox(prepared: true), deep: true)
        #expect(parts["files"]?.state == "good" && parts["files"]?.assurance == "none")
        #expect(parts["files"]?.worth?.contains("stolen disk") == true, "what removing a share there is worth")
        #expect(parts["vault"]?.state == "good" && parts["vault"]?.assurance == "keyBound")
        #expect(parts["vault"]?.fix?.contains("enroll tpm") == true)
    }

    @Test(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
    func aTPMIsMadeToWorkAndLeftAsItWas() throws {
        let chip = try SoftwareTPM()
        let sandbox = try Sandbox()
        let place = ["HOLDFAST_TPM": chip.location]
        #expect(try examine(sandbox, place)["tpm"]?.assurance == "hardwareBound")
        let deep = try examine(sandbox, deep: true, place)
        #expect(deep["tpm"]?.state == "good" && deep["tpm"]?.assurance == "hardwareLimited")
        for kind in ["handles-nv-index", "handles-persistent", "handles-transient"] {
            #expect(try chip.tool("tpm2_getcap", kind).output == "", "\(kind)")
        }
        #expect(try chip.tool("tpm2_changeauth", "-c", "owner", "new").status == 0)
        let owned = try examine(sandbox, place)
        #expect(owned["tpm"]?.state == "unready")
        #expect(owned["tpm"]?.fix?.contains("owner authorisation") == true)
    }

    @Test func aTPMThatFailsIsBrokenAndADeviceThatIsNotThereIsMissing() throws {
        let sandbox = try Sandbox()
        let failing = try FailingChip(in: sandbox.path)
        defer { failing.end() }
        let broken = try examine(sandbox, ["HOLDFAST_TPM": "swtpm:path=\(sandbox.path)/tpm.sock"])
        #expect(broken["tpm"]?.state == "broken")
        #expect(broken["tpm"]?.fix?.contains("firmware") == true)
        let absent = try examine(sandbox, ["HOLDFAST_TPM": "device:\(sandbox.path)/no-such-device"])
        #expect(absent["tpm"]?.state == "missing")
        #expect(absent["tpm"]?.fix?.contains("switch the TPM on") == true)
    }

    /// Whether a user that no device is for can run the binary at all: it may lie where that user cannot go.
    private static let strangerRunsBinary: Bool = {
        guard let child = try? Spawned(OrdinaryUser.words + [Program.path, "--version"]) else { return false }
        return child.wait() == 0
    }()

    /// Run as a user that the device is not for.
    @Test(
        .enabled(if: strangerRunsBinary, "an ordinary user cannot run the binary here: a forbidden TPM is not examined")
    )
    func aTPMThatThisUserMayNotUseIsNotReady() throws {
        let sandbox = try Sandbox()
        let device = try sandbox.file([])
        #expect(unsafe chmod(device, 0) == 0)
        let output = try sandbox.file([], "found")
        let file = unsafe open(output, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let words = [
            Program.path, "doctor", "--json", "--home", "/nonexistent", "--system-bus", "unix:path=/nonexistent",
            "--pam-folder", "/nonexistent",
        ]
        let environment = DoctorTests.nothing.merging(["HOLDFAST_TPM": "device:" + device]) { $1 }
        let child = try Spawned(OrdinaryUser.words + words, environment: environment, output: file)
        #expect(child.wait() == 0)
        let found = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: output)))
        let parts = try #require((found as? [String: Any])?["parts"] as? [[String: Any]])
        let chip = try #require(parts.first { $0["part"] as? String == "tpm" })
        #expect(chip["state"] as? String == "unready")
        #expect((chip["fix"] as? String)?.contains("usermod -aG tss") == true)
    }

    @Test(.enabled(if: SessionKeyring.isInstalled, "gnome-keyring is not installed"))
    func aKeyringIsOpenOrLocked() throws {
        let keyring = try SessionKeyring()
        let sandbox = try Sandbox()
        let deep = try examine(sandbox, deep: true, keyring.environment)
        #expect(deep["keyring"]?.state == "good" && deep["keyring"]?.assurance == "presence")
        try keyring.lock()
        let locked = try examine(sandbox, deep: true, keyring.environment)
        #expect(locked["keyring"]?.state == "unready")
        #expect(locked["keyring"]?.fix?.contains("unlock") == true)
    }

    /// Something has the keyring's name and answers nothing that a keyring answers.
    @Test(.enabled(if: PrivateBus.hasMocks, "python3-dbusmock is not installed: a broken keyring is not tested"))
    func aKeyringThatFailsIsBroken() throws {
        let bus = try PrivateBus()
        try bus.mock(
            name: "org.freedesktop.secrets", path: "/org/freedesktop/secrets", interface: "org.holdfast.Nothing")
        let parts = try examine(Sandbox(), ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        #expect(parts["keyring"]?.state == "broken")
        #expect(parts["keyring"]?.fix?.contains("start the session again") == true)
    }

    @Test(.enabled(if: PrivateBus.hasMocks, "python3-dbusmock is not installed: the session is not tested"))
    func aSessionThatIsHeardAndOneWithoutLogind() throws {
        let bus = try PrivateBus()
        let session = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
        let deaf = try examine(Sandbox(), bus: bus.address, session)
        #expect(deaf["session"]?.state == "missing")
        #expect(deaf["session"]?.fix?.contains("systemd-logind") == true)
        try bus.mock("logind", name: "org.freedesktop.login1")
        let heard = try examine(Sandbox(), bus: bus.address, session)
        #expect(heard["session"]?.state == "good" && heard["session"]?.fix == nil)
    }

    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed"))
    func aSensorWithAndWithoutAFinger() throws {
        let sensor = try FingerprintSensor()
        let sandbox = try Sandbox()
        let rules = sandbox.path + "/pam"
        try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
        try "auth required pam_deny.so\n".write(toFile: rules + "/holdfast", atomically: true, encoding: .utf8)
        let empty = try examine(sandbox, bus: sensor.bus.address, pam: rules)
        #expect(empty["fingerprint"]?.state == "unready")
        #expect(empty["fingerprint"]?.fix?.contains("fprintd-enroll") == true)
        #expect(empty["devicePasscode"]?.state == "good")
        try sensor.enroll("anna")
        let ready = try examine(sandbox, bus: sensor.bus.address, pam: rules)
        #expect(ready["fingerprint"]?.state == "good" && ready["fingerprint"]?.assurance == "presence")
        sensor.killDaemon()
        #expect(try examine(sandbox, bus: sensor.bus.address)["fingerprint"]?.state == "missing")
    }

    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed: a broken sensor is not tested"))
    func aSensorThatRefusesIsBrokenAndOneThatDoesNotAnswerIsSlow() throws {
        let refusing = try FingerprintSensor(allows: false)
        let broken = try examine(Sandbox(), bus: refusing.bus.address)
        #expect(broken["fingerprint"]?.state == "broken" && broken["fingerprint"]?.assurance == nil)
        #expect(broken["fingerprint"]?.fix?.contains("journalctl -u fprintd") == true)
        let sensor = try FingerprintSensor()
        sensor.pauseDaemon()
        defer { sensor.resumeDaemon() }
        let slow = try examine(Sandbox(), bus: sensor.bus.address)
        #expect(slow["fingerprint"]?.state == "slow")
        #expect(slow["fingerprint"]?.fix?.contains("restart fprintd") == true)
    }

    /// Whoever sets a variable could otherwise answer for the sensor.
    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed: a redirected bus is not tried"))
    func aBusThatTheEnvironmentNamesIsNotAsked() throws {
        let sensor = try FingerprintSensor()
        try sensor.enroll("anna")
        let sandbox = try Sandbox()
        func state(_ environment: [String: String]) throws -> [String?] {
            let variables = DoctorTests.nothing.merging(environment) { $1 }
            let found = try sandbox.run("doctor", "--json", environment: variables).json()["parts"]
            let part = (found as? [[String: Any]])?.first { $0["part"] as? String == "fingerprint" }
            return [part?["state"] as? String, part?["words"] as? String]
        }
        let machines = try state([:])
        #expect(machines[0] != nil)
        #expect(try state(["DBUS_SYSTEM_BUS_ADDRESS": sensor.bus.address]) == machines)
        #expect(try examine(sandbox, bus: sensor.bus.address)["fingerprint"]?.state == "good", "where it is named")
    }

    @Test func rulesOfPAMThatAskForNothingAreBroken() throws {
        let sandbox = try Sandbox()
        let rules = sandbox.path + "/pam"
        try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
        for text in ["", "account required pam_permit.so\n", "# auth required pam_unix.so\n", "auth\n"] {
            try text.write(toFile: rules + "/holdfast", atomically: true, encoding: .utf8)
            let parts = try examine(sandbox, pam: rules)
            #expect(parts["devicePasscode"]?.state == "broken", "\(text)")
            #expect(parts["devicePasscode"]?.fix?.contains("pam/holdfast") == true)
        }
        try FileManager.default.removeItem(atPath: rules + "/holdfast")
        try FileManager.default.createDirectory(atPath: rules + "/holdfast", withIntermediateDirectories: true)
        #expect(try examine(sandbox, pam: rules)["devicePasscode"]?.state == "broken")
    }

    @Test func aFolderOfTheVaultThatTakesNothingIsBroken() throws {
        let sandbox = try Sandbox(prepared: true)
        _ = try sandbox.file([1], "home/shares")
        for isDeep in [false, true] {
            let parts = try examine(sandbox, deep: isDeep)
            #expect(parts["files"]?.state == "broken")
            #expect(parts["files"]?.fix?.contains("writable") == true)
        }
    }

    @Test func aVaultThatCannotBeReadIsBroken() throws {
        let sandbox = try Sandbox(prepared: true)
        var header = try sandbox.bytes("home/header")
        for place in stride(from: 100, to: header.count, by: 100) { header[place] ^= 1 }
        _ = try sandbox.file(header, "home/header")
        let parts = try examine(sandbox)
        #expect(parts["vault"]?.state == "broken")
        #expect(parts["vault"]?.fix?.contains("holdfast verify") == true)
    }
}
