internal import DeviceOwner
internal import FaceMessages
internal import Faces
internal import SecretMemory
internal import VaultStorage
internal import SystemCalls

/// The agent as the Secret Service of the user's session bus. Used by the agent's own thread alone.
final class SecretServiceFace {
    static let name = "org.freedesktop.secrets"
    /// Calls that threads work for at once, and those of one client.
    private static let mostCalls = 64
    private static let mostCallsOfClient = 16
    /// Clients whose user is kept; then all are looked up again.
    private static let mostKnown = 256
    /// Calls that are taken in one turn of the agent's loop.
    static let callsPerTurn = 64

    let bus: ServiceBus
    var sessions = SecretServiceSessions<SecretServiceCipher>()
    private var working: [UInt64: Working] = [:]
    private var known: [String: Bool] = [:]
    /// Something may have come in that poll(2) does not tell of.
    var hasMore = true

    /// A call that a thread works for.
    struct Working {
        let call: BusCall
        let kind: SecretServiceCall
        /// What secrets in the answer are encrypted for.
        let session: Session?
    }

    /// A session of the client that calls.
    struct Session {
        let path: String
        let cipher: SecretServiceCipher
    }

    init(_ bus: ServiceBus) { self.bus = bus }

    /// Whether a client is a process of this user: the bus may let others in.
    func isOurs(_ client: String) -> Bool {
        if let answer = known[client] { return answer }
        if known.count >= SecretServiceFace.mostKnown { known = [:] }
        let isOurs = bus.user(of: client) == geteuid()
        known[client] = isOurs
        return isOurs
    }

    /// - Returns: False when too many calls are worked for.
    func begin(_ number: UInt64, _ work: Working) -> Bool {
        guard working.count < SecretServiceFace.mostCalls,
            working.values.count(where: { $0.call.sender == work.call.sender }) < SecretServiceFace.mostCallsOfClient
        else { return false }
        working[number] = work
        return true
    }

    func finish(_ number: UInt64) -> Working? { working.removeValue(forKey: number) }

    /// What a client leaves behind goes with it.
    func leave(_ client: String) {
        sessions.leave(client)
        known[client] = nil
    }

    /// The session that a client names; nil for one that is not its own.
    func session(_ path: String, of client: String) -> Session? {
        guard case .session(let number) = SecretServicePath(parsing: path),
            let cipher = sessions.key(number, of: client)
        else { return nil }
        return Session(path: path, cipher: cipher)
    }
}

/// What a thread found for a call.
enum SecretServiceAnswer: Sendable {
    /// Done, and nobody need be asked.
    case done
    case created(String)
    case items([SecretServiceStore.Entry])
    case secrets([(path: String, secret: SecretServiceSecret)])
    case properties([(name: String, value: Property)])

    /// The value of a property.
    enum Property: Sendable {
        case paths([String])
        case text(String)
        case flag(Bool)
        case number(UInt64)
        case attributes(SecretServiceAttributes)
    }
}

/// Errors as the bus names them (Secret Service API 0.2, chapter 6; D-Bus specification).
enum SecretServiceError {
    static let isLocked = "org.freedesktop.Secret.Error.IsLocked"
    static let noSession = "org.freedesktop.Secret.Error.NoSession"
    static let noSuchObject = "org.freedesktop.Secret.Error.NoSuchObject"
    static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
    static let limits = "org.freedesktop.DBus.Error.LimitsExceeded"
    static let notSupported = "org.freedesktop.DBus.Error.NotSupported"
    static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
    static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
    static let failed = "org.freedesktop.DBus.Error.Failed"

    static func name(of error: VaultError) -> String {
        switch error.code {
        case .locked: isLocked
        case .recordNotFound, .invalidName: noSuchObject
        case .notAllowed: accessDenied
        case .tooLarge: limits
        default: failed
        }
    }
}
