import AppLockCore
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultLog
import VaultStorage
import VaultHeader

/// The switch on real vaults, with a clock that stands until the test moves it.
@Suite struct SelfDestructSwitchTests {
    final class Scratch: Sendable {
        private let folder: ScratchFolder
        var path: String { folder["home"] }
        let clock = TestClock()
        let vault: Vault
        let right: SecretBytes

        init() throws {
            folder = try ScratchFolder("switch")
            right = try secret("right")
            let path = folder["home"]
            _ = try Vault.create(at: path, passcode: right, settings: .costsForTests(clock: clock))
            vault = try Vault(at: path, settings: .costsForTests(clock: clock))
        }

        func isOn() throws -> Bool { try vault.status().policy.selfDestruct }

        /// What lies in the home, byte for byte.
        func bytes() throws -> [String: Data] {
            var all: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "files" {
                all[name] = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
            }
            for name in ["ledger", "log", "log.state"] { all[name] = nil }  // each authentication writes there
            return all
        }
    }

    private func code(_ body: () throws -> Void) -> VaultError.Code? { thrown(VaultError.self, body)?.code }

    @Test func bothDirectionsTakeTwoAuthenticationsAndTheCountdown() throws {
        let scratch = try Scratch()
        for change in SelfDestruct.Change.allCases {
            let selfDestruct = SelfDestructSwitch(vault: scratch.vault)
            let wasOn = try scratch.isOn()
            #expect(code { _ = try selfDestruct.finish(passcode: scratch.right) } == .notPending)
            #expect(code { try selfDestruct.confirm() } == .notPending)
            try selfDestruct.begin(change, passcode: scratch.right)
            #expect(code { _ = try selfDestruct.finish(passcode: scratch.right) } == .notPending)
            try selfDestruct.confirm()
            #expect(selfDestruct.pending == change)
            #expect(selfDestruct.remaining == .seconds(30))
            scratch.clock.advance(seconds: 29)
            #expect(selfDestruct.remaining == .seconds(1))
            #expect(code { _ = try selfDestruct.finish(passcode: scratch.right) } == .delayed)
            #expect(try scratch.isOn() == wasOn)
            scratch.clock.advance(seconds: 1)
            #expect(selfDestruct.remaining == .zero)
            let key = try selfDestruct.finish(passcode: scratch.right)
            #expect(try scratch.isOn() == (change == .enable))
            #expect((key != nil) == (change == .enable))
            #expect(selfDestruct.pending == nil)
            #expect(code { try selfDestruct.begin(change, passcode: scratch.right) } == .exists)
        }
    }

    @Test func wrongPasscodesEndTheChangeAndAreCounted() throws {
        let scratch = try Scratch()
        let wrong = try secret("wrong")
        let selfDestruct = SelfDestructSwitch(vault: scratch.vault)
        #expect(code { try selfDestruct.begin(.enable, passcode: wrong) } == .wrongPasscode)
        #expect(selfDestruct.pending == nil)
        #expect(try scratch.vault.status().remainingAttempts == 4)
        try selfDestruct.begin(.enable, passcode: scratch.right)
        try selfDestruct.confirm()
        scratch.clock.advance(seconds: 30)
        #expect(code { _ = try selfDestruct.finish(passcode: wrong) } == .wrongPasscode)
        #expect(code { _ = try selfDestruct.finish(passcode: scratch.right) } == .notPending)
        #expect(try !scratch.isOn())
    }

    @Test(arguments: ["cancel", "leave", "reboot", "wait", "forget"])
    func everythingElseChangesNothingOnDisk(way: String) throws {
        let scratch = try Scratch()
        let before = try scratch.bytes()
        var selfDestruct = SelfDestructSwitch(vault: scratch.vault)
        try selfDestruct.begin(.enable, passcode: scratch.right)
        try selfDestruct.confirm()
        #expect(try scratch.bytes() == before, "something of the pending change is on disk")
        scratch.clock.advance(seconds: 30)
        switch way {
        case "cancel": #expect(selfDestruct.cancel())
        case "leave": #expect(selfDestruct.leave())
        case "reboot": scratch.clock.reboot()
        case "wait": scratch.clock.advance(seconds: 700)
        default: selfDestruct = SelfDestructSwitch(vault: scratch.vault)
        }
        #expect(selfDestruct.pending == nil)
        #expect(code { _ = try selfDestruct.finish(passcode: scratch.right) } == .notPending)
        #expect(try scratch.bytes() == before)
        #expect(!selfDestruct.cancel())
        try scratch.vault.unlock(passcode: scratch.right, spending: scratch.vault.burnAttempt())
        let words = try scratch.vault.securityLog().entries.map(\.event.name)
        #expect(words.contains("selfDestructArmed"))
        #expect(words.contains("selfDestructCancelled") == (way != "forget"))
    }

