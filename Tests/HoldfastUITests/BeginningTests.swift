import Foundation
import Holdfast
import HoldfastUI
import KeyStores
import TestSupport
import Testing

/// An app that begins at once on a device without a key store, and a backup that becomes a vault.
@MainActor @Suite(.patient) struct BeginningTests {
    let device: Device

    init() throws { device = try Device() }

    /// The app is started on a device whose key stores say no.
    private func start(_ error: VaultError) async -> AppModel {
        let (scratch, settings, authenticator) = (device.scratch, device.settings, device.scratch.authenticator)
        var inFile = settings
        inFile.shareStores = { ShareStores.files(in: $0 + "/shares") }
        inFile.profile = nil
        let files = inFile
        let appModel = AppModel(
            at: device.path, interface: "test",
            beginnings: Beginnings(
                assistant: { _ in SetupModel(scratch) },
                inFile: { path in
                    do throws(VaultError) { try Vault.createAtDevice(at: path, settings: files) } catch { return error }
                    return nil
                }),
            .atOnce { path throws(VaultError) in
                guard Vault.isVault(at: path) else { throw error }
                return try await HoldfastApp.start(path, files, authenticator: authenticator)
            } over: { _ throws(VaultError) in
                throw error
            })
        await appModel.opened()
        return appModel
    }

    private func stop(_ appModel: AppModel) throws -> StopModel {
        guard case .stopped(let stop) = appModel.phase else { throw Device.Failure.notReady }
        return stop
    }

    private static func unavailable(_ until: ShareWait?) -> VaultError {
        var error = VaultError(.shareUnavailable, "no")
        error.until = until
        return error
    }

    @Test func `without a key store nothing is made, and its user chooses`() async throws {
        let appModel = await start(BeginningTests.unavailable(.present))
        let stop = try stop(appModel)
        #expect(stop.beginnings == [.passcode, .file] && stop.remedies == [.tryAgain])
        #expect(!FileManager.default.fileExists(atPath: device.path))
        await stop.perform(.tryAgain)
        #expect(try self.stop(appModel) !== stop)
        #expect(!FileManager.default.fileExists(atPath: device.path))
    }

    @Test func `a keyring that is locked is waited for, and no reason to do without one`() async throws {
        let stop = try stop(await start(BeginningTests.unavailable(.unlocked)))
        #expect(stop.beginnings == [.passcode])
        await stop.begin(.file)
        #expect(!FileManager.default.fileExists(atPath: device.path))
    }

    @Test func `a vault beside a file opens at once, and at the next start`() async throws {
        let appModel = await start(BeginningTests.unavailable(.present))
        let stop = try stop(appModel)
        await stop.begin(.file)
        #expect(stop.problem == nil && !stop.isBusy)
        #expect(try #require(appModel.models).lock.state == .unlocked)
        let next = await start(BeginningTests.unavailable(.present))
        #expect(try #require(next.models).lock.state == .unlocked)
    }

    @Test func `the assistant is one way, and can be left before it made anything`() async throws {
        let appModel = await start(VaultError(.hardwareUnavailable, "no"))
        await (try stop(appModel)).begin(.passcode)
        guard case .setup(let setup) = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        #expect(setup.step == .welcome)
        appModel.leaveSetup()
        await appModel.opened()
        await (try stop(appModel)).begin(.passcode)
        guard case .setup(let again) = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        again.begin()
        appModel.leaveSetup()
        await appModel.opened()
        guard case .setup = appModel.phase else { return #expect(Bool(false), "the assistant has begun") }
    }

    @Test func `a backup becomes a vault where nothing is, and never in the place of one`() async throws {
        try device.scratch.create()
        let vault = try Vault(at: device.path, settings: device.scratch.settings)
        let kept = device.path + "-backup"
        _ = try vault.backup(to: kept)
        let header = try Data(contentsOf: URL(fileURLWithPath: device.path + "/header"))
        let model = RestoreModel(near: device.path)
        #expect(model.target == device.path + "-2" && model.source == nil)
        await model.restore()
        #expect(model.step == .choosing, "nothing was chosen")
        model.take(device.path)
        await model.restore()
        #expect(model.step == .failed(.noBackup))
        model.goBack()
        model.take(kept)
        model.put(in: device.path)
        await model.restore()
        #expect(model.step == .failed(.exists))
        #expect(try Data(contentsOf: URL(fileURLWithPath: device.path + "/header")) == header)
        model.put(in: device.path + "-2")
        await model.restore()
        guard case .restored = model.step else { return #expect(Bool(false), "\(model.step)") }
        #expect(Vault.isVault(at: device.path + "-2"))
        #expect(RestoreModel(near: device.path).target == device.path + "-3")
    }

    @Test func `a backup that was changed is not restored, and of several the newest is taken`() async throws {
        try device.scratch.create()
        let vault = try Vault(at: device.path, settings: device.scratch.settings)
        let folder = device.path + "-several"
        for time in [Int64(1_700_000_000), 1_700_086_400] {
            _ = try vault.backup(generationsIn: folder, keeping: 3, time: time)
        }
        let model = RestoreModel(near: device.path)
        model.take(folder)
        let newest = try #require(model.source)
        #expect(newest == Vault.newestGeneration(in: folder, at: 1_700_090_000) && newest != folder)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: newest + "/vault.mdb"))
        try file.seek(toOffset: 5000)
        try file.write(contentsOf: Data([1, 2, 3, 4]))
        try file.close()
        await model.restore()
        #expect(model.step == .failed(.damaged))
        #expect(!Vault.isVault(at: model.target))
    }
}
