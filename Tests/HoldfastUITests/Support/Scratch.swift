import Foundation
import Holdfast
import HoldfastUI
import KeyStores
import Synchronization
import TestSupport
import Testing

/// A real vault in a folder that goes with the test.
@MainActor
final class Scratch {
    private let folder: ScratchFolder
    var path: String { folder["home"] }
    let clock = TestClock()
    /// Who asks the system for its owner.
    var authenticator = OwnerAuthenticator.standard
    /// The security chip, where a test has one.
    var tier: (any AttemptTier)?
    var settings: VaultSettings {
        var settings = VaultSettings.costsForTests(clock: clock)
        settings.shareStores = { .files(in: $0 + "/shares") }
        settings.armsOwner = true
        settings.tier = tier
        return settings
    }

    init() throws { folder = try ScratchFolder("face") }

    /// Makes the vault and gives its phrase back as text.
    @discardableResult
    func create() throws -> String {
        let right = try secret("right")
        let phrase = try Vault.create(at: path, passcode: right, settings: settings)
        return phrase.withText { text in String(decoding: bytes(text), as: UTF8.self) }
    }

    func app(isLockEnabled: Bool = true) throws -> HoldfastApp {
        try HoldfastApp(
            vault: Vault(at: path, settings: settings), isLockEnabled: isLockEnabled ? true : nil,
            authenticator: authenticator)
    }

    /// The models over a vault whose lock is on, as they are after the app was started.
    func models(isLockEnabled: Bool = true, identity: NearServer? = nil) async throws -> ReadyModels {
        try create()
        let opened = try app(isLockEnabled: isLockEnabled)
        let models =
            identity.map { near in ReadyModels(opened, interface: "test") { near.model($0) } }
            ?? ReadyModels(opened, interface: "test")
        await models.lock.handle(.launch)
        await models.lock.handle(.didBecomeActive)
        return models
    }

    /// As ``models(isLockEnabled:identity:)``, opened.
    func open(isLockEnabled: Bool = true, identity: NearServer? = nil) async throws -> ReadyModels {
        let models = try await models(isLockEnabled: isLockEnabled, identity: identity)
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        return models
    }

    func file(_ name: String, _ content: Data) throws -> String {
        let path = folder[name]
        try content.write(to: URL(fileURLWithPath: path))
        return path
    }
}

func bytes(_ span: RawSpan) -> [UInt8] { unsafe span.withUnsafeBytes { unsafe Array($0) } }

func text(_ span: RawSpan) -> String { String(decoding: bytes(span), as: UTF8.self) }