    @Test func aCancelFromAnotherThreadWinsWhileTheKeyIsDerived() throws {
        // At the very last moment: after the passcode was found right, before anything is written.
        for cancelled in [false, true] {
            let scratch = try Scratch()
            let selfDestruct = SelfDestructSwitch(vault: scratch.vault)
            try selfDestruct.begin(.enable, passcode: scratch.right)
            try selfDestruct.confirm()
            scratch.clock.advance(seconds: 30)
            _ = selfDestruct.remaining
            let attempt = try scratch.vault.burnAttempt()  // holds the header: finish() has to wait for it
            let ended = DispatchSemaphore(value: 0)
            let outcome = Mutex<VaultError.Code?>(nil)
            Thread.detachNewThread {
                do { _ = try selfDestruct.finish(passcode: scratch.right) } catch {
                    outcome.withLock { $0 = (error as? VaultError)?.code }
                }
                ended.signal()
            }
            if cancelled { selfDestruct.cancel() }
            try scratch.vault.verify(passcode: scratch.right, spending: attempt)
            ended.wait()
            #expect(outcome.withLock { $0 } == (cancelled ? .notPending : nil))
            #expect(try scratch.isOn() == !cancelled)
        }
    }

    @Test func theVaultsRulesMayAskForALongerCountdownOnly() throws {
        let scratch = try Scratch()
        try scratch.vault.changePolicy(passcode: scratch.right, spending: scratch.vault.burnAttempt()) {
            $0.selfDestructCountdown = 120
        }
        let selfDestruct = SelfDestructSwitch(vault: scratch.vault, countdown: .seconds(30))
        try selfDestruct.begin(.enable, passcode: scratch.right)
        try selfDestruct.confirm()
        #expect(selfDestruct.remaining == .seconds(120))
        scratch.clock.advance(seconds: 119)
        #expect(code { _ = try selfDestruct.finish(passcode: scratch.right) } == .delayed)
        scratch.clock.advance(seconds: 1)
        _ = try selfDestruct.finish(passcode: scratch.right)
        #expect(try scratch.isOn())
        let longer = SelfDestructSwitch(vault: scratch.vault, countdown: .seconds(200))
        try longer.begin(.disable, passcode: scratch.right)
        #expect(longer.countdown == .seconds(200))
    }

    @Test(arguments: [LockMachine.Event.system(.didEnterBackground), .forceLock])
    func leavingOrLockingTheAppGivesItUp(event: LockMachine.Event) async throws {
        let scratch = try Scratch()
        let lock = AppLock(vault: scratch.vault, settings: LockSettings(isEnabled: true, timing: .oneMinute))
        try await lock.unlock(.passcode, secret("right"))
        let selfDestruct = SelfDestructSwitch(vault: scratch.vault)
        for isLeft in [true, false] {
            if isLeft == false {
                await lock.play(.system(.didBecomeActive))
                if !lock.vault.isUnlocked { try await lock.unlock(.passcode, secret("right")) }
            }
            try selfDestruct.begin(.enable, passcode: scratch.right)
            try await lock.confirm(selfDestruct)
            #expect(await lock.snapshot.hasPendingSelfDestructChange)
            if isLeft { await lock.play(event) }
            scratch.clock.advance(seconds: 30)
            do {
                _ = try await lock.finish(selfDestruct, passcode: secret("right"))
                #expect(!isLeft)
            } catch let error as VaultError { #expect(isLeft && error.code == .notPending, "\(error)") }
            #expect(await !lock.snapshot.hasPendingSelfDestructChange)
            #expect(try scratch.isOn() == !isLeft)
        }
    }

    @Test func aLongerCountdownIsKept() throws {
        let scratch = try Scratch()
        #expect(SelfDestructSwitch(vault: scratch.vault, countdown: .seconds(1)).countdown == .seconds(30))
        #expect(SelfDestructSwitch(vault: scratch.vault, countdown: .seconds(-1)).countdown == .seconds(30))
        #expect(SelfDestructSwitch(vault: scratch.vault, countdown: .seconds(Int64.max)).countdown == .seconds(86_400))
        let selfDestruct = SelfDestructSwitch(vault: scratch.vault, countdown: .seconds(90))
        try selfDestruct.begin(.enable, passcode: scratch.right)
        try selfDestruct.confirm()
        scratch.clock.advance(seconds: 89)
        #expect(code { _ = try selfDestruct.finish(passcode: scratch.right) } == .delayed)
        scratch.clock.advance(seconds: 1)
        _ = try selfDestruct.finish(passcode: scratch.right)
        #expect(try scratch.isOn())
    }
}
