import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

/// The flows of the five documents that this library was made after, each from a first start on an empty device.
@MainActor @Suite(.patient) struct SourceDocumentTests {
    let device: Device

    init() throws { device = try Device() }

    @Test func `UIKit app lock with biometrics and passcode`() async throws {
        let models = try await device.models()
        #expect(!models.settings.showsLockOn, "off until its user turns it on")
        try await device.turnLockOn(models)
        #expect(models.settings.showsLockOn && models.lock.isEnabled && models.lock.state == .unlocked)

        // Cold launch: the face is asked for by itself, then the device's passcode by itself, and a cancel is left
        // alone.
        device.finger.plays(.noMatch)
        device.code.plays()
        let cold = try await device.models()
        await until { device.code.prompts == 1 && cold.lock.owner.problem != nil && !cold.lock.owner.isUnlocking }
        #expect(device.finger.prompts == 2 && cold.lock.isLocked && cold.cover.shown == .lockScreen)
        #expect(!cold.lock.takesSecret && cold.lock.owner.opensByLevel, "a button, and nothing to type")
        device.finger.plays(.match)
        await cold.lock.owner.unlock()
        #expect(cold.lock.state == .unlocked && device.finger.prompts == 3)

        // The background locks, and coming back asks once more by itself.
        device.finger.plays(.match)
        await cold.lock.leaveAndReturn()
        await until { cold.lock.state == .unlocked }
        #expect(device.finger.prompts == 4)

        // Off: confirmed, or it stays on.
        await cold.load()
        cold.settings.request(.lock(false))
        await cold.settings.confirm()
        #expect(cold.settings.showsLockOn && cold.settings.failure?.problem == .notRecognised)
        await device.settled(cold)
        device.finger.plays(.match)
        cold.settings.request(.lock(false))
        await cold.settings.confirm()
        #expect(!cold.settings.showsLockOn && cold.settings.failure == nil)
        await device.settled(cold)
        let off = try await device.models()
        #expect(off.lock.state == .unlocked && device.finger.prompts == 6, "and nobody was asked at this start")
    }

    @Test func `Face ID lock in SwiftUI: refused, the toggle goes back`() async throws {
        device.finger.set(.notEnrolled("nothing is enrolled"))
        device.code.set(.notEnrolled("the device has no passcode"))
        let models = try await device.models()
        await models.settings.look()
        #expect(models.settings.lockObstacle == .notEnrolled, "the toggle is disabled, and says why")
        device.finger.set(.available)
        device.code.set(.available)
        await models.settings.look()
        #expect(models.settings.lockObstacle == nil)
        let before = try Data(contentsOf: URL(fileURLWithPath: device.path + "/header"))
        models.settings.request(.lock(true))
        #expect(models.settings.showsLockOn && models.settings.needed == .confirmation)
        await models.settings.confirm()
        #expect(!models.settings.showsLockOn && models.settings.wanted == nil)
        #expect(models.settings.failure?.problem == .notRecognised, "the alert")
        #expect(try Data(contentsOf: URL(fileURLWithPath: device.path + "/header")) == before, "no byte was changed")
        #expect(try await device.models().lock.state == .unlocked)
    }

