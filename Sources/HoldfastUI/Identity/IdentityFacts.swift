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
    package let device: String?
    /// The server that was asked last.
    package let server: String?
    /// The key of that server which is believed because it was the first one seen there; to be compared with what its
    /// owner publishes.
    package let firstKey: String?
    /// Milliseconds since 1970 until which the session can be refreshed; for display, the server decides.
    package let sessionEnds: Int64?
    /// Whether something was sent that no server has answered yet; ``IdentityModel/settle()`` finds out.
    package let isUndecided: Bool

    /// What a drill asks for; nil where this device never saw the recovery phrase.
    package let drill: Drill?

    /// The next proof that the user still has the recovery phrase.
    package struct Drill: Sendable, Hashable {
        /// The places of the words that are asked for, counted from 1, in order; empty for the whole phrase.
        package let positions: [Int]
        /// Milliseconds since 1970 from which on it is due; nil where that is not known.
        package let due: Int64?
        /// Whether it is due now.
        package let isDue: Bool
    }

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
        let account = credentials.account ?? credentials.staged?.account
        identity = account.map { $0.identity.description }
        device = account.map { $0.device.description }
        server = credentials.server
        firstKey = credentials.firstKeys.first { $0.server == credentials.server }?.key.description
        sessionEnds = credentials.session.map { $0.refreshExpiry.milliseconds }
        drill = Drill(credentials)
        isUndecided = credentials.pending != nil || credentials.state == .unconfirmed
    }
}

extension IdentityFacts.Drill {
    init?(_ credentials: Credentials) {
        guard let account = credentials.account, !account.recoveryHashes.isEmpty else { return nil }
        positions = credentials.drills.spot?.positions.map { Int($0) } ?? []
        due = credentials.drills.due?.milliseconds
        isDue = credentials.drills.isDue(.now)
    }
}
