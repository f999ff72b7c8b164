internal import BetterAuth
internal import BetterAuthMessages
internal import BetterAuthTransport
internal import Holdfast
internal import KeyStores
internal import Synchronization
internal import SystemCalls

/// What works on the identity of an open vault, in a command's own process or in the agent's.
struct IdentityWork {
    let vault: Vault
    let keys: any DeviceKeys
    let notices: NoticeList
    private let transport = CurlTransport()

    /// - Parameter choice: Where keys of a new account are made.
    init(
        _ vault: Vault, keys choice: ChipDeviceKeys.Choice = .best, allowsPlain: Bool,
        notices: NoticeList = NoticeList()
    ) {
        self.vault = vault
        self.notices = notices
        self.allowsPlain = allowsPlain
        keys = ChipDeviceKeys.standard(for: vault, choice) { error in
            notices.append("the identity's keys are in the vault, not in the TPM: \(error.reason)")
        }
    }

    private let allowsPlain: Bool

    /// The turn of this process to change the identity; waits a minute for another one that does.
    /// - Throws: `busy`, and errors of the lock file.
    static func turn(in home: String) throws(CommandError) -> IdentityTurn {
        for _ in 0..<600 {
            if let turn = try vaultCall({ try IdentityTurn(in: home) }) { return turn }
            usleep(100_000)
        }
        throw CommandError.failure(.busy, "another program is working on the identity; try again")
    }

    /// - Parameter chain: The authority for the server's response keys; nil to trust the first key.
    func client(at server: ServerAddress, trusting chain: TrustedKeyChain?) -> VaultIdentity {
        var trust = ResponseTrust.firstUse
        if let chain, let service = try? ServerAddress(chain.service, allowsPlain: true) {
            trust = .source(
                EndorsedServerKeys(trusting: chain.identity, from: HTTPKeyService(at: service, over: transport)))
        }
        let notices = notices
        return VaultIdentity(
            in: vault, keys: keys, transport: transport, server: server, trust: trust, now: { .now },
            notify: { notice in
                if let words = notice.words { notices.append(words) }
            })
    }

    static func address(_ text: String, allowsPlain: Bool) throws(CommandError) -> ServerAddress {
        do throws(ServerAddress.Refusal) { return try ServerAddress(text, allowsPlain: allowsPlain) } catch {
            let hint = error == .insecure ? ", or use --plain-http if you must" : ""
            throw CommandError(.usage, code: .identity(.invalidAddress), error.reason + hint)
        }
    }

    static func key(_ text: String) throws(CommandError) -> PublicKeyText {
        guard let key = PublicKeyText(text) else {
            throw .usage("\(Escaping.sentence(text)) is not a public key (48 characters beginning with 1AAI)")
        }
        return key
    }
}

extension IdentityNotice {
    /// For people; nil for what they see anyway.
    fileprivate var words: String? {
        switch self {
        case .trustedFirstKey(let key, let server):
            "WARNING: trusting the first key seen from \(server): \(key). Compare it with the key that the server's "
                + "operator publishes, or name the key with --authority"
        case .settled(let effect): "done now, from an earlier command: \(effect.words)"
        case .settledOneOf(let effects):
            "done now, from an earlier command; it is unknown which of: "
                + effects.map(\.words).joined(separator: ", or: ")
        case .abandoned(let effect):
            "this did not reach the server or was refused; it will not happen: \(effect.words)"
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
final class NoticeList: Sendable {
    private let list = Mutex<[String]>([])
    func append(_ notice: String) { list.withLock { $0.append(notice) } }
    func take() -> [String] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