    @Test func `auto-destruct after five failed biometric prompts, with a warning before`() async throws {
        let models = try await device.models()
        #expect(!models.selfDestruct.isPossible, "there is nothing to guess yet")
        try await device.turnLockOn(models)
        await models.load()
        let cache = Cache()
        device.wipeTargets = [cache]
        device.finger.plays(.match)
        let app = try await device.models()
        // The app asks by itself at its start.
        await until { app.lock.state == .unlocked }
        await app.load()
        let change = app.selfDestruct
        #expect(change.isPossible && change.confirmsOwner && !change.isOn)
        change.request(.enable)
        device.finger.plays(.match)
        await change.authenticate()
        #expect(change.step == .confirming(.enable))
        await change.confirm()
        device.scratch.clock.advance(seconds: 30)
        change.tick()
        await change.finish()
        #expect(!change.isOn && change.step == .authenticatingAgain(.enable), "the second proof is one of its own")
        device.finger.plays(.match)
        await change.finish()
        #expect(change.isOn && change.outcome == .done(.enable) && change.receiptKey != nil)

        let prompts = device.finger.prompts
        let appModel = await device.start()
        guard case .ready(let cold) = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        #expect(cold.lock.consequence == .destroys && cold.lock.remainingAttempts == 5, "warned before the first")
        for attempt in 1...5 {
            device.finger.plays(.noMatch)
            device.code.plays(.timeOver)
            if attempt == 1 { await cold.lock.handle(.didBecomeActive) } else { await cold.lock.owner.unlock() }
            await until { device.finger.prompts == prompts + attempt && !cold.lock.owner.isUnlocking }
            if attempt < 5 { #expect(cold.lock.remainingAttempts == 5 - attempt && cold.lock.state != .destroyed) }
        }
        await until { cold.lock.state == .destroyed }
        await until { if case .destroyed = appModel.phase { true } else { false } }
        #expect(cache.isGone && !FileManager.default.fileExists(atPath: device.path + "/header"))
        guard case .destroyed(let receipt) = await device.start().phase else {
            return #expect(Bool(false), "and stays so")
        }
        #expect(FileManager.default.fileExists(atPath: receipt))
    }

    @Test func `the Better Auth app's client, without any ceremony of a vault`() async throws {
        let near = try NearServer()
        func client() async throws -> IdentityModel {
            let models = try await device.models()
            let identity = near.model(models.lock)
            await identity.load()
            return identity
        }
        let identity = try await client()
        #expect(identity.facts.state == .ready && identity.confirmsOwner)
        identity.prepare(.create)
        #expect(identity.withPhrase(text)?.split(separator: " ").count == 24)
        await identity.create(at: IdentityModelTests.address)
        #expect(identity.outcome?.problem == nil && identity.facts.state == .created)
        await identity.openSession()
        #expect(identity.facts.state == .authenticated)

        let next = try await client()
        #expect(next.facts.state == .authenticated && next.facts.identity == identity.facts.identity)
        await next.rotate()
        await next.endSession()
        #expect(next.outcome?.problem == nil && next.facts.state == .created)
        #expect(device.finger.prompts == 0 && device.code.prompts == 0, "nobody was asked for any of it")

        // What cannot be taken back wants its owner, whatever is open.
        await next.delete()
        #expect(next.outcome?.problem == .proof(.notRecognised) && next.facts.state == .created)
        device.finger.plays(.match)
        await next.delete()
        #expect(next.outcome?.problem == nil && next.facts.state == .ready)
    }

    @Test func `secure storage fallback: biometrics, the device's passcode, the lesser store, one cached key`()
        async throws
    {
        let models = try await device.models()
        let vault = models.lock.app.vault
        try vault.put(try secret("protected"), for: "token")
        try await device.turnLockOn(models)
        device.finger.plays(.match)
        let lock = models.lock.app.lock
        try await lock.changePolicy(proving: lock.prove()) { policy throws(VaultError) in
            let lesser = FallbackPolicy.Rule(
                .openCompartment, assurance: .none,
                when: [.unavailable, .notEnrolled, .systemLockout, .hardwareBusy, .failed, .expired])
            do throws(FallbackPolicyError) {
                policy.fallback = try FallbackPolicy(policy.fallback.rules + [lesser])
            } catch {
                throw VaultError(.invalidPolicy, "\(error)")
            }
        }

        // Biometrics fail, the device's passcode opens; then the key is there, and nothing more is asked.
        device.finger.plays(.noMatch)
        device.code.plays(.match)
        let cold = try await device.models()
        await until { cold.lock.state == .unlocked }
        let (fingers, codes) = (device.finger.prompts, device.code.prompts)
        #expect(codes == 1 && !cold.lock.owner.allowsOpenCompartment)
        for _ in 0..<3 {
            #expect(try cold.lock.app.vault.withValue(for: "token") { text($0) } == "protected")
        }
        #expect(device.finger.prompts == fingers && device.code.prompts == codes)

        // Neither can be asked: the lesser store is there, and says so; the protected one stays locked.
        device.finger.set(.notEnrolled("no finger"))
        device.code.set(.missing("no passcode"))
        let poor = try await device.models()
        await until { poor.lock.owner.allowsOpenCompartment }
        #expect(poor.lock.isLocked && poor.lock.owner.problem == .ownerUnavailable(.notEnrolled))
        let lesser = poor.lock.app.vault.open
        try lesser.put(try secret("draft"), for: "note")
        #expect(try lesser.withValue(for: "note") { text($0) } == "draft")
        #expect(throws: VaultError.self) { try poor.lock.app.vault.withValue(for: "token") { text($0) } }

        // A cancel is a refusal and leads nowhere.
        device.finger.set(.available)
        device.code.set(.available)
        device.finger.plays(.holds)
        let refused = try await device.models()
        await until { refused.lock.owner.dialog.step == .biometrics }
        refused.lock.owner.turnAway()
        await until { !refused.lock.owner.isUnlocking }
        #expect(refused.lock.isLocked && !refused.lock.owner.allowsOpenCompartment && device.code.prompts == codes)

        // What was kept meanwhile waits for its owner in the vault.
        device.finger.plays(.match)
        await refused.lock.owner.unlock()
        #expect(try refused.lock.app.vault.inbox().map(\.originalName) == ["note"])
    }
}
