import Holdfast
import Synchronization
import TestSupport
import Testing

@testable import HoldfastUI

/// What a vault lacks, and for how long nobody hears of it after "not now".
@MainActor @Suite(.patient) struct ProtectionAdviceTests {
    @Test func `what is missing, the most urgent first`() {
        func missing(
            _ asks: ProtectionFacts.Asks, passcode: Bool, phrase: Bool, backup: Bool?, isEmpty: Bool = false
        ) -> [ProtectionAdvice] {
            var facts = ProtectionFacts(asks, hasPasscode: passcode, isRecoverable: phrase)
            facts.hasBackup = backup
            return ProtectionAdvice.missing(facts, isEmpty: isEmpty)
        }
        #expect(missing(.nobody(.files), passcode: false, phrase: false, backup: false) == [.passcode, .phrase])
        #expect(missing(.nobody(.chip), passcode: false, phrase: true, backup: false) == [.passcode, .backup])
        #expect(missing(.owner(.files), passcode: false, phrase: false, backup: false) == [.phrase])
        #expect(missing(.owner(.files), passcode: true, phrase: false, backup: false) == [.phrase, .backup])
        #expect(missing(.secret, passcode: true, phrase: true, backup: false) == [.backup])
        #expect(missing(.secret, passcode: true, phrase: true, backup: false, isEmpty: true) == [])
        #expect(missing(.secret, passcode: true, phrase: true, backup: nil) == [])
        #expect(missing(.secret, passcode: true, phrase: true, backup: true) == [])
    }

    @Test func `it goes when it is mended, and stays away for thirty days when it is sent away`() async throws {
        let device = try Device()
        let models = try await device.models()
        let time = Mutex<Int64>(1_800_000_000)
        let advice = AdviceModel(
            models.lock, models.protection, models.settings, models.preferences, models.vault, models.backup
        ) { time.withLock { $0 } }
        await models.backup.load()
        #expect(advice.shown == .passcode && advice.facts?.hasBackup == false)
        await advice.dismiss(.passcode)
        #expect(advice.shown == .phrase)
        await advice.dismiss(.phrase)
        #expect(advice.shown == nil, "a copy would open nowhere")
        time.withLock { $0 += ProtectionAdvice.silence - 1 }
        #expect(advice.shown == nil)
        time.withLock { $0 += 1 }
        #expect(advice.shown == .passcode)
        time.withLock { $0 = 1_700_000_000 }
        #expect(advice.shown == .passcode, "the clock was put back by years")
        time.withLock { $0 = 1_800_000_000 }

        device.finger.plays(.match)
        await models.protection.setPasscode(try secret("right"), repeated: try secret("right"), takingWeak: true)
        await device.settled(models)
        await models.load()
        #expect(advice.facts?.hasPasscode == true && advice.shown == nil, "the phrase was sent away")
        #expect(await models.vault.put(try secret("a value"), at: .init(collection: "default", name: "name")) == nil)
        #expect(advice.shown == .backup)
        _ = try models.lock.app.vault.backup(to: device.path + "-copy")
        await models.backup.load()
        #expect(advice.facts?.hasBackup == true && advice.shown == nil)

        let cold = try await device.models()
        await cold.lock.unlock(.passcode, try secret("right"))
        await cold.load()
        #expect(cold.preferences.values.silenced.keys.sorted { $0.rawValue < $1.rawValue } == [.passcode, .phrase])
        #expect(cold.advice.facts?.hasBackup == true)
    }

    @Test func `the lock drops what was read, and nothing is told while it is shut`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        #expect(models.advice.facts?.hasBackup == false && models.advice.facts?.asks == .secret)
        models.lock.panic()
        #expect(models.advice.facts?.hasBackup == nil && models.advice.shown == nil)
        await models.backup.load()
        #expect(models.advice.facts?.hasBackup == nil)
    }
}
