package import BetterAuth
internal import BetterAuthMessages
internal import Cryptography
public import Holdfast
public import Observation

/// The identity in its states, with every action of its client. What it shows is dropped when the lock falls.
///
/// A new recovery phrase is shown before anything is sent: ``prepare(_:)`` makes one, ``withPhrase(_:)`` lends it, and the
/// action that follows uses it up.
@MainActor @Observable
public final class IdentityModel {
    /// How the last action ended; a face clears it when it was shown.
    public struct Outcome: Sendable, Hashable {
        /// What was asked for.
        public let action: IdentityAction
        /// Why it did not happen; nil when it did.
        public let problem: IdentityProblem?
    }

    /// What is known without asking the server.
    public private(set) var facts = IdentityFacts.none
    /// The action that is under way.
    public private(set) var running: IdentityAction?
    /// How the last one ended.
    public var outcome: Outcome?
    /// The action that a new phrase was made for; its owner is being shown the words.
    public private(set) var prepared: IdentityAction?
    /// What another device of the account needs to let this one join, as text for copying and for a QR code.
    public private(set) var container: String?

    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private let store: any CredentialStore
    @ObservationIgnored private let connect: Connect
    @ObservationIgnored private var phrase: IdentityPhrase?
    @ObservationIgnored private var loads = 0

    package typealias Connect = @Sendable (any CredentialStore, ServerAddress) -> BetterAuthClient

    /// - Parameter connect: Makes the client of a server.
    package init(_ lock: LockModel, connect: @escaping Connect) {
        self.lock = lock
        self.connect = connect
        store = VaultCredentials(in: lock.app.vault)
        lock.onLock { [weak self] in self?.drop() }
    }

    /// Reads what is stored.
    public func load() async {
        loads += 1
        let mine = loads
        let read = await IdentityModel.read(store)
        guard mine == loads, !lock.isLocked else { return }
        if let read { facts = read }
    }

    /// Makes a new recovery phrase for an action that needs one: create, recover, change the phrase.
    public func prepare(_ action: IdentityAction) {
        guard running == nil, [.create, .recover, .changeRecovery].contains(action), !lock.isLocked else { return }
        outcome = nil
        phrase = try? IdentityPhrase.generate()
        prepared = action
    }

    /// Lends the words of the new phrase while it is prepared; nil otherwise.
    public func withPhrase<R>(_ body: (RawSpan) -> R) -> R? {
        switch phrase {
        case .none: nil
        case .some(let phrase): phrase.withText { body($0) }
        }
    }

    /// The owner turned away: the new phrase is worth nothing.
    public func giveUp() {
        guard running == nil else { return }
        phrase = nil
        prepared = nil
    }

    /// Makes an account whose phrase was shown, at the server of this address.
    public func create(at server: String) async {
        await spend(.create, server) { client, hash throws(IdentityError) in
            _ = try await client.createAccount(recovery: hash)
        }
    }

    /// Replaces the recovery phrase by the one that was shown.
    public func changeRecovery() async {
        await spend(.changeRecovery, nil) { client, hash throws(IdentityError) in
            try await client.changeRecovery(to: hash)
        }
    }

    /// Takes an account back with the phrase that counted so far; the one that was shown counts from then on.
    public func recover(_ identity: String, at server: String, phrase old: consuming SecretBytes) async {
        guard let identity = IdentityID(identity) else { return end(.recover, .other(reason: "this is no identity")) }
        let key: SoftwareSigningKey
        do { key = try await IdentityModel.key(of: old) } catch { return end(.recover, .wrongPhrase) }
        await spend(.recover, server) { client, hash throws(IdentityError) in
            _ = try await client.recoverAccount(identity, with: key, successor: hash)
        }
    }

    /// Makes the link container of this device for an account.
    public func makeContainer(for identity: String, at server: String) async {
        guard let identity = IdentityID(identity) else {
            return end(.makeContainer, .other(reason: "this is no identity"))
        }
        await run(.makeContainer, server) { [weak self] client throws(IdentityError) in
            let container = try await client.makeLinkContainer(for: identity)
            await self?.show(container.bytes)
        }
    }

    /// Lets the device join that shows this container.
    public func link(_ container: String) async {
        guard let container = try? LinkContainer(parsing: Array(container.utf8)) else {
            return end(.link, .invalidContainer)
        }
        await run(.link) { client throws(IdentityError) in _ = try await client.link(container) }
    }

