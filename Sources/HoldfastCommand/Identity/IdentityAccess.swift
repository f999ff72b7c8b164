internal import AgentMessages
internal import BetterAuth
internal import BetterAuthMessages
internal import BetterAuthTransport
internal import Holdfast
internal import HoldfastAgent
internal import KeyStores
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What a command of the identity works with: the credentials in the vault, and a client where a server is spoken to.
struct IdentityAccess {
    /// Locked where the agent has it open.
    let vault: Vault
    let store: any CredentialStore
    private let turn: IdentityTurn
    private let notices = NoticeList()
    private let arguments: Arguments
    let transport = CurlTransport()
    let keys: any DeviceKeys

    /// Opens the vault, or finds the agent that has it open.
    init(_ arguments: Arguments) throws(CommandError) {
        self.arguments = arguments
        turn = try IdentityAccess.turn(in: HomeFolder.path(arguments))
        keys = IdentityAccess.keys(arguments, notices)
        if !Unlocking.namesSecret(arguments),
            let agent = try? AgentAccess.connect(arguments), (try? agent.status().isUnlocked) ?? false
        {
            vault = try Unlocking.find(arguments)
            store = try AgentCredentials(agent)
        } else {
            vault = try Unlocking.open(arguments)
            store = VaultCredentials(in: vault)
        }
    }

    /// Waits a minute for another process that changes the identity.
    private static func turn(in home: String) throws(CommandError) -> IdentityTurn {
        for _ in 0..<600 {
            if let turn = IdentityTurn(in: home) { return turn }
            usleep(100_000)
        }
        throw .failure("busy", "another program is working on the identity; try again")
    }

    /// What is stored.
    func credentials() throws(CommandError) -> Credentials { try identityCall { try BetterAuthClient.load(store) } }

    /// A client of the server that was named, now or earlier. What the command line says about whom to trust is
    /// remembered.
    func client() throws(CommandError) -> BetterAuthClient {
        let credentials = try credentials()
        guard let text = arguments[Options.server] ?? credentials.server else {
            throw .usage("which server? say it once with --server")
        }
        let server = try IdentityAccess.address(text, arguments)
        let (responseKey, chain) = try trusted(server, credentials)
        var trust = ResponseTrust.firstUse
        if let chain {
            let service = try IdentityAccess.address(chain.service, allowsPlain: true)
            trust = .source(
                EndorsedServerKeys(trusting: chain.identity, from: HTTPKeyService(at: service, over: transport)))
        }
        let notices = notices
        let client = BetterAuthClient(
            store: store, keys: keys, transport: transport, server: server, trust: trust, now: { WallClock.now },
            notify: { notice in
                if let words = notice.words { notices.append(words) }
            })
        if chain != credentials.keyChain {
            try run { try await client.update { $0.keyChain = chain } }
        }
        if responseKey != nil || arguments[Options.newResponseKey] {
            try run { try await client.replaceFirstKey(with: responseKey) }
        }
        return client
    }

    /// The key or the chain that the command line names, else the chain that it named earlier. One takes the other's place.
    private func trusted(
        _ server: ServerAddress, _ credentials: Credentials
    ) throws(CommandError) -> (key: PublicKeyText?, chain: TrustedKeyChain?) {
        switch try arguments[Options.authority].map(Authority.init) {
        case .key(let key): return (key, nil)
        case .chain(let identity):
            let service = try IdentityAccess.address(arguments[Options.keyService] ?? server.description, arguments)
            return (nil, TrustedKeyChain(identity: identity, service: service.description))
        case nil:
            guard arguments[Options.keyService] == nil else {
                throw .usage("--key-service goes with --authority and the id of a key chain")
            }
            return (nil, credentials.keyChain)
        }
    }

    /// In the TPM where there is one; which place that is, its owner may say.
    private static func keys(_ arguments: Arguments, _ notices: NoticeList) -> any DeviceKeys {
        let choice: ChipDeviceKeys.Choice =
            switch arguments[Options.keys] {
            case "tpm": .chip
            case "vault": .here
            default: .best
            }
        return ChipDeviceKeys.standard(choice) { error in
            notices.append("the identity's keys are in the vault, not in the TPM: \(error.reason)")
        }
    }

    static func address(_ text: String, _ arguments: Arguments) throws(CommandError) -> ServerAddress {
        try address(text, allowsPlain: arguments[Options.plainHTTP])
    }

    private static func address(_ text: String, allowsPlain: Bool) throws(CommandError) -> ServerAddress {
        do throws(ServerAddress.Refusal) { return try ServerAddress(text, allowsPlain: allowsPlain) } catch {
            let hint = error == .insecure ? ", or --plain-http where that must be" : ""
            throw CommandError(.usage, code: "invalidAddress", error.reason + hint)
        }
    }

    static func key(_ text: String) throws(CommandError) -> PublicKeyText {
        guard let key = PublicKeyText(text) else {
            throw .usage("\(text) is no public key: 48 characters that begin with 1AAI")
        }
        return key
    }

    /// Waits for an operation, and tells what came of earlier ones.
    @discardableResult
    func run<R: Sendable>(
        _ note: String = "Asking the server ...", _ body: @escaping @Sendable () async throws -> R
    ) throws(CommandError) -> R {
        defer { for notice in notices.take() { Output.note(notice) } }
        return try PassingNote.show(note) { () throws(CommandError) in try Blocking.run(body) }
    }

    /// Writes something into the security log; that it could not be written is told.
    func log(_ event: LogEvent) {
        if !vault.log.append(event) { Output.note("this could not be written into the security log") }
    }
}

extension IdentityNotice {
    /// For people; nil for what they see anyway.
    fileprivate var words: String? {
        switch self {
        case .trustedFirstKey(let key, let server):
            "WARNING: \(server) signs with \(key), which is believed because it is the first key seen there. Compare it "
                + "with what the server's owner publishes, or say whom to trust with --authority"
        case .settled(let effect): "done now, from an earlier command: \(effect.words)"
        case .settledOneOf(let effects):
            "done now, from an earlier command, and it cannot be told which: "
                + effects.map(\.words).joined(separator: ", or only: ")
        case .abandoned(let effect):
            "this did not get through to the server or was refused, and will not happen: \(effect.words)"
        case .confirmed: nil
        }
    }
}

extension RotationEffect {
    /// For people.
    var words: String {
        switch self {
        case .rotate: "the device's key was rotated"
        case .link(let device): "device \(device) was linked"
        case .unlink(let device): "device \(device) was unlinked"
        case .leave: "this device was unlinked"
        case .changeRecovery: "the recovery phrase was changed"
        case .delete: "the account was deleted"
        }
    }
}

/// Notices of operations, told when the terminal is free.
private final class NoticeList: Sendable {
    private let list = Mutex<[String]>([])
    func append(_ notice: String) { list.withLock { $0.append(notice) } }
    func take() -> [String] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}

enum WallClock {
    static var now: Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(clamping: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// Runs calls of the identity and turns what they throw into ours.
func identityCall<R: ~Copyable>(_ body: () throws -> R) throws(CommandError) -> R {
    do { return try body() } catch { throw CommandError(error) }
}
