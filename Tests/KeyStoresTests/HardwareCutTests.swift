import Foundation
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat

/// A process that puts a passcode or a PIN under a TPM, changes it or the rules there, or takes it out, ended at every
/// command that it sends to the chip and at every call that changes the home: the passcode opens whatever was cut off,
/// no attempt is lost, and nothing is left behind in the chip.
@Suite(
    .seeded,
    .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: cuts in the middle of enrolling are not tested"))
struct HardwareCutTests {
    private static let changes = ["enroll", "change", "enrollPIN", "rules", "removePIN", "remove"]

    /// Every place in the full count; else some, from another one in each run.
    private static func places(_ step: Int) -> (first: Int, step: Int) {
        var generator = SeededGenerator()
        let step = TestRun.isCheck ? step : 3 * step
        return TestRun.isSoak ? (0, 1) : (Int.random(in: 0..<step, using: &generator), step)
    }

    private func check(_ home: HardwareHome, _ place: String) throws {
        let vault = try home.unlock()
        vault.lock()
        #expect(try home.indices() == home.wantedIndices(), "\(place)")
        #expect(try vault.status().remainingAttempts == 5, "\(place)")
        // Another header after a change that was cut off: it is not taken for an older one.
        let passcode = try secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
            policy.lockTiming = policy.lockTiming == .immediately ? .never : .immediately
        }
        try home.unlock()
        #expect(try home.indices() == home.wantedIndices(), "\(place), after another change")
        if try vault.status().hasPIN { #expect(try home.unlock(pin: "2580") == nil, "\(place), by the PIN") }
    }

    @Test("cut", arguments: [false, true])
    func everyCommand(_ powerToo: Bool) throws {
        let home = try HardwareHome()
        let proxy = try TPMProxy(home.chip)
        let (first, step) = HardwareCutTests.places(19)
        var cuts = 0
        for change in HardwareCutTests.changes {
            var number = first
            while true {
                try home.prepare(change)
                let box = SpawnedBox()
                proxy.arm(at: number) { [chip = home.chip] in
                    box.end()
                    if powerToo { try? chip.cutPower() }
                }
                let child = try home.begin(change, at: proxy.location)
                box.set(child)
                let status = child.wait()
                guard proxy.hasCut else {
                    #expect(status == 0, "\(change) failed without a cut")
                    break
                }
                let place = "cut at command \(number) of \(change), power too: \(powerToo)"
                do { try check(home, place) } catch { Issue.record("\(place): \(error)") }
                number += step
                cuts += 1
            }
        }
        #expect(cuts >= 3, "from command \(first)")
        try home.prepare("enroll")
        if try home.vault().status().hasPIN { try home.removePIN() }
        #expect(try home.indices() == 0, "what was taken out left nothing")
    }

    /// What the disk does at one call.
    enum Fault: String, CaseIterable {
        case kill
        /// What was not flushed is gone; the chip loses its power, too.
        case cut
        /// An error, once.
        case fail
        /// No call is made any more that changes anything.
        case readOnly
    }

    @Test("fault", arguments: Fault.allCases)
    func everyCall(_ fault: Fault) throws {
        let home = try HardwareHome()
        let scratch = NSTemporaryDirectory() + "holdfast-fault-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let seed = TestRun.seed & 0xFFFF_FFFF
        var variables = [
            "LD_PRELOAD": HardwareHome.products + "/libFaultInjection.so", "HOLDFAST_FAULT_UNDER": home.folder,
            "HOLDFAST_FAULT_TRASH": scratch, "HOLDFAST_FAULT_SEED": "\(seed)",
        ]
        let (first, step) = HardwareCutTests.places(23)
        for change in HardwareCutTests.changes {
            try home.prepare(change)
            variables["HOLDFAST_FAULT"] = "count"
            variables["HOLDFAST_FAULT_LOG"] = scratch + "/log"
            #expect(try home.begin(change, variables).wait() == 0)
            let calls = try String(contentsOfFile: scratch + "/log", encoding: .utf8).split(separator: "\n")
            try FileManager.default.removeItem(atPath: scratch + "/log")
            variables["HOLDFAST_FAULT_LOG"] = nil
            try #require(calls.count > 10)
            for number in stride(from: first, to: calls.count, by: step) {
                try home.prepare(change)
                variables["HOLDFAST_FAULT_AT"] = "\(number + 1)"
                switch fault {
                case .kill, .cut: variables["HOLDFAST_FAULT"] = fault.rawValue
                case .fail, .readOnly:
                    variables["HOLDFAST_FAULT"] = "fail"
                    variables["HOLDFAST_FAULT_ERROR"] = "\(fault == .fail ? EIO : EROFS)"
                    variables["HOLDFAST_FAULT_ONCE"] = fault == .fail ? "1" : nil
                }
                let status = try home.begin(change, variables).wait()
                if fault == .cut { try home.chip.cutPower() }
                let place = "\(fault) at call \(number + 1) (\(calls[number])) of \(change)"
                switch fault {
                case .kill, .cut: #expect(status == -1, "\(place)")
                // Nobody has been here since: the process itself has put things right.
                case .fail: #expect(try home.indices() == home.wantedIndices(), "\(place)")
                // What cannot be told apart any more is kept, and goes with the next passcode.
                case .readOnly: #expect(try home.indices() >= home.wantedIndices(), "\(place)")
                }
                do { try check(home, place) } catch { Issue.record("\(place): \(error)") }
            }
        }
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
