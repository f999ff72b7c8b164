package import BetterAuth
internal import BetterAuthMessages
internal import Cryptography
package import Holdfast
public import Observation
@_exported public import QRCodes

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
    public internal(set) var facts = IdentityFacts.none
    /// The action that is under way.
    public internal(set) var running: IdentityAction?
    /// How the last one ended.
    public var outcome: Outcome?
    /// What became known on the way; a face clears it when it was shown.
    public var news: [IdentityNews] = []
    /// Whether the device's owner is asked for what needs a proof, because the vault has no passcode.
    public private(set) var confirmsOwner = false
    /// What the system says and asks while it looks for its owner.
    public let dialog = OwnerDialog()
    /// The action that a new phrase was made for; its owner is being shown the words.
    public internal(set) var prepared: IdentityAction?
    /// What another device of the account needs to let this one join, as text for copying and for a QR code.
    public internal(set) var container: String?
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
    public func load() async {
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
    public var containerCode: QRMatrix? { container.flatMap { QRMatrix(of: $0) } }
    #endif

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

    /// The user cancelled: the new phrase is worth nothing.
    public func giveUp() {
        guard running == nil else { return }
        phrase = nil
        prepared = nil
    }

    /// Forgets what is shown.
    public func drop() {
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
