package import BetterAuthMessages

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

    /// What a device can do next (the three states of the example app, and what comes between them).
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// No account.
        case ready
        /// An account is being created or recovered, and no server has confirmed it.
        case unconfirmed
        /// This device waits for one of the account's devices to link it.
        case linking
        /// An account, without a session.
        case created
        /// An account and a session.
        case authenticated
    }

    package var state: State {
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
package struct Account: Sendable {
    package let identity: IdentityID
    package let device: DeviceID
    package let current: KeyRecord
    package let next: KeyRecord
    /// What the server holds for recovery: more than one only while it is not known which.
    package var recoveryHashes: [RecoveryHash]

    package init(
        identity: IdentityID, device: DeviceID, current: KeyRecord, next: KeyRecord, recoveryHashes: [RecoveryHash]
    ) {
        self.identity = identity
        self.device = device
        self.current = current
        self.next = next
        self.recoveryHashes = recoveryHashes
    }
}

/// An account on its way.
package struct StagedAccount: Sendable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case create = 1
        case recover = 2
        case link = 3
    }

    package let kind: Kind
    package let account: Account
    /// The signed request, to be sent again with the same bytes; the container where the device is being linked.
    package let message: [UInt8]

    package init(kind: Kind, account: Account, message: [UInt8]) {
        self.kind = kind
        self.account = account
        self.message = message
    }
}

/// A rotation that was sent and not answered. All requests reveal the same next key and commit to the same future one,
/// so whichever of them arrives, the chain goes the same way and no two of them can both take effect.
package struct PendingRotation: Sendable {
    package struct Request: Sendable, Hashable {
        package let effect: RotationEffect
        /// To be sent again with the same bytes.
        package let message: [UInt8]

        package init(effect: RotationEffect, message: [UInt8]) {
            self.effect = effect
            self.message = message
        }
    }

    package let future: KeyRecord
    /// The last one was sent last; never empty.
    package var requests: [Request]

    package init(future: KeyRecord, requests: [Request]) {
        self.future = future
        self.requests = requests
    }
}

/// What a request does beside moving the chain.
package enum RotationEffect: Sendable, Hashable {
    case rotate
    case link(DeviceID)
    case unlink(DeviceID)
    /// This very device leaves.
    case leave
    case changeRecovery(RecoveryHash)
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
package struct Session: Sendable {
    package let token: TokenText
    package let current: KeyRecord
    package let next: KeyRecord
    /// What the token says; for display, the server decides.
    package let expiry: Timestamp
    package let refreshExpiry: Timestamp

    package init(
        token: TokenText, current: KeyRecord, next: KeyRecord, expiry: Timestamp, refreshExpiry: Timestamp
    ) {
        self.token = token
        self.current = current
        self.next = next
        self.expiry = expiry
        self.refreshExpiry = refreshExpiry
    }
}
