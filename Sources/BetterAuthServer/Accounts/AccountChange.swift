package import BetterAuthMessages

/// An operation on an account whose signatures and derivations have been checked; what is left depends on the account.
package struct AccountChange: Sendable, Hashable {
    /// A device reveals the key it had committed to (protocol.md 5.1).
    package struct Rotation: Sendable, Hashable {
        package let device: DeviceID
        package let publicKey: PublicKeyText
        /// The digest of `publicKey`.
        package let revealed: RotationHash
        package let rotationHash: RotationHash

        package init(
            device: DeviceID, publicKey: PublicKeyText, revealed: RotationHash, rotationHash: RotationHash
        ) {
            self.device = device
            self.publicKey = publicKey
            self.revealed = revealed
            self.rotationHash = rotationHash
        }
    }

    /// What an operator can do to an account.
    package enum Administration: String, Sendable, Hashable, CaseIterable {
        /// Nothing honours its devices until it is unlocked; its sessions end.
        case lock = "lock"
        case unlock = "unlock"
        /// For ever: the identity is burnt, as when its user deletes it.
        case delete = "delete"
    }

    /// What is to happen.
    package enum Kind: Sendable, Hashable {
        case create(Account.Device, RecoveryHash)
        case rotate(Rotation)
        case link(Rotation, Account.Device)
        case unlink(Rotation, DeviceID)
        case changeRecovery(Rotation, RecoveryHash)
        case delete(Rotation)
        /// With the digest of the recovery key that signed, and that of the one after it.
        case recover(Account.Device, revealed: RecoveryHash, next: RecoveryHash)
        /// By the operator, without a key of the account.
        case administer(Administration)
        /// By the operator: ends the sessions of one device, nil for all, which can open new ones.
        /// - Parameter clockWasAhead: Whether what a clock that was ahead has marked is set back to this moment.
        case endSessions(DeviceID?, clockWasAhead: Bool)
    }

    package let identity: IdentityID
    package let kind: Kind
    /// The reply, signed already, that is kept with the change; nil for the operator's, which has none.
    package let reply: CommittedReply?
    package let moment: Timestamp

    package init(identity: IdentityID, kind: Kind, reply: CommittedReply, moment: Timestamp) {
        self.identity = identity
        self.kind = kind
        self.reply = reply
        self.moment = moment
    }

    /// A change by the operator.
    package init(identity: IdentityID, _ administration: Administration, moment: Timestamp) {
        self.identity = identity
        kind = .administer(administration)
        reply = nil
        self.moment = moment
    }

    /// Ends sessions, by the operator.
    package init(identity: IdentityID, endSessionsOf device: DeviceID?, clockWasAhead: Bool = false, moment: Timestamp)
    {
        self.identity = identity
        kind = .endSessions(device, clockWasAhead: clockWasAhead)
        reply = nil
        self.moment = moment
    }
}

/// What an account says to a change.
package enum AccountDecision: Sendable, Hashable {
    /// The account as it is to be from now on, and the devices that stop being honoured.
    case commit(Account, revoked: [DeviceID])
    /// The change was made before, and this was the reply.
    case repeated(CommittedReply)
    case refused(ProtocolError)
}

/// The outcome of a change.
package enum AccountOutcome: Sendable, Hashable {
    case committed
    case repeated(CommittedReply)
    case refused(ProtocolError)
}
