import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

/// What the settings and a recovery ask where hardware keeps keys that may be another folder's.
@MainActor @Suite(.patient) struct FolderSettingsTests {
    let scratch: Scratch
    let chip = PlayedChip()

    init() throws {
        scratch = try Scratch()
        scratch.tier = chip
    }

    /// A vault with a PIN, whose folder has lost its own key.
    private func settings() async throws -> SecuritySettingsModel { try await prepared().settings }

    private func prepared() async throws -> (settings: SecuritySettingsModel, phrase: String) {
        let phrase = try scratch.create()
        let settings = SecuritySettingsModel(try scratch.app()) { _ in nil }
        await settings.load()
        #expect(try await settings.setPIN(secret("2580"), passcode: secret("right")) == nil)
        #expect(!settings.leavesHardware)
        settings.request(.hardware(.claim))
        #expect(settings.wanted == nil, "there is nothing to say")
        try FileManager.default.removeItem(atPath: scratch.path + "/wipe.key")
        return (settings, phrase)
    }

    @Test func `a refused change brings the question up, and the vault's own key back`() async throws {
        let settings = try await settings()
        settings.request(.pinRemoval)
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure?.problem == .hardwareUnclaimed && settings.leavesHardware && settings.hasPIN)
        settings.request(.hardware(.claim))
        #expect(settings.needed == .passcode)
        await settings.prove(passcode: try secret("wrong"))
        #expect(settings.failure?.problem == .wrongPasscode(remaining: 4) && settings.leavesHardware)
        settings.request(.hardware(.claim))
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && !settings.leavesHardware && settings.hasPIN && chip.objectCount == 1)
        settings.request(.pinRemoval)
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && !settings.hasPIN && chip.objectCount == 0)
    }

    @Test func `forms that are refused bring the question up, too`() async throws {
        let settings = try await settings()
        #expect(try await settings.setPIN(secret("3691"), passcode: secret("right")) == .hardwareUnclaimed)
        #expect(settings.leavesHardware)
        #expect(try await settings.changePasscode(from: secret("right"), to: secret("next one")) == .hardwareUnclaimed)
        #expect(settings.leavesHardware)
    }

    @Test func `a copy loses its PIN and leaves the share to the other folder`() async throws {
        let settings = try await settings()
        await settings.load()
        #expect(settings.leavesHardware, "known before anything is refused")
        settings.request(.hardware(.leave))
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && !settings.leavesHardware && !settings.hasPIN && chip.objectCount == 1)
    }

    @Test func `a recovery with a new passcode has to say what the folder is`() async throws {
        let phrase = try await prepared().phrase
        let lock = LockModel(try scratch.app())
        await lock.refresh()
        #expect(lock.leavesHardware)
        #expect(try await lock.recover(phrase: secret(phrase), newPasscode: secret("next one")) == nil)
        #expect(lock.guidance == .refused(.hardwareUnclaimed))
        #expect(
            try await lock.recover(phrase: secret(phrase), newPasscode: secret("next one"), hardware: .claim) != nil)
        #expect(lock.state == .unlocked && !lock.leavesHardware)
    }
}
