import Holdfast
import HoldfastUI
import TestSupport
import Testing

/// Setting a PIN and taking it away.
@MainActor @Suite(.patient) struct PINSettingsTests {
    let scratch: Scratch
    let chip = PlayedChip()

    init() throws {
        scratch = try Scratch()
        scratch.tier = chip
    }

    private func settings(chip obstacle: OwnerObstacle? = nil) async throws -> SecuritySettingsModel {
        try scratch.create()
        let settings = SecuritySettingsModel(try scratch.app()) { _ in obstacle }
        await settings.load()
        return settings
    }

    @Test func itIsSetWithThePasscodeReplacedAndRemoved() async throws {
        let settings = try await settings()
        #expect(!settings.hasPIN && !settings.canSetPIN, "nobody has looked for a chip")
        await settings.look()
        #expect(settings.canSetPIN)
        settings.request(.pinRemoval)
        #expect(settings.wanted == nil, "there is none")
        for pin in ["2580", "3691"] {
            #expect(try await settings.setPIN(secret(pin), passcode: secret("right")) == nil)
            #expect(settings.hasPIN && !settings.isBusy && chip.objectCount == 1)
        }
        settings.request(.pinRemoval)
        #expect(settings.needed == .passcode && settings.hasPIN)
        await settings.prove(passcode: try secret("wrong"))
        #expect(settings.failure?.problem == .wrongPasscode(remaining: 4) && settings.hasPIN)
        settings.request(.pinRemoval)
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && settings.wanted == nil && !settings.hasPIN && chip.objectCount == 0)
    }

    @Test(arguments: ["", "123", "0000", "1234", "4321", String(repeating: "01", count: 33)])
    func whatCannotBeOneChangesNothing(_ pin: String) async throws {
        let settings = try await settings()
        #expect(try await settings.setPIN(secret(pin), passcode: secret("right")) == .invalidPIN)
        #expect(!settings.hasPIN && chip.objectCount == 0)
        let vault = try Vault(at: scratch.path, settings: scratch.settings)
        #expect(try !vault.status().hasPIN && vault.status().remainingAttempts == 5)
    }

    @Test func neitherAWrongPasscodeNorASilentChipChangesAnything() async throws {
        let settings = try await settings(chip: .busy)
        await settings.look()
        #expect(!settings.canSetPIN)
        #expect(
            try await settings.setPIN(secret("2580"), passcode: secret("wrong")) == .wrongPasscode(remaining: 4))
        #expect(try await settings.setPIN(secret("2580"), passcode: secret("")) == .invalidPasscode)
        chip.unplug(true)
        #expect(try await settings.setPIN(secret("2580"), passcode: secret("right")) == .hardwareUnavailable)
        #expect(!settings.hasPIN && !settings.isBusy && chip.objectCount == 0)
    }

    @Test func anotherLimitEndsIt() async throws {
        let settings = try await settings()
        #expect(try await settings.setPIN(secret("2580"), passcode: secret("right")) == nil)
        settings.request(.countsBiometrics(false))
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && settings.hasPIN)
        settings.request(.attemptLimit(7))
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && !settings.hasPIN && chip.objectCount == 0)
    }
}
