import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import Testing
import VaultCore

/// A process that puts a passcode under a TPM, changes it there, or takes it out, ended at every command that it sends to
/// the chip: the passcode opens whatever was cut off, and nothing is left behind in the chip.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: cuts in the middle of enrolling are not tested"))
struct HardwareCutTests {
    private static let subject: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("KeyStoreSubject").path
    }()

    private let chip: SoftwareTPM
    private let proxy: TPMProxy
    private let folder: String
    private let phrase: String

    init() throws {
        chip = try SoftwareTPM()
        proxy = try TPMProxy(chip)
        folder = NSTemporaryDirectory() + "holdfast-cut-\(UUID().uuidString)"
        let passcode = try secret(Array("right".utf8))
        let phrase = try Vault.create(at: folder, passcode: passcode, settings: .costsForTests())
        self.phrase = phrase.withText { text in
            unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }

    private func vault() throws -> Vault {
        var settings = VaultSettings.costsForTests()
        let location = TPMLocation(chip.location)
        settings.tier = TPMAttemptTier(at: location)
        settings.anchor = TPMGenerationAnchor(at: location)
        return try Vault(at: folder, settings: settings)
    }

    private func run(_ words: [String], cutAt number: Int?, powerToo: Bool) throws -> Bool {
        let box = SpawnedBox()
        proxy.arm(at: number) { [chip] in
            box.end()
            if powerToo { try? chip.cutPower() }
        }
        let child = try Spawned(
            [HardwareCutTests.subject] + words + [folder, phrase], environment: ["SUBJECT_TPM": proxy.location])
        box.set(child)
        let status = child.wait()
        guard proxy.hasCut else {
            #expect(status == 0, "\(words) failed without a cut")
            return false
        }
        return true
    }

    private func handles() throws -> Int {
        try chip.tool("tpm2_getcap", "handles-nv-index").output.split(separator: "\n").count
    }

    /// Where the power goes with the process at some commands, an index stays behind in the chip that nobody names any more:
    /// it opens nothing and counts nothing, and takes one of the chip's places. Known, and to be mended.
    private func expectNothingElse(_ powerToo: Bool, _ words: String, _ isClean: () throws -> Bool) throws {
        let holds = try isClean()
        guard powerToo else {
            #expect(holds, "\(words)")
            return
        }
        withKnownIssue("an index stays behind after a power cut", isIntermittent: true) {
            #expect(holds, "\(words)")
        }
    }

    @Test("cut", arguments: [false, true])
    func everyCommandOfEveryChange(_ powerToo: Bool) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let passcode = try secret(Array("right".utf8))
        // Every command in the full count; else every nineteenth, from another one in each run.
        let step = ProcessInfo.processInfo.environment["HOLDFAST_SOAK"] == nil ? 19 : 1
        let first = Int.random(in: 0..<step)
        var cuts = 0
        for words in [["enrol"], ["change"], ["remove"]] {
            var number = first
            while try run(words, cutAt: number, powerToo: powerToo) {
                let vault = try vault()
                try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
                vault.lock()
                // One index for the share, where the header names one, and one for its generation.
                let isUnder = try vault.status().hasHardwareShare
                try expectNothingElse(powerToo, "after a cut at command \(number) of \(words)") {
                    try handles() <= (isUnder ? 2 : 1)
                }
                #expect(try vault.status().remainingAttempts == 5)
                if words == ["enrol"], isUnder {
                    try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt())
                }
                if words == ["remove"], !isUnder {
                    let phrase = try RecoveryPhrase(parsing: secret(Array(phrase.utf8)))
                    try vault.enrolHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase)
                }
                number += step
                cuts += 1
            }
        }
        #expect(cuts >= 3, "from command \(first)")
        try expectNothingElse(powerToo, "what was taken out left nothing") { try handles() == 0 }
    }
}

/// A process that is not known yet when somebody is told to end it.
private final class SpawnedBox: @unchecked Sendable {  // guarded by the lock
    private let lock = NSCondition()
    private var child: Spawned?

    func set(_ child: Spawned) {
        lock.lock()
        self.child = child
        lock.broadcast()
        lock.unlock()
    }

    func end() {
        lock.lock()
        while child == nil { lock.wait() }
        child?.signal(SIGKILL)
        lock.unlock()
    }
}
