public import BetterAuthMessages
public import SecretMemory

/// Everything that a device knows of its identity. A value: operations make a new one, and it takes effect when the
/// store has it.
package struct Credentials: Sendable {
    /// The account that a server has agreed to.
    package var account: Account?
    /// An account that no server has agreed to yet. It never takes the place of `account` before one has.
    package var staged: StagedAccount?
    /// What was written down before it was sent (write-ahead), and has not been answered.
    package var pending: PendingRotation?
    package var session: Session?
    /// The response key of each server that was met first, and is trusted since.
    package var firstKeys: [FirstKey] = []
    /// The key chain that vouches for response keys, where the owner named one; then no first key is believed.
    package var keyChain: TrustedKeyChain?
    /// Where the server is, as it was given.
    package var server: String?
    package var drills = DrillState()

    package init() {}

    package typealias State = IdentityState

    package var state: IdentityState {
        if account != nil { return session == nil ? .created : .authenticated }
        return staged.map { $0.kind == .link ? .linking : .unconfirmed } ?? .ready
    }

    /// Every key that is named, so that those which are named no more can be destroyed.
    package var keys: [KeyRecord] {
        var keys: [KeyRecord] = []
        for account in [account, staged?.account] { keys += account.map { [$0.current, $0.next] } ?? [] }
        if let pending { keys.append(pending.future) }
        if let session { keys += [session.current, session.next] }
        return keys
    }
}

/// A response key that was taken on its first appearance.
package struct FirstKey: Sendable, Hashable {
    /// The server's address.
    package let server: String
    package let key: PublicKeyText

    package init(server: String, key: PublicKeyText) {
        self.server = server
        self.key = key
    }
}

/// A key chain that the owner has chosen to trust.
package struct TrustedKeyChain: Sendable, Hashable {
    /// The id of its first event.
    package let identity: DigestText
    /// Where it is published; need not be trusted.
    package let service: String

    package init(identity: DigestText, service: String) {
        self.identity = identity
        self.service = service
    }
}

/// A device of an identity and the two ends of its key chain that the server knows: the key, and the hash of the next.
public struct Account: Sendable {
    /// Names the account for ever.
    public let identity: IdentityID
    /// Names this device in it for ever.
    public let device: DeviceID
    package let current: KeyRecord
    package let next: KeyRecord
    /// More are not remembered; the oldest go.
    package static let mostRecoveryHashes = 32

    /// What the server holds for recovery, the newest last: more than one only while it is not known which.
    package let recoveryHashes: [RecoveryHash]

    package init(
        identity: IdentityID, device: DeviceID, current: KeyRecord, next: KeyRecord, recoveryHashes: [RecoveryHash]
    ) {
        self.identity = identity
        self.device = device
        self.current = current
        self.next = next
        self.recoveryHashes = recoveryHashes.suffix(Account.mostRecoveryHashes)
    }
}

/// An account on its way.
public struct StagedAccount: Sendable {
    /// How it came about.
    public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// It was made.
        case create = 1
        /// It was taken back with the recovery key.
        case recover = 2
        /// Another device of it let this one join.
        case link = 3
    }

    package let kind: Kind
    package let account: Account
    /// The signed request, to be sent again with the same bytes; the container where the device is being linked.
    package let message: [UInt8]
}

/// A rotation that was sent and not answered. All requests reveal the same next key and commit to the same future one,
/// so whichever of them arrives, the chain goes the same way and no two of them can both take effect.
package struct PendingRotation: Sendable {
    package struct Request: Sendable, Hashable {
        package let effect: RotationEffect
        /// To be sent again with the same bytes.
        package let message: [UInt8]
    }

    /// More are not written down: nothing of them gets through.
    package static let mostRequests = 8

    package let future: KeyRecord
    /// The last one was sent last; never empty.
    package var requests: [Request]
}

/// What a request does beside moving the chain.
public enum RotationEffect: Sendable, Hashable {
    /// Nothing.
    case rotate
    /// This device joins the account.
    case link(DeviceID)
    /// This other device leaves it.
    case unlink(DeviceID)
    /// This very device leaves.
    case leave
    /// Another recovery key counts.
    case changeRecovery(RecoveryHash)
    /// The account ends.
    case delete

    /// Where it is posted.
    package var path: String {
        switch self {
        case .rotate: RotateDevice.path
        case .link: LinkDevice.path
        case .unlink, .leave: UnlinkDevice.path
        case .changeRecovery: ChangeRecoveryKey.path
        case .delete: DeleteAccount.path
        }
    }

    /// Nothing of the account is left on this device afterwards.
    package var endsAccount: Bool { self == .leave || self == .delete }
}

/// An open session: its token and the two ends of its own key chain.
public struct Session: Sendable {
    package let token: TokenText
    package let current: KeyRecord
    package let next: KeyRecord
    /// The last moment for requests, as the token says it; for display, the server decides.
    public let expiry: Timestamp
    /// The last moment for a refresh.
    public let refreshExpiry: Timestamp
}

/// Where the credentials rest: one record that is replaced as a whole.
public protocol CredentialStore: Sendable {
    /// The record; nil when there is none.
    /// - Throws: What the store throws; ``IdentityError/Code/locked`` while it is locked.
    func load() throws -> SecretBytes?
    /// Stores the record in place of the one before, durably and as one step: after a crash one of the two is there.
    func save(_ record: borrowing SecretBytes) throws
    /// Removes the record; succeeds if there is none.
    func erase() throws
}
