import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import Synchronization
import TestSupport
import Testing

/// The identity commands with a TPM (swtpm): where the keys are, and what a kill at any of the chip's commands leaves.
@Suite(
    .seeded,
    .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: identity commands with a TPM are not tested"))
struct IdentityChipTests {
    private let chip: SoftwareTPM
    private let proxy: TPMProxy
    private let server: AuthHTTPServer
    private let phone: IdentityDevice

    init() throws {
        chip = try SoftwareTPM()
        proxy = try TPMProxy(chip)
        server = try AuthHTTPServer()
        phone = try IdentityDevice(server)
        phone.environment = ["HOLDFAST_TPM": chip.location]
        phone.isAlone = true
    }

    private func expectEmptyChip(_ comment: Comment) throws {
        for kind in ["transient", "persistent", "loaded-session", "saved-session", "nv-index"] {
            #expect(try chip.tool("tpm2_getcap", "handles-\(kind)").output.isEmpty, "\(comment): \(kind)")
        }
    }

    /// Runs a command and kills it when it sends the chip its `number`th command.
    /// - Returns: Whether it came that far.
    private func runCut(_ words: String, at number: Int) throws -> Bool {
        let box = ProcessBox()
        proxy.arm(at: number) { box.end() }
        phone.environment["HOLDFAST_TPM"] = proxy.location
        defer { phone.environment["HOLDFAST_TPM"] = chip.location }
        let result = try phone.run(words) { box.set($0) }
        guard proxy.hasCut else {
            #expect(result.code == 0, "\(words) without a cut: \(result.errors)")
            return false
        }
        #expect(result.code == 1000 + SIGKILL, "\(words) at \(number)")
        return true
    }

    @Test func theStatusSaysWhereTheKeysAre() throws {
        let created = try phone.run("create", "--json", "--server", server.address, newRecovery: "phrase")
        #expect(created.code == 0, "\(created.errors)")
        #expect(try created.json()["keys"] as? String == "tpm")
        let identity = try #require(try created.json()["identity"] as? String)
        #expect(try phone.run("status").text.contains("in the TPM; another machine cannot use them"))
        #expect(try phone.run("rotate").code == 0)
        #expect(try phone.run("session", "open").code == 0)
        #expect(try phone.run("request", "/echo", #"{"a":1}"#).text == "{\"a\":1}\n")

        // Without the chip nothing is signed that needs its key; a session continues.
        phone.environment = ["HOLDFAST_TPM": "swtpm:path=/nowhere/tpm.sock"]
        let away = try phone.run("rotate")
        #expect(away.code == 1 && away.errors.contains("in a TPM that cannot be used now"), "\(away.errors)")
        #expect(try phone.status()["isUnfinished"] as? Bool == false)
        #expect(try phone.run("request", "/echo", #"{"b":2}"#).code == 0)

        // Another device: no chip was found where one was named, and it is told; or it is asked for, and refused.
        let laptop = try IdentityDevice(server)
        laptop.environment = phone.environment
        laptop.isAlone = true
        let key = "\(server.responseKey.publicKey)"
        let words = ["link", identity, "--server", server.address, "--authority", key]
        let strict = try laptop.run(words[0], words[1], words[2], words[3], words[4], words[5], "--keys=tpm")
        #expect(strict.code == 1 && strict.errors.contains("TPM"), "\(strict.errors)")
        let told = try laptop.run(words[0], words[1], words[2], words[3], words[4], words[5])
        #expect(told.code == 0 && told.errors.contains("in the vault, not in the TPM"), "\(told.errors)")
        #expect(try laptop.status()["keys"] as? String == "vault")
        phone.environment = ["HOLDFAST_TPM": chip.location]
        #expect(try phone.run("accept-link", input: told.text).code == 0)
        laptop.environment = ["HOLDFAST_TPM": chip.location]
        #expect(try laptop.run("rotate").code == 0)
        #expect(try laptop.status()["keys"] as? String == "vault", "where an account began it stays")
        #expect(try laptop.run("erase", "--yes").code == 0)
        let forced = try laptop.run("link", identity, "--server", server.address, "--authority", key, "--keys=vault")
        #expect(forced.code == 0 && forced.errors.isEmpty, "\(forced.errors)")
        #expect(try laptop.status()["keys"] as? String == "vault")

        #expect(try phone.run("erase", "--yes").code == 0)
        #expect(try phone.status()["state"] as? String == "ready")
        try expectEmptyChip("after erasing")
    }

    /// A rotation that is killed at each command that it sends to the chip: afterwards the device signs with a key that
    /// the server accepts, and the chip is empty.
    @Test func aKillAtAnyCommandLosesNothing() throws {
        let created = try phone.run("create", "--server", server.address, newRecovery: "phrase")
        #expect(created.code == 0, "\(created.errors)")
        let step = TestRun.isSoak ? 1 : 9
        var generator = SeededGenerator()
        var number = Int.random(in: 0..<step, using: &generator)
        var cuts = 0
        while try runCut("rotate", at: number) {
            let next = try phone.run("session", "open")
            #expect(next.code == 0, "after a kill at command \(number): \(next.errors)")
            #expect(try phone.status()["isUnfinished"] as? Bool == false, "after a kill at command \(number)")
            try expectEmptyChip("after a kill at command \(number)")
            number += step
            cuts += 1
        }
        #expect(cuts >= 2)
        #expect(try phone.status()["keys"] as? String == "tpm")

        // The answer gets lost as well: both keys are in the chip, and the next command finds out which counts.
        server.faults.withLock { $0 = [.dropAnswer, .dropAnswer, .dropAnswer] }
        #expect(try phone.run("rotate").code == 1)
        server.faults.withLock { $0 = [] }
        #expect(try phone.status()["isUnfinished"] as? Bool == true)
        #expect(try phone.run("rotate").code == 0)
        try expectEmptyChip("after a lost answer")
    }
}

/// A process that is not known yet when somebody is told to end it.
private final class ProcessBox: Sendable {
    private let process = Mutex<pid_t?>(nil)
    private let known = DispatchSemaphore(value: 0)

    func set(_ pid: pid_t) {
        process.withLock { $0 = pid }
        known.signal()
    }

    func end() {
        known.wait()
        if let pid = process.withLock({ $0 }) { kill(pid, SIGKILL) }
    }
}
