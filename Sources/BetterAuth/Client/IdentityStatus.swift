public import BetterAuthMessages

/// What a device can do next (the three states of the example app, and what comes between them).
public enum IdentityState: String, Sendable, Hashable, CaseIterable {
    /// No account.
    case ready = "ready"
    /// An account is being created or recovered, and no server has confirmed it.
    case unconfirmed = "unconfirmed"
    /// This device waits for one of the account's devices to link it.
    case linking = "linking"
    /// An account, without a session.
    case created = "created"
    /// An account and a session.
    case authenticated = "authenticated"
}

/// What is known of the identity without asking the server.
public struct IdentityStatus: Sendable, Hashable {
    /// What can be done next.
    public let state: IdentityState
    /// The account, also one that no server has confirmed yet.
    public let identity: IdentityID?
    /// This device in it.
    public let device: DeviceID?
    /// Whether this device's keys are in a chip; sessions have keys of their own, which are not.
    public let isInChip: Bool
    /// The last moment for requests.
    public let sessionExpiry: Timestamp?
    /// The last moment for a refresh.
    public let refreshExpiry: Timestamp?
    /// Whether something was sent and not answered; the next operation finds out its outcome.
    public let isUnfinished: Bool

    init(_ credentials: Credentials) {
        let account = credentials.account ?? credentials.staged?.account
        state = credentials.state
        identity = account?.identity
        device = account?.device
        isInChip = account?.current.place == .chip
        sessionExpiry = credentials.session?.expiry
        refreshExpiry = credentials.session?.refreshExpiry
        isUnfinished = credentials.pending != nil || credentials.staged != nil
    }
}

extension BetterAuthClient {
    /// What is known of the identity, without asking the server.
    /// - Throws: ``IdentityError``: `locked`, `damaged`, `newerVersion`, or what the store throws.
    public func status() async throws(IdentityError) -> IdentityStatus { IdentityStatus(try await credentials()) }

    /// Makes what another device of the account needs to let this one join: text to copy, or for a QR code. Asked
    /// again, it is the same. It is no secret. ``openSession()`` finds out whether it was accepted.
    /// - Parameter identity: The account.
    /// - Throws: ``IdentityError``; `accountExists`, `keyUnavailable`.
    public func makeLinkText(for identity: IdentityID) async throws(IdentityError) -> String {
        String(decoding: try await makeLinkContainer(for: identity).bytes, as: UTF8.self)
    }

    /// Lets another device join the account.
    /// - Parameter text: What the other device made with ``makeLinkText(for:)``.
    /// - Returns: The device that joined.
    /// - Throws: ``IdentityError``: `invalidContainer` before anything is sent, else as ``rotate()``.
    public func link(_ text: String) async throws(IdentityError) -> DeviceID {
        let container: LinkContainer
        do throws(MessageError) { container = try LinkContainer(parsing: Array(text.utf8)) } catch {
            throw IdentityError(.invalidContainer, "this is no link container (\(error))")
        }
        return try await link(container)
    }
}

extension SigningKey {
    /// What a server is told of a recovery key: the digest of its public half (protocol.md 1.2).
    public var recoveryHash: RecoveryHash { Derivations.standard.recoveryHash(of: publicKey) }
}
