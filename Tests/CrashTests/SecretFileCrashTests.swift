#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing
import VaultCore

/// Key files are replaced as a whole, whatever ends the process or the machine meanwhile.
@Suite(.seeded, .serialized) struct SecretFileCrashTests {
    /// The home's own key put back over another one.
    @Test(arguments: Fault.allCases)
    func `a fault at any call of a claim leaves the old wipe key or the new one`(fault: Fault) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("claim \(fault.rawValue)")
        let template = scratch["template"]
        try Vault.createKnown(template, scratch.clock)
        let own = try Data(contentsOf: URL(fileURLWithPath: template + "/wipe.key"))
        _ = try Vault.known(template, scratch.clock).backup(to: scratch["other"])
        let other = try Data(contentsOf: URL(fileURLWithPath: scratch["other"] + "/wipe.key"))

        let disk = FaultyDisk(scratch: scratch)
        let arguments = ["claim", scratch.home, scratch.clock.path]
        func begin() throws {
            try scratch.copyHome(template, to: scratch.home)
            try other.write(to: URL(fileURLWithPath: scratch.home + "/wipe.key"))
        }
        try begin()
        let calls = try disk.calls(of: arguments, under: scratch.home)
        // Few enough for all of them.
        for call in 1...calls.count + (fault == .cut ? 1 : 0) {
            try begin()
            let environment = fault.environment(at: call, seed: generator.next() >> 2)
            let lines = try disk.run(arguments, under: scratch.home, environment)
            let context: Comment = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            let left = try? Data(contentsOf: URL(fileURLWithPath: scratch.home + "/wipe.key"))
            // Device and inode of the folder are the new home's: what is compared is the key.
            let key = left.map { $0.prefix(64) }
            #expect(left?.count == 128 && (key == own.prefix(64) || key == other.prefix(64)), context)
            if lines.contains("done") { #expect(key == own.prefix(64), context) }
            let vault = try Vault.known(scratch.home, scratch.clock)
            try vault.claimHardware(passcode: Known.passcode(0), spending: vault.burnAttempt())
            let claimed = try Data(contentsOf: URL(fileURLWithPath: scratch.home + "/wipe.key"))
            #expect(claimed.prefix(64) == own.prefix(64), context)
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.home)
            #expect(!names.contains(".wipe.key.part"), context)
        }
    }
}
#endif
