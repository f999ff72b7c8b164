import Foundation
import Holdfast
import HoldfastUI
import KeyStores
import TestSupport
import Testing

/// An app on an empty device: a finger or face, a passcode of the device, a key store, and no vault.
@MainActor
final class Device {
    let scratch: Scratch
    let finger = PlayedSensor(.biometrics)
    let code = PlayedSensor(.devicePasscode)
    var stores = ShareStores.inMemory()
    /// What of the app is destroyed together with the vault.
    var wipeTargets: [any WipeTarget] = []
    var path: String { scratch.path }

    init() throws {
        scratch = try Scratch()
        scratch.has(finger, code)
    }

    var settings: VaultSettings {
        var settings = scratch.settings
        settings.shareStores = { [stores] _ in stores }
        settings.profile = .standard
        settings.wipeTargets = wipeTargets
        return settings
    }

    /// The app is started: another process of it each time.
    func start(_ ending: AppModel.Ending = .message, leave: @escaping @MainActor () -> Void = {}) async -> AppModel {
        let (settings, authenticator) = (settings, scratch.authenticator)
        let appModel = AppModel(
            at: path, interface: "test", ending: ending, leave: leave,
            .atOnce { path throws(VaultError) in
                try await HoldfastApp.start(path, settings, authenticator: authenticator)
            } over: { path throws(VaultError) in
                _ = try Vault.startOver(at: path, settings: settings)
            })
        await appModel.opened()
        return appModel
    }

    /// As ``start(_:leave:)``, in front of its user, of an app that has a vault.
    func models() async throws -> ReadyModels {
        guard case .ready(let models) = await start().phase else { throw Failure.notReady }
        await models.lock.handle(.didBecomeActive)
        if !models.lock.isLocked { await models.load() }
        return models
    }

    /// The user turns the switch on, and the sensor knows them; what is stored has moved to its new keys.
    func turnLockOn(_ models: ReadyModels) async throws {
        finger.plays(.match)
        await models.settings.look()
        models.settings.request(.lock(true))
        await models.settings.confirm()
        try #require(models.settings.failure == nil)
        await settled(models)
    }

    /// What is stored has moved to its newest keys.
    func settled(_ models: ReadyModels) async {
        await models.protection.load()
        await until { models.protection.moving == nil && models.protection.protection?.moving == nil }
    }

    enum Failure: Error { case notReady }
}

extension LockModel {
    /// Leaves the app, and comes back to it.
    func leaveAndReturn() async {
        await handle(.willResignActive)
        await handle(.didEnterBackground)
        await handle(.willEnterForeground)
        await handle(.didBecomeActive)
    }
}
