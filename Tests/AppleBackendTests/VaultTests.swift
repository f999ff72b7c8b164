import AppleScripting
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultFormat

@testable import DeviceOwner
@testable import KeyStores
@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

extension AppleBackends {
    /// A real vault whose owner is the scripted device's.
    @Suite struct Vaults {
        let device = ScriptedDevice.current
        let folder: ScratchFolder
        init() throws {
            folder = try ScratchFolder("apple")
            device.reset()
        }

        private var settings: VaultSettings {
            var settings = VaultSettings.costsForTests()
            settings.shareStores = { _ in ShareStores([KeychainShares()], floors: []) }
            settings.armsOwner = true
            return settings
        }

        /// A vault whose rules take the owner, unlocked once with its passcode and locked again.
        private func vault(selfDestruct: Bool = false) throws -> Vault {
            _ = try Vault.create(at: folder.path, passcode: secret("right"), settings: settings)
            let vault = try Vault(at: folder.path, settings: settings)
            try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { policy in
                policy.usesBiometrics = true
                policy.fallback = .convenient
            }
            if selfDestruct {
                _ = try vault.changeSelfDestruct(
                    to: true, passcode: secret("right"), spending: vault.burnAttempt(), approve: {})
            }
            try open(vault)
            vault.lock()
            return vault
        }

        private func open(_ vault: Vault) throws {
            try vault.unlock(passcode: secret("right"), spending: vault.burnAttempt())
            if let enrollment = OwnerAuthenticator.standard.enrollment(of: .biometrics) {
                vault.ownerKeeper.note(enrollment)
            }
        }

        private func ask(_ vault: Vault, _ step: OwnerStep, between: () -> Void = {}) throws -> Came {
            switch OwnerAuthenticator.standard.confirm(step, keeper: vault.ownerKeeper, SilentOwner()) {
            case .released(let release):
                between()
                try vault.unlock(release)
                return .released
            case let other: return Came(other)
            }
        }

        @Test(arguments: OwnerStep.allCases)
        func aConfirmedOwnerOpensTheVaultAndNothingElseDoes(_ step: OwnerStep) throws {
            let vault = try vault()
            defer { try? FileManager.default.removeItem(atPath: folder.path + "-app") }
            for failure in [-1, -2, -4, -8, -999] {
                device.with { $0.answers = [.failure(failure)] }
                #expect(try ask(vault, step) != .released)
                #expect(!vault.isUnlocked)
            }
            device.with { $0.answers = [.success] }
            #expect(try ask(vault, step) == .released)
            #expect(vault.isUnlocked)
            #expect(device.with(\.liveContexts) == 0)
        }

        @Test func aFaceThatWasAddedNeedsThePasscodeAgain() throws {
            let vault = try vault()
            defer { try? FileManager.default.removeItem(atPath: folder.path + "-app") }
            device.with {
                $0.answers = [.success]
                $0.enrollment = Data("with another face".utf8)
            }
            #expect(try ask(vault, .biometrics) == .expired(.enrollmentChanged))
            try open(vault)
            vault.lock()
            #expect(try ask(vault, .biometrics) == .released)
        }

        @Test func aShareThatTheSystemGaveUpIsNoAttack() throws {
            let vault = try vault()
            defer { try? FileManager.default.removeItem(atPath: folder.path + "-app") }
            device.with { $0.answers = [.success] }
            let error = #expect(throws: VaultError.self) {
                _ = try ask(vault, .biometrics) { device.withItems { items, _ in items = [] } }
            }
            #expect(error?.code == .passcodeNeeded)
            #expect(try vault.status().refusedAttempts == 0)
        }

        @Test(arguments: [Int32(-25293), -25308, -128, -25291, -34018])
        func whatTheKeychainSaysIsNeverCountedAndEndsNothing(_ status: Int32) throws {
            let vault = try vault(selfDestruct: true)
            defer { try? FileManager.default.removeItem(atPath: folder.path + "-app") }
            device.with { $0.answers = [.success, .success] }
            let error = #expect(throws: VaultError.self) {
                _ = try ask(vault, .biometrics) { device.with { $0.failures["SecItemCopyMatching"] = [status] } }
            }
            #expect(error?.code == .hardwareUnavailable)
            #expect(try vault.status().refusedAttempts == 0)
            #expect(try ask(vault, .biometrics) == .released, "the next time it does")
        }

        @Test func lockingEndsNothingOfTheOwnersWayAndAWipeTakesTheShare() throws {
            let vault = try vault()
            defer { try? FileManager.default.removeItem(atPath: folder.path + "-app") }
            #expect(device.withItems { items, _ in items.count } == 1)
            _ = try vault.wipe(passcode: secret("right"), spending: vault.burnAttempt()) { _ throws(VaultError) in }
            #expect(device.withItems { items, _ in items.isEmpty }, "the keychain still has a share")
        }
    }
}
