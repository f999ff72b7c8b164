package import BetterAuth
internal import BetterAuthMessages
internal import BetterAuthTransport
internal import Cryptography
package import Holdfast
public import Observation
@_exported public import QRCodes
internal import SystemCalls

/// The identity in its states, with every action of its client. What it shows is dropped when the lock falls.
///
/// A new recovery phrase is shown before anything is sent: ``prepareAccount()`` makes one, ``withPhrase(_:)`` lends it,
/// and the action that follows uses it up.
@MainActor @Observable
public final class IdentityModel {
    /// How the last action ended; a user interface clears it when it was shown.
    package struct Outcome: Sendable, Hashable {
        /// What was asked for.
        package let action: IdentityAction
        /// Why it did not happen; nil when it did.
        package let problem: IdentityProblem?
    }

    /// What is known without asking the server.
    public internal(set) var facts = IdentityFacts.none
    /// Whether an action is under way.
    public var isBusy: Bool { running != nil }
    /// Whether the phrase of a new account is there to be written down.
    public var isAccountPrepared: Bool { prepared == .create }
    /// The action that is under way.
    package internal(set) var running: IdentityAction?
    /// How the last one ended.
    package var outcome: Outcome?
    /// What became known on the way; a user interface clears it when it was shown.
    package var news: [IdentityNews] = []
    /// Whether the device's owner is asked for what needs a proof, because the vault has no passcode.
    package private(set) var confirmsOwner = false
    /// What the system says and asks while it looks for its owner.
    package let dialog = OwnerDialog()
    /// The action that a new phrase was made for; its owner is being shown the words.
    package internal(set) var prepared: IdentityAction?
    /// What another device of the account needs to let this one join, as text for copying and for a QR code.
    package internal(set) var container: String?
    /// What an app server answered last: JSON whose signature was verified.
    public internal(set) var answer: String?

    @ObservationIgnored let lock: LockModel
    @ObservationIgnored let connect: Connect
    @ObservationIgnored let derivation: RecoveryDerivation
    @ObservationIgnored var phrase: IdentityPhrase?
    @ObservationIgnored private var loads = 0
    /// Locks so far: what was begun before the last one shows nothing any more.
    @ObservationIgnored var drops = 0

    package typealias Notify = @Sendable (IdentityNotice) -> Void
    package typealias Connect = @Sendable (Vault, ServerAddress, @escaping Notify) -> VaultIdentity

    /// - Parameters:
    ///   - derivation: How recovery keys follow from phrases; tests name lower costs.
    ///   - connect: Makes the client of a server, which tells its notices.
    package init(_ lock: LockModel, derivation: RecoveryDerivation = .standard, connect: @escaping Connect) {
        self.lock = lock
        self.derivation = derivation
        self.connect = connect
        lock.onLock { [weak self] in self?.drop() }
    }

    /// Reads what is stored.
    package func load() async {
        loads += 1
        let mine = loads
        let read = await IdentityModel.read(lock.app.vault)
        guard mine == loads, !lock.isLocked else { return }
        confirmsOwner = !lock.hasPasscode
        if let read {
            facts = read
            if read.state != .linking { container = nil }
        }
    }

    #if !canImport(Security)
    /// ``container`` as a QR code; nil where there is none, or no library that draws it.
    package var containerCode: QRMatrix? { container.flatMap { QRMatrix(of: $0) } }
    #endif

    /// Makes a new recovery phrase for an action that needs one: create, recover, change the phrase.
    package func prepare(_ action: IdentityAction) {
        guard running == nil, [.create, .recover, .changeRecovery].contains(action), !lock.isLocked else { return }
        outcome = nil
        phrase = try? IdentityPhrase.generate()
        prepared = action
    }

    /// Makes the recovery phrase of a new account; ``withPhrase(_:)`` lends it, and ``create(at:)`` uses it up.
    public func prepareAccount() { prepare(.create) }

    /// Lends the words of the new phrase while it is prepared; nil otherwise.
    public func withPhrase<R>(_ body: (RawSpan) -> R) -> R? {
        switch phrase {
        case .none: nil
        case .some(let phrase): phrase.withText { body($0) }
        }
    }

    /// The user cancelled: the new phrase is worth nothing.
    package func giveUp() {
        guard running == nil else { return }
        phrase = nil
        prepared = nil
    }

    /// Forgets what is shown.
    package func drop() {
        loads += 1
        drops += 1
        dialog.cancel()
        facts = .none
        container = nil
        answer = nil
        outcome = nil
        news = []
        if running == nil {
            phrase = nil
            prepared = nil
        }
    }

    @concurrent
    private nonisolated static func read(_ vault: Vault) async -> IdentityFacts? {
        (try? VaultIdentity.credentials(in: vault)).map(IdentityFacts.init)
    }
}

extension IdentityModel {
    /// Over HTTPS, as the command does it: a server's response key is believed at first use and then only that one, or
    /// the chain of keys that was named once.
    convenience init(_ lock: LockModel) {
        self.init(lock) { vault, server, notify in
            let transport = SystemTransport()
            var trust = ResponseTrust.firstUse
            if let chain = (try? VaultIdentity.credentials(in: vault))?.keyChain,
                let service = try? ServerAddress(chain.service, allowsPlain: true)
            {
                trust = .source(
                    EndorsedServerKeys(trusting: chain.identity, from: HTTPKeyService(at: service, over: transport)))
            }
            return VaultIdentity(
                in: vault, keys: ChipDeviceKeys.standard(for: vault), transport: transport, server: server,
                trust: trust, now: { .now }, notify: notify)
        }
    }
}
