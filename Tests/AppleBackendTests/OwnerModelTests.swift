import AppleScripting
import Holdfast
import HoldfastUI
import KeyStores
import TestSupport
import Testing

extension AppleBackends {
    /// The screens over LocalAuthentication: what the policy decides on Linux is decided here.
    @MainActor @Suite struct OwnerModels {
        let device = ScriptedDevice.current
        init() { device.reset() }

        /// An open vault that takes the face of its owner.
        private func open(_ folder: ScratchFolder) async throws -> ReadyModels {
            var settings = VaultSettings.costsForTests()
            settings.shareStores = { .files(in: $0 + "/shares") }
            settings.armsOwner = true
            _ = try Vault.create(at: folder.path, passcode: secret("right"), settings: settings)
            let app = try HoldfastApp(vault: Vault(at: folder.path, settings: settings), isLockEnabled: true)
            let models = ReadyModels(app, interface: "test")
            await models.lock.handle(.launch)
            await models.lock.handle(.didBecomeActive)
            await models.lock.unlock(.passcode, try secret("right"))
            await models.settings.load()
            await models.settings.look()
            return models
        }

        private func enroll(_ models: ReadyModels, _ step: OwnerStep = .biometrics) async throws {
            models.settings.request(.owner(step, true))
            device.with { $0.answers = [.success] }
            await models.settings.proveOwner()
            #expect(models.settings.needed == .passcode)
            await models.settings.prove(passcode: try secret("right"))
            #expect(models.settings.failure == nil && models.settings.showsOn(step))
        }

        @Test func theSwitchProvesItselfAndTheFaceOpens() async throws {
            let folder = try ScratchFolder("apple")
            let models = try await open(folder)
            #expect(models.settings.canSwitch(.biometrics) && models.settings.canSwitch(.devicePasscode))
            #expect(!models.settings.canSwitchChip, "no TPM here")
            models.settings.request(.owner(.biometrics, true))
            device.with { $0.answers = [.failure(-1)] }
            await models.settings.proveOwner()
            #expect(models.settings.failure?.problem == .notRecognised && !models.settings.showsOn(.biometrics))
            models.settings.request(.owner(.biometrics, true))
            device.with { $0.answers = [.failure(-2)] }
            await models.settings.proveOwner()
            #expect(
                models.settings.failure == nil && !models.settings.showsOn(.biometrics), "turning away is no failure")
            try await enroll(models)
            let prompts = device.with(\.prompts).count
            await models.lock.handle(.didEnterBackground)
            device.with { $0.answers = [.success] }
            await models.lock.handle(.didBecomeActive)
            await until { !models.lock.isLocked }
            #expect(device.with(\.prompts).count == prompts + 1 && device.with(\.liveContexts) == 0)
        }

        @Test func whatOpensNothingIsSaidAsOnLinux() async throws {
            let folder = try ScratchFolder("apple")
            let models = try await open(folder)
            try await enroll(models)
            try await enroll(models, .devicePasscode)
            let owner = models.lock.owner
            await models.lock.play(.forceLock)
            await until { owner.offers == [.biometrics, .devicePasscode] }
            for (code, problem) in [
                (-1, VaultProblem.notRecognised), (-2, nil), (-3, nil), (-4, .ownerUnavailable(.busy)),
                (-6, .ownerUnavailable(.missing)), (-7, .ownerUnavailable(.notEnrolled)),
                (-8, .ownerUnavailable(.lockedOut)), (-999, .ownerUnavailable(.missing)),
            ] as [(Int, VaultProblem?)] {
                device.with { $0.answers = [.failure(code)] }
                await owner.ask(.biometrics)
                #expect(owner.problem == problem, "\(code)")
                #expect(models.lock.isLocked && owner.offers.contains(.biometrics), "\(code)")
            }
            device.with { $0.biometryLockedOut = true }
            await models.lock.unlock(.passcode, try secret("right"))
            #expect(models.lock.state == .unlocked)
            await models.lock.play(.forceLock)
            await until { owner.offers == [.devicePasscode] }
            device.with { $0.answers = [.success] }
            await owner.ask()
            #expect(device.with(\.prompts).last?.policy == ScriptedDevice.passcodeAlone)
            await until { !models.lock.isLocked }
        }

        @Test func anotherFaceEndsTheWayIn() async throws {
            let folder = try ScratchFolder("apple")
            let models = try await open(folder)
            try await enroll(models)
            let owner = models.lock.owner
            await models.lock.play(.forceLock)
            await until { owner.offers.first == .biometrics }
            device.with {
                $0.enrollment = .init("enrollment-2".utf8)
                $0.answers = [.success]
            }
            await owner.ask(.biometrics)
            #expect(
                owner.problem == .passcodeNeeded(.enrollmentChanged) && owner.offers.isEmpty && models.lock.isLocked)
        }
    }
}
