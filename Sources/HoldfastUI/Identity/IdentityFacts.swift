internal import BetterAuth
internal import BetterAuthMessages

/// What is known of this device's identity without asking the server.
public struct IdentityFacts: Sendable, Hashable {
    /// How far it is.
    public enum State: Sendable, Hashable, CaseIterable {
        /// No account.
        case ready
        /// An account is being made or recovered, and no server has confirmed it.
        case unconfirmed
        /// This device waits for one of the account's devices to link it.
        case linking
        /// An account, without a session.
        case created
        /// An account and a session.
        case authenticated
    }

    /// How far it is.
    public let state: State
    /// Names the account for ever; to be copied with a tap.
    public let identity: String?
    /// Names this device for ever.
    public let device: String?
    /// The server that was asked last.
    public let server: String?
    /// Milliseconds since 1970 until which the session can be refreshed; for display, the server decides.
    public let sessionEnds: Int64?

    static let none = IdentityFacts(Credentials())

    init(_ credentials: Credentials) {
        state =
            switch credentials.state {
            case .ready: .ready
            case .unconfirmed: .unconfirmed
            case .linking: .linking
            case .created: .created
            case .authenticated: .authenticated
            }
        identity = credentials.account.map { $0.identity.description }
        device = credentials.account.map { $0.device.description }
        server = credentials.server
        sessionEnds = credentials.session.map { $0.refreshExpiry.milliseconds }
    }
}

/// What its owner asks of an identity.
public enum IdentityAction: Sendable, Hashable {
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
    /// Replace the recovery phrase.
    case changeRecovery
    /// Delete the account, for all its devices.
    case delete
    /// Forget it on this device; the server keeps it.
    case erase
}

/// Why something did not happen to an identity, as a value that each face puts into its own words.
public enum IdentityProblem: Sendable, Hashable {
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
    /// The recovery phrase is not one, or not this identity's.
    case wrongPhrase
    /// The address is not one, or not safe.
    case invalidAddress
    /// The vault is locked.
    case locked
    /// Another action is under way.
    case busy
    /// Something else; the reason in English, for support.
    case other(reason: String)

    init(_ error: IdentityError) {
        self =
            switch error.code {
            case .noAccount: .noAccount
            case .accountExists: .accountExists
            case .noSession: .noSession
            case .refused: .refused
            case .unreachable: .unreachable
            case .invalidReply, .unknownServerKey: .untrusted
            case .undecided, .chainUnknown: .undecided
            case .invalidContainer: .invalidContainer
            case .wrongPhrase: .wrongPhrase
            case .invalidAddress: .invalidAddress
            case .locked: .locked
            default: .other(reason: error.reason)
            }
    }
}