    /// Takes a device out of the account; where it is this one, it forgets the account.
    public func unlink(_ device: String) async {
        guard let device = DeviceID(device) else { return end(.unlink, .other(reason: "this is no device")) }
        await run(.unlink) { client throws(IdentityError) in try await client.unlink(device) }
    }

    /// Brings the device's next key into use.
    public func rotate() async {
        await run(.rotate) { client throws(IdentityError) in try await client.rotate() }
    }

    /// Opens a session.
    public func openSession() async {
        await run(.openSession) { client throws(IdentityError) in _ = try await client.openSession() }
    }

    /// Refreshes the session.
    public func refreshSession() async {
        await run(.refreshSession) { client throws(IdentityError) in _ = try await client.refreshSession() }
    }

    /// Ends the session.
    public func endSession() async {
        await run(.endSession) { client throws(IdentityError) in try await client.endSession() }
    }

    /// Deletes the account, for all its devices.
    public func delete() async {
        await run(.delete) { client throws(IdentityError) in try await client.deleteAccount() }
    }

    /// Forgets the account on this device.
    public func erase() async {
        await run(.erase) { client throws(IdentityError) in try await client.erase() }
    }

    /// Forgets what is shown.
    public func drop() {
        loads += 1
        facts = .none
        container = nil
        outcome = nil
        if running == nil {
            phrase = nil
            prepared = nil
        }
    }
}

extension IdentityModel {
    private func show(_ container: [UInt8]) {
        if !lock.isLocked { self.container = String(decoding: container, as: UTF8.self) }
    }

    private func end(_ action: IdentityAction, _ problem: IdentityProblem?) {
        running = nil
        outcome = Outcome(action: action, problem: problem)
    }

    /// Runs an action with the phrase that was shown for it. Kept until the server has it: what failed is tried again
    /// with the same words.
    private func spend(
        _ action: IdentityAction, _ server: String?,
        _ body: @escaping @Sendable (BetterAuthClient, RecoveryHash) async throws(IdentityError) -> Void
    ) async {
        guard prepared == action, running == nil else { return end(action, running == nil ? .wrongPhrase : .busy) }
        let text: SecretBytes?
        switch phrase {
        case .none: text = nil
        case .some(let phrase): text = phrase.withText { try? SecretBytes(copying: $0) }
        }
        guard let hash = await IdentityModel.hash(of: text) else { return end(action, .wrongPhrase) }
        await run(action, server) { client throws(IdentityError) in try await body(client, hash) }
        if outcome?.problem == nil {
            phrase = nil
            prepared = nil
        }
    }

    private func run(
        _ action: IdentityAction, _ server: String? = nil,
        _ body: @escaping @Sendable (BetterAuthClient) async throws(IdentityError) -> Void
    ) async {
        guard running == nil else { return }
        guard !lock.isLocked else { return end(action, .locked) }
        guard let text = server ?? facts.server, let address = try? ServerAddress(text) else {
            return end(action, .invalidAddress)
        }
        running = action
        outcome = nil
        let problem = await IdentityModel.perform(connect(store, address), body)
        await load()
        end(action, problem)
    }

    @concurrent
    private nonisolated static func perform(
        _ client: BetterAuthClient,
        _ body: @Sendable (BetterAuthClient) async throws(IdentityError) -> Void
    ) async -> IdentityProblem? {
        do throws(IdentityError) {
            try await body(client)
            return nil
        } catch { return IdentityProblem(error) }
    }

    @concurrent
    private nonisolated static func read(_ store: any CredentialStore) async -> IdentityFacts? {
        (try? BetterAuthClient.load(store)).map(IdentityFacts.init)
    }

    /// Derives a phrase's key: a second and more.
    @concurrent
    private nonisolated static func key(of text: consuming SecretBytes) async throws -> SoftwareSigningKey {
        try IdentityPhrase(parsing: text).recoveryKey()
    }

    @concurrent
    private nonisolated static func hash(of text: consuming SecretBytes?) async -> RecoveryHash? {
        switch text {
        case .none: return nil
        case .some(let text):
            guard let key = try? IdentityPhrase(parsing: text).recoveryKey() else { return nil }
            return Derivations.standard.recoveryHash(of: key.publicKey)
        }
    }
}
