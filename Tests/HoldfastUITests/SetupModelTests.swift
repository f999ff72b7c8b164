import Foundation
import Holdfast
import HoldfastUI
import KeyStores
import TestSupport
import Testing

@MainActor @Suite(.patient) struct SetupModelTests {
    @Test func fromNothingToAnOpenVaultWithItsLockOn() async throws {
        let scratch = try Scratch()
        let model = SetupModel(scratch)
        model.begin()
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("another"))
        #expect(model.step == .passcode && model.problem == .passcodesDiffer)
        await model.choose(passcode: try secret(""), repeated: try secret(""))
        #expect(model.step == .passcode && model.problem == .invalidPasscode)
        await model.choose(passcode: try secret("123456"), repeated: try secret("123456"))
        #expect(model.step == .passcode && model.problem == .weakPasscode)
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("a passcode"))
        #expect(model.step == .phrase)
        let words = try #require(model.withPhrase(text)).split(separator: " ").map(String.init)
        #expect(words.count == 24)
        model.phraseIsWritten()
        #expect(model.withPhrase(text) == nil, "not while they are asked for")
        #expect(model.positions.count == 3 && model.positions == model.positions.sorted())
        #expect(!model.finishCheck())
        for position in model.positions {
            #expect(!model.answer(words, position, isWrong: true))
        }
        #expect(!model.finishCheck() && model.step == .check)
        model.showPhraseAgain()
        #expect(model.step == .phrase)
        model.phraseIsWritten()
        for position in model.positions {
            #expect(model.answer(words, position, isWrong: false))
        }
        #expect(model.finishCheck() && model.step == .protection)
        #expect(!model.enablesLock, "protection is offered, not demanded")
        await model.finish()
        #expect(model.step == .finished && model.problem == nil)
        let app = try #require(model.app)
        #expect(app.vault.isUnlocked)
        #expect(try !app.vault.status().policy.isLockEnabled)
    }

    @Test func `the app lock is on from the first day where its user wants that`() async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let model = SetupModel(scratch)
        try await model.toProtection()
        model.enablesLock = true
        await model.finish()
        #expect(try #require(model.app).vault.status().policy.isLockEnabled)
    }

    @Test func `a vault begins without a passcode where the machine has a key store, and nowhere else`() async throws {
        let poor = SetupModel(try Scratch(), stores: ShareStores([], floors: []))
        await poor.look()
        #expect(!poor.canBeginWithoutPasscode)
        await poor.beginWithoutPasscode()
        #expect(poor.step == .welcome && poor.app == nil && poor.problem != nil)
        #expect(!FileManager.default.fileExists(atPath: poor.path + "/header"), "nothing is left behind")
        poor.begin()
        #expect(poor.step == .passcode && poor.problem == nil)

        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let rich = SetupModel(scratch, stores: .inMemory())
        await rich.look()
        #expect(rich.canBeginWithoutPasscode && rich.step == .welcome)
        await rich.beginWithoutPasscode()
        let app = try #require(rich.app)
        #expect(rich.step == .finished && app.vault.isUnlocked)
        #expect(try app.protection.level == .device)
        await rich.beginWithoutPasscode()
        #expect(rich.app === app, "once")

        let unlucky = SetupModel(
            at: try Scratch().path,
            create: { _, _ throws(VaultError) in throw VaultError(.inputOutput, "not this way") },
            open: { _ throws(VaultError) in throw VaultError(.inputOutput, "the disk") },
            unasked: .init(isPossible: { _ in true }, create: { _ in }))
        await unlucky.beginWithoutPasscode()
        #expect(unlucky.step == .finished && unlucky.app == nil, "the vault is there: its lock screen goes on")
    }

    @Test func pagesForPartsComeOnlyWhereTheyAreAndMayBeLeftOut() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let model = SetupModel(scratch, [.chip, .fingerprint])
        try await model.toProtection()
        await model.finish()
        #expect(model.step == .chip)
        await model.enrollChip()
        #expect(model.step == .chip && model.problem == .hardwareUnavailable, "what does not succeed is said")
        model.leaveOut()
        #expect(model.step == .fingerprint && model.problem == nil)
        sensor.plays(.says(.touch), .holds)
        let proving = Task { await model.enrollFingerprint() }
        await until { model.dialog.guidance == .touch }
        model.leaveOut()
        await proving.value
        #expect(model.step == .fingerprint && model.problem == nil, "the finger is let go first")
        model.leaveOut()
        #expect(model.step == .finished)
        let app = try #require(model.app)
        #expect(try app.vault.isUnlocked && !app.vault.status().policy.usesBiometrics)
    }

    @Test func theFaceGoesFromTheAssistantToTheModels() async throws {
        let scratch = try Scratch()
        let settings = scratch.settings
        let appModel = AppModel(at: scratch.path, interface: "test") { path throws(VaultError) in
            try HoldfastApp(vault: Vault(at: path, settings: settings))
        }
        guard case .setup = appModel.phase else { return #expect(Bool(false), "there is no vault yet") }
        try scratch.create()
        appModel.load()
        guard case .ready(let models) = appModel.phase else { return #expect(Bool(false), "there is one now") }
        #expect(models.lock.isLocked)
    }

    @Test(arguments: [AppModel.Ending.message, .exit])
    func `a vault that was destroyed is the end, by itself and once, and takes what the app named along`(
        _ ending: AppModel.Ending
    ) async throws {
        let scratch = try Scratch()
        try scratch.create()
        let cache = Cache()
        var settings = scratch.settings
        settings.wipeTargets = [cache]
        let (given, exits) = (settings, Exits())
        let appModel = AppModel(at: scratch.path, interface: "test", ending: ending, leave: { exits.count += 1 }) {
            path throws(VaultError) in try HoldfastApp(vault: Vault(at: path, settings: given))
        }
        guard case .ready(let models) = appModel.phase else { return #expect(Bool(false), "there is one") }
        await models.lock.unlock(.passcode, try secret("right"))
        _ = try await models.lock.app.lock.wipe(passcode: secret("right")) { _ in }
        await until { if case .destroyed = appModel.phase { true } else { false } }
        #expect(exits.count == (ending == .exit ? 1 : 0))
        #expect(cache.isGone)
        appModel.noteDestroyed()
        #expect(exits.count == (ending == .exit ? 1 : 0))
        appModel.load()
        guard case .destroyed = appModel.phase else { return #expect(Bool(false), "and stays so") }
    }

    @Test func `an app does not end while another thread still erases what it named`() async throws {
        let scratch = try Scratch()
        try scratch.create()
        let cache = HeldCache()
        var settings = scratch.settings
        settings.wipeTargets = [cache]
        let (given, exits) = (settings, Exits())
        let appModel = AppModel(at: scratch.path, interface: "test", ending: .exit, leave: { exits.count += 1 }) {
            path throws(VaultError) in try HoldfastApp(vault: Vault(at: path, settings: given))
        }
        guard case .ready(let models) = appModel.phase else { return #expect(Bool(false), "there is one") }
        // As at the last sample that a sensor did not recognise: not by a call of the lock.
        let wiping = Thread { [vault = models.lock.app.vault] in
            _ = try? vault.wipe(passcode: secret("right"), spending: vault.burnAttempt()) { _ in }
        }
        wiping.start()
        await until { cache.isReached }
        await models.lock.refresh()
        #expect(exits.count == 0 && !cache.isGone)
        cache.letGo()
        await until { exits.count > 0 }
        #expect(exits.count == 1 && cache.isGone)
    }

    @Test func aFolderThatIsTakenIsLeftAlone() async throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.path + "/file"))
        let model = SetupModel(scratch)
        model.begin()
        await model.choose(passcode: try secret("pass"), repeated: try secret("pass"), takingWeak: true)
        #expect(model.step == .passcode && model.problem == .exists)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["file"])
    }
}

@MainActor private final class Exits { var count = 0 }
