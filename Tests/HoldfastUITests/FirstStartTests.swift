import Foundation
import Holdfast
import HoldfastUI
import KeyStores
import TestSupport
import Testing

/// What an app meets when it is started: nothing yet, its vault, or the reason why there is none.
@MainActor @Suite(.patient) struct FirstStartTests {
    let device: Device

    init() throws { device = try Device() }

    private func stop(_ appModel: AppModel) throws -> StopModel {
        guard case .stopped(let stop) = appModel.phase else { throw Device.Failure.notReady }
        return stop
    }

    @Test func `the first start is the app, and the next one finds what was stored`() async throws {
        let models = try await device.models()
        #expect(models.lock.state == .unlocked && models.cover.shown == .nothing && !models.lock.isEnabled)
        #expect(models.lock.level == .device && models.protection.isLostWithDevice)
        #expect(await models.vault.put(try secret("value"), at: VaultItem.ID(collection: "", name: "name")) == nil)
        let next = try await device.models()
        #expect(next.lock.state == .unlocked && next.vault.items.map(\.name) == ["name"])
        #expect(device.finger.prompts == 0 && device.code.prompts == 0)
    }

    @Test func `a vault that is gone is said, nothing is made, and starting over is its user's word`() async throws {
        _ = try await device.models()
        try FileManager.default.moveItem(atPath: device.path, toPath: device.path + "-moved")
        let appModel = await device.start()
        let stop = try stop(appModel)
        #expect(stop.reason == .missing && stop.remedies == [.tryAgain, .startOver])
        #expect(!FileManager.default.fileExists(atPath: device.path))
        await stop.perform(.accept)
        await stop.perform(.tryAgain)
        guard case .stopped(let again) = appModel.phase else { return #expect(Bool(false), "still gone") }
        #expect(!FileManager.default.fileExists(atPath: device.path))
        await again.perform(.startOver)
        guard case .ready(let models) = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        #expect(models.lock.state == .unlocked)
    }

    @Test func `a vault that comes back is opened by trying again`() async throws {
        _ = try await device.models()
        try FileManager.default.moveItem(atPath: device.path, toPath: device.path + "-moved")
        let appModel = await device.start()
        try FileManager.default.moveItem(atPath: device.path + "-moved", toPath: device.path)
        await (try stop(appModel)).perform(.tryAgain)
        guard case .ready = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
    }

    @Test func `a share that is lost is a lock screen that says so, and no new vault`() async throws {
        _ = try await device.models()
        device.stores = .inMemory()
        let appModel = await device.start()
        guard case .ready(let models) = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        #expect(models.lock.isLocked && models.cover.shown == .lockScreen && !models.lock.takesSecret)
        let stop = try #require(models.lock.stop)
        #expect(stop.reason == .lost && stop.remedies == [.tryAgain, .startOver])
        await stop.perform(.tryAgain)
        #expect(models.lock.isLocked && models.lock.stop?.reason == .lost && stop.problem == .shareLost)
        await stop.perform(.startOver)
        guard case .ready(let fresh) = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        #expect(fresh.lock.state == .unlocked && fresh.vault.items.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: device.path + ".before-1").contains("header"))
    }

    @Test func `another vault in its place is opened once its user has said so and was confirmed`() async throws {
        _ = try await device.models()
        try FileManager.default.removeItem(atPath: device.path)
        var stranger = device.settings
        stranger.profile = FloorProfile("stranger")
        _ = try await HoldfastApp.start(device.path, stranger)
        let appModel = await device.start()
        guard case .ready(let models) = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        let stop = try #require(models.lock.stop)
        #expect(stop.reason == .another && stop.remedies == [.accept, .startOver] && models.lock.isLocked)
        await stop.perform(.accept)
        #expect(models.lock.isLocked && stop.problem == .notRecognised, "nobody was confirmed")
        device.finger.plays(.match)
        await stop.perform(.accept)
        #expect(models.lock.state == .unlocked && models.lock.stop == nil)
    }

    @Test func `what is forgotten at once comes back at a button`() async throws {
        let models = try await device.models()
        models.lock.panic()
        await until { models.lock.state == .locked }
        #expect(models.vault.items.isEmpty)
        await models.lock.owner.unlock()
        #expect(models.lock.state == .unlocked)
        models.lock.lock()
        await until {
            models.lock.reason == .forced && models.lock.owner.opensByLevel && !models.lock.owner.isUnlocking
        }
        await models.lock.owner.unlock()
        #expect(models.lock.state == .unlocked && device.finger.prompts == 0)
    }

    @Test func `the prompt's own button leads to the device's passcode, and no further`() async throws {
        try await device.turnLockOn(try await device.models())
        device.finger.plays(.otherWay)
        device.code.plays(.match)
        let models = try await device.models()
        await until { models.lock.state == .unlocked }
        #expect(device.code.prompts == 1)
        // After the last step it is not there, and its end is a cancel.
        models.lock.lock()
        await until {
            models.lock.state == .locked && models.lock.owner.opensByLevel && !models.lock.owner.isUnlocking
        }
        device.finger.set(.notEnrolled("none"))
        device.code.plays(.otherWay)
        models.lock.owner.dialog.reason = "To open your notes"
        await models.lock.owner.unlock()
        #expect(models.lock.isLocked && device.code.prompts == 2 && device.code.reasons == [nil, "To open your notes"])
    }

    @Test func `the assistant stays for an app that wants it`() async throws {
        var options = AppModel.Options()
        options.beginning = .assistant
        let appModel = AppModel(at: device.path, interface: "test", options)
        guard case .setup = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        #expect(!FileManager.default.fileExists(atPath: device.path))
    }

    @Test func `a vault with a passcode opens with it as before`() async throws {
        try device.scratch.create()
        let models = try await device.models()
        #expect(models.lock.isLocked && models.lock.stop == nil && models.lock.takesSecret)
        await models.lock.unlock(.passcode, try secret("right"))
        #expect(models.lock.state == .unlocked)
    }
}
