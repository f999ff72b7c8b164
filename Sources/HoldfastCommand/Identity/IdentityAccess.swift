internal import AgentMessages
internal import BetterAuth
internal import BetterAuthMessages
internal import BetterAuthTransport
internal import CommandLineArguments
internal import Holdfast
internal import Synchronization
internal import SystemCalls

/// What a command of the identity works with: the vault, opened, and a client where a server is spoken to.
struct IdentityAccess {
    let vault: Vault
    private let turn: IdentityTurn
    private let work: IdentityWork
    private let arguments: Arguments

    /// Opens the vault.
    init(_ arguments: Arguments) throws(CommandError) {
        try self.init(ItemAccess(arguments))
    }

    /// As ``init(_:)-(Arguments)``, where the agent was asked first.
    init(_ access: ItemAccess) throws(CommandError) {
        let turn = try IdentityAccess.turn(access.arguments)
        self.init(access.arguments, turn, try access.open(isForWhole: true).vault)
    }

    private init(_ arguments: Arguments, _ turn: IdentityTurn, _ vault: Vault) {
        self.arguments = arguments
        self.turn = turn
        self.vault = vault
        let choice: ChipDeviceKeys.Choice =
            switch arguments[Options.keys] {
            case "tpm": .chip
            case "vault": .here
            default: .best
            }
        work = IdentityWork(vault, keys: choice, allowsPlain: arguments[Options.plainHTTP])
    }

    /// Opens the vault with what proves that its owner is there: the passcode, or the recovery phrase. An agent that
    /// has it open does not matter, and what is proved holds for a minute and for one change.
    static func proving(_ arguments: Arguments) throws(CommandError) -> (IdentityAccess, ProofCarrier) {
        let turn = try turn(arguments)
        let (vault, proof) = try Unlocking.openProving(arguments)
        return (IdentityAccess(arguments, turn, vault), proof)
    }

    /// Waits a minute for another process that changes the identity.
    private static func turn(_ arguments: Arguments) throws(CommandError) -> IdentityTurn {
        try IdentityWork.turn(in: HomeFolder.path(arguments))
    }

    var keys: any DeviceKeys { work.keys }

    /// What is stored.
    func credentials() throws(CommandError) -> Credentials {
        try identityCall { try VaultIdentity.credentials(in: vault) }
    }

    /// What is known, for people and for programs.
    func report() throws(CommandError) -> IdentityReport {
        try IdentityReport(credentials(), in: vault)
    }

    /// A client of the server that was named, now or earlier. Without an account, the authority from the command line
    /// is remembered; with one, it is changed only with a proof (``trustIdentity``).
    func client() throws(CommandError) -> VaultIdentity {
        let credentials = try credentials()
        let (server, trust) = try named(credentials)
        if credentials.account != nil {
            try refuseChange(of: credentials, to: server, trust)
        }
        let client = work.client(
            at: server, trusting: trust?.chain ?? credentials.keyChain)
        if let trust, credentials.account == nil { try run { try await client.begin(trusting: trust) } }
        return client
    }

    /// Like ``client()``, for a change of the server or of the authority.
    func movedClient() throws(CommandError) -> (VaultIdentity, VaultIdentity.Trust?) {
        let credentials = try credentials()
        let (server, trust) = try named(credentials)
        return (work.client(at: server, trusting: trust?.chain ?? credentials.keyChain), trust)
    }

    /// The server, and the authority from the command line. One takes the other's place.
    private func named(
        _ credentials: Credentials
    ) throws(CommandError) -> (server: ServerAddress, trust: VaultIdentity.Trust?) {
        guard let text = arguments[Options.server] ?? credentials.server else {
            throw .usage("no server is set. Pass --server URL once; it is remembered")
        }
        let server = try IdentityWork.address(text, allowsPlain: arguments[Options.plainHTTP])
        switch try arguments[Options.authority].map(Authority.init) {
        case .key(let key): return (server, .key(key))
        case .chain(let identity):
            let place = arguments[Options.keyService] ?? server.description
            let service = try IdentityWork.address(place, allowsPlain: arguments[Options.plainHTTP])
            return (server, .chain(TrustedKeyChain(identity: identity, service: service.description)))
        case nil:
            guard arguments[Options.keyService] == nil else {
                throw .usage("--key-service requires --authority with the id of a key chain")
            }
            return (server, arguments[Options.newResponseKey] ? .key(nil) : nil)
        }
    }

    /// Someone in front of the unlocked vault must not be able to make the account's keys sign for another server, or
    /// make it trusted. What stands already may be said again.
    private func refuseChange(
        of credentials: Credentials, to server: ServerAddress, _ trust: VaultIdentity.Trust?
    ) throws(CommandError) {
        let isKnown =
            switch trust {
            case nil: true
            case .chain(let chain): chain == credentials.keyChain
            case .key(let key):
                credentials.keyChain == nil
                    && credentials.firstKeys.contains { $0.server == server.description && $0.key == key }
            }
        guard isKnown, credentials.server == nil || credentials.server == server.description else {
            throw .failure(
                .identity(.otherServer),
                "to change the identity's server or its trusted key, use holdfast identity trust, which asks for the "
                    + "passcode; nothing was sent or changed")
        }
    }

    /// Waits for an operation, and tells the outcome of earlier ones.
    @discardableResult
    func run<R: Sendable>(
        _ note: String = "Asking the server ...", _ body: @escaping @Sendable () async throws -> R
    ) throws(CommandError) -> R {
        defer { for notice in work.notices.take() { Output.note(notice) } }
        return try PassingNote.show(note) { () throws(CommandError) in try Blocking.run(body) }
    }

    /// Writes something into the security log; that it could not be written is told.
    func log(_ event: SecurityEvent) {
        if !vault.log.append(event) { Output.note("this could not be written to the security log") }
    }
}

extension VaultIdentity.Trust {
    fileprivate var chain: TrustedKeyChain? {
        if case .chain(let chain) = self { return chain }
        return nil
    }
}

/// Runs calls of the identity and turns what they throw into ours.
package func identityCall<R: ~Copyable>(_ body: () throws -> R) throws(CommandError) -> R {
    do { return try body() } catch { throw CommandError(error) }
}

/// The authority that the user trusts for a server's response key.
enum Authority: Hashable {
    /// That key itself.
    case key(PublicKeyText)
    /// The key chain with this first event, which endorses keys (protocol.md 10.4).
    case chain(DigestText)

    /// Tells which by the form of the text; each has one spelling.
    init(_ text: String) throws(CommandError) {
        if let key = PublicKeyText(text) {
            self = .key(key)
        } else if let identity = DigestText(text) {
            self = .chain(identity)
        } else {
            throw .usage(
                "\(Escaping.sentence(text)) is neither a public key (48 characters beginning with 1AAI) nor the id of a "
                    + "key chain (44 characters beginning with E)")
        }
    }
}

/// Waits for work of the concurrency runtime, on a thread outside the concurrency pool.
enum Blocking {
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws(CommandError) -> R {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failure(.failure, "no pipe: \(SystemError.last)") }
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        let outcome = Outcome<R>()
        Task.detached {
            let result: Result<R, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.value.withLock { $0 = result }
            close(writing)  // the reader finds the end
        }
        var byte: UInt8 = 0
        while unsafe read(reading, &byte, 1) < 0 && errno == EINTR {}
        guard let result = outcome.value.withLock({ $0 }) else { throw .failure(.failure, "nothing came of it") }
        do { return try result.get() } catch { throw CommandError(error) }
    }

    private final class Outcome<R: Sendable>: Sendable {
        let value = Mutex<Result<R, any Error>?>(nil)
    }
}
