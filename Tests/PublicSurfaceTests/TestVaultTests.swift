import Foundation
import Holdfast
import HoldfastTesting
import Testing

/// What `HoldfastTesting` gives the tests of an app.
@Suite struct TestVaultTests {
    @Test func `an app's tests use it with its public declarations alone`() throws {
        let file = Outsider.root.appending(path: "Tests/PublicSurfaceTests/AppScenario.swift").path
        let checked = try Outsider.check([file])
        #expect(checked.status == 0, "\(checked.words.prefix(4000))")
    }

    @Test func `wrong passcodes wait for the test's clock`() async throws { try await AppScenario.passcodes() }

    @Test func `the scripted owner unlocks, cancels and changes`() async throws { try await AppScenario.owners() }

    @Test func `a missing key store is an error`() async throws { try await AppScenario.missingKeyStore() }

    @Test func `the chip counts wrong PINs`() async throws { try await AppScenario.chips() }

    @Test func `the folder goes with the vault`() throws {
        let path = try TestVault().path
        #expect(!FileManager.default.fileExists(atPath: path))
        let vault = try TestVault()
        #expect(FileManager.default.fileExists(atPath: vault.path))
    }

    @Test func `a shipped program does not open a vault with a test's costs`() throws {
        let vault = try TestVault()
        let shipped = try Vault(at: vault.path, settings: VaultSettings(limits: .shipped))
        #expect(throws: VaultError.self) {
            try shipped.unlock(passcode: vault.passcode, spending: shipped.burnAttempt())
        }
    }
}
