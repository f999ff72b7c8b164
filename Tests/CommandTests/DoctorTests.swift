import Foundation
import RealParts
import Testing

/// The doctor with parts that are there, missing, locked, broken and silent.
@Suite struct DoctorTests {
    private struct Part {
        let state: String
        let assurance: String?
        let fix: String?
    }

    private static let nothing = [
        "HOLDFAST_TPM": "swtpm:path=/nonexistent/tpm.sock", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
    ]

    private func examine(
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
                fix: part["fix"] as? String)
        }
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
        #expect(text.code == 0 && text.text.hasPrefix("PART "))
    }

    @Test func aVaultIsToldWhatProtectsItsCopy() throws {
        let parts = try examine(Sandbox(prepared: true), deep: true)
        #expect(parts["files"]?.state == "good" && parts["files"]?.assurance == "none")
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
        try sensor.enrol("anna")
        let ready = try examine(sandbox, bus: sensor.bus.address, pam: rules)
        #expect(ready["fingerprint"]?.state == "good" && ready["fingerprint"]?.assurance == "presence")
        sensor.killDaemon()
        #expect(try examine(sandbox, bus: sensor.bus.address)["fingerprint"]?.state == "missing")
    }

    /// A part that takes a connection and then says nothing.
    @Test func aPartThatIsSilentHoldsUpNothing() throws {
        let sandbox = try Sandbox()
        let listeners = try ["tpm.sock", "tpm.sock.ctrl", "bus.sock"].map { try listen(sandbox.path + "/" + $0) }
        defer { listeners.forEach { close($0) } }
        let parts = try examine(
            sandbox, bus: "unix:path=\(sandbox.path)/bus.sock",
            ["HOLDFAST_TPM": "swtpm:path=\(sandbox.path)/tpm.sock"])
        #expect(parts["tpm"]?.state == "slow")
        #expect(parts["fingerprint"]?.state != "good")
        #expect(parts["memory"]?.state == "good", "the others are told all the same")
    }

    private func listen(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0 && Glibc.listen(descriptor, 8) == 0)
        return descriptor
    }
}
