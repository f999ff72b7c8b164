public import BetterAuth
internal import VaultCore
internal import VaultStorage

extension IdentityError.Code {
    /// The proof that the user is present is too old, or belongs to another opening of the vault; nothing was changed. Ask for
    /// the passcode again.
    public static let proofExpired = IdentityError.Code(.proofExpired)
    /// The identity is kept at another server than the one that was named; `VaultIdentity.moveServer(proof:)` changes
    /// that.
    public static let otherServer = IdentityError.Code(.otherServer)
}

extension IdentityError {
    /// What a vault threw.
    package init(_ error: VaultError) {
        switch error.code {
        case .locked, .keysChanged, .assuranceTooLow: self.init(.locked, error.reason)
        case .damaged: self.init(.damaged, error.reason)
        case .proofExpired: self.init(.proofExpired, error.reason)
        case .outOfMemory: self.init(.outOfMemory, error.reason)
        case .unexpected: self.init(.unexpected, error.reason)
        default: self.init(.storage, error.reason)
        }
    }
}
