import Foundation
import RealParts
import Testing

extension DoctorTests {
    @Test(
        .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: a vault without its chip is not examined"),
        .enabled(
            if: !FileManager.default.fileExists(atPath: "/dev/tpmrm0"),
            "this machine has a TPM: a vault without any is not examined"))
    func aVaultWithoutItsChipIsBroken() throws {
        let chip = try SoftwareTPM()
        let sandbox = try Sandbox(prepared: true)
        let enrolled = try sandbox.run(
            "enroll", "tpm", "--phrase-fd", "4", passcode: Prepared.passcode,
            descriptors: [4: sandbox.lines(Prepared.shared().phrase)], environment: ["HOLDFAST_TPM": chip.location])
        #expect(enrolled.code == 0, "\(enrolled.errors)")
        let here = try examine(sandbox, ["HOLDFAST_TPM": chip.location])
        #expect(here["vault"]?.state == "good" && here["vault"]?.assurance == "hardwareLimited")
        let elsewhere = try examine(sandbox, ["HOLDFAST_TPM": ""])
        #expect(elsewhere["tpm"]?.state == "missing")
        #expect(elsewhere["vault"]?.state == "broken")
        #expect(elsewhere["vault"]?.fix?.contains("holdfast recover") == true)
    }

    /// A part that takes a connection and then says nothing.
    @Test func aPartThatIsSilentHoldsUpNothing() throws {
        let sandbox = try Sandbox()
        let listeners = try ["tpm.sock", "tpm.sock.ctrl", "bus.sock"].map { try listen(sandbox.path + "/" + $0) }
        defer { listeners.forEach { close($0) } }
        let parts = try examine(
            sandbox, bus: "unix:path=\(sandbox.path)/bus.sock",
            [
                "HOLDFAST_TPM": "swtpm:path=\(sandbox.path)/tpm.sock",
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(sandbox.path)/bus.sock",
            ])
        #expect(parts["tpm"]?.state == "slow")
        #expect(parts["tpm"]?.fix?.contains("tpm2-abrmd") == true)
        #expect(parts["keyring"]?.state == "slow")
        #expect(parts["keyring"]?.fix?.contains("start the session again") == true)
        #expect(parts["fingerprint"]?.state == "slow")
        #expect(parts["fingerprint"]?.fix?.contains("restart fprintd") == true)
        #expect(parts["session"]?.state == "slow")
        #expect(parts["session"]?.fix?.contains("system bus") == true)
        #expect(parts["memory"]?.state == "good", "the others are told all the same")
    }
}

/// Listens on a path and takes nobody in; who connects waits.
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
    try #require(status == 0 && Glibc.listen(descriptor, 128) == 0)
    return descriptor
}

/// A chip that answers each command with TPM_RC_FAILURE, as one in its failure mode does.
final class FailingChip: Sendable {
    private let listeners: [Int32]

    init(in folder: String) throws {
        listeners = try ["tpm.sock", "tpm.sock.ctrl"].map { try listen(folder + "/" + $0) }
        for (listener, answer) in zip(listeners, [[0x80, 1, 0, 0, 0, 10, 0, 0, 1, 1], [0, 0, 0, 0]] as [[UInt8]]) {
            Thread.detachNewThread {
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { return }
                    Thread.detachNewThread {
                        var buffer = [UInt8](repeating: 0, count: 4096)
                        while unsafe read(client, &buffer, buffer.count) > 0 {
                            _ = unsafe send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
                        }
                        close(client)
                    }
                }
            }
        }
    }

    func end() {
        for listener in listeners {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }
    }
}
