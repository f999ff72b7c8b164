internal import BetterAuth
internal import Holdfast

/// What its owner asks of an identity.
package enum IdentityAction: Sendable, Hashable, CaseIterable {
    /// Make an account with this device as its first.
    case create
    /// Take the account back with its recovery phrase; all other devices are let go.
    case recover
    /// Make what another device of the account needs to let this one join.
    case makeContainer
    /// Let another device join.
    case link
    /// Take a device out.
    case unlink
    /// Bring the device's next key into use.
    case rotate
    /// Open a session.
    case openSession
    /// Refresh it.
    case refreshSession
    /// End it.
    case endSession
    /// Ask an app server for something, in the session.
    case request
    /// Find out the outcome of what no server has answered.
    case settle
    /// Replace the recovery phrase.
    case changeRecovery
    /// Prove that its owner still has the recovery phrase. Nothing is sent.
    case drill
    /// Delete the account, for all its devices.
    case delete
    /// Forget it on this device; the server keeps it.
    case erase
}

/// Why something did not happen to an identity, as a value that each user interface puts into its own words.
package enum IdentityProblem: Sendable, Hashable {
    /// This device has no account.
    case noAccount
    /// It has one already.
    case accountExists
    /// There is no session.
    case noSession
    /// The server said no.
    case refused
    /// The server cannot be reached.
    case unreachable
    /// The answer is not the server's, or not signed by a key that is known.
    case untrusted
    /// Whether the server did it is not known yet; the next operation finds out.
    case undecided
    /// The text is no link container, or one of another identity.
    case invalidContainer
    /// The text names no identity.
    case invalidIdentity
    /// The text names no device.
    case invalidDevice
    /// The path is none, or the JSON is not compact JSON.
    case invalidRequest
    /// The recovery phrase is not one, or not this identity's.
    case wrongPhrase
    /// The words are not what stands on the identity's sheet: the moment to look for it, or to replace the phrase.
    case drillFailed
    /// It is the recovery phrase of the vault; the identity has one of its own.
    case vaultPhrase
    /// The address is not one, or not safe.
    case invalidAddress
    /// The vault is locked.
    case locked
    /// Another action is under way.
    case busy
    /// Why the passcode for the proof was not accepted. Nothing was sent.
    case proof(VaultProblem)
    /// The proof was too old when it was needed. Nothing was sent.
    case proofExpired
    /// The identity is kept at another server. Nothing was sent.
    case otherServer
    /// A key of the identity is in a chip that does not answer now.
    case keyUnavailable
    /// Nothing authorises this device's keys any more; the recovery phrase takes the identity back.
    case keysLost
    /// What is stored of the identity is not what was written.
    case damaged
    /// Stored by a newer version.
    case newerVersion
    /// No memory that is kept out of swap is left.
    case outOfMemory
    /// Something else; the reason in English, for support.
    case other(reason: String)

    init(_ error: IdentityError) {
        guard let code = error.code.kind else {
            self = .other(reason: error.reason)
            return
        }
        // One problem for each code: a code that is missing here does not compile.
        self =
            switch code {
            case .noAccount: .noAccount
            case .accountExists: .accountExists
            case .noSession: .noSession
            case .refused: .refused
            case .unreachable: .unreachable
            case .invalidReply, .notTheServer, .unknownServerKey: .untrusted
            case .undecided, .chainUnknown: .undecided
            case .invalidContainer: .invalidContainer
            case .wrongPhrase: .wrongPhrase
            case .invalidAddress: .invalidAddress
            case .locked: .locked
            case .proofExpired: .proofExpired
            case .otherServer: .otherServer
            case .keyUnavailable: .keyUnavailable
            case .keysLost: .keysLost
            case .damaged: .damaged
            case .newerVersion: .newerVersion
            case .outOfMemory: .outOfMemory
            case .invalidData: .invalidRequest
            case .storage, .tooLarge, .cryptography, .unexpected: .other(reason: error.reason)
            }
    }
}

/// What became known on the way of an action.
package enum IdentityNews: Sendable, Hashable {
    /// A server's key is believed because it is the first one seen there: compare it with what its owner publishes.
    case trustedFirstKey(key: String, server: String)
    /// Something that was sent earlier has come to hold.
    case settled
    /// Something that was sent earlier will not happen.
    case abandoned

    init?(_ notice: IdentityNotice) {
        switch notice {
        case .trustedFirstKey(let key, let server):
            self = .trustedFirstKey(key: "\(key)", server: "\(server)")
        case .settled, .settledOneOf: self = .settled
        case .abandoned: self = .abandoned
        case .confirmed: return nil
        }
    }
}
