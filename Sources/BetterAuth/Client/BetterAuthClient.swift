public import BetterAuthMessages
internal import BetterAuthVerification
internal import SecretMemory

/// The identity of this device, towards one server (protocol.md 4, 5 and 8).
///
/// One operation at a time; calls that come meanwhile wait for their turn. Credentials are read from the store at the
/// start of each operation and dropped at its end, so that a locked vault takes them away. Nothing stored is
/// overwritten before the server agreed, and what is sent was written down before: a lost answer, a crash and a restart
/// lose nothing.
public actor BetterAuthClient {
    let store: any CredentialStore
    let keys: any DeviceKeys
    let transport: any Transport
    let server: ServerAddress
    let trust: ResponseTrust
    let now: @Sendable () -> Timestamp
    let notify: @Sendable (IdentityNotice) -> Void
    let compression: any TokenCompression
    private var turns = Turns()

    /// With keys that rest in the credentials. `HoldfastApp.identity` takes the machine's chip.
    /// - Parameters:
    ///   - store: Where the credentials rest. One client for one store.
    ///   - transport: The way to the server and to app servers.
    ///   - server: The server of the identity.
    ///   - trust: How the server's response key is known.
    ///   - now: The time in UTC.
    ///   - notify: Hears what the owner should know; called in between, so it must not call back.
    public init(
        store: any CredentialStore, transport: any Transport, server: ServerAddress, trust: ResponseTrust,
        now: @escaping @Sendable () -> Timestamp = { .now },
        notify: @escaping @Sendable (IdentityNotice) -> Void = { _ in }
    ) {
        self.init(
            store: store, keys: SoftwareDeviceKeys(), transport: transport, server: server, trust: trust, now: now,
            notify: notify)
    }

    /// - Parameters:
    ///   - store: Where the credentials rest.
    ///   - keys: Makes and uses this device's keys. Those of sessions are always made here: each request is signed by
    ///     them.
    ///   - trust: How the server's response key is known.
    ///   - now: The time in UTC.
    ///   - notify: Hears what the owner should know; called in between, so it must not call back.
    package init(
        store: any CredentialStore, keys: any DeviceKeys, transport: any Transport, server: ServerAddress,
        trust: ResponseTrust, compression: any TokenCompression = ZlibTokenCompression(),
        now: @escaping @Sendable () -> Timestamp, notify: @escaping @Sendable (IdentityNotice) -> Void = { _ in }
    ) {
        self.store = store
        self.keys = keys
        self.transport = transport
        self.server = server
        self.trust = trust
        self.compression = compression
        self.now = now
        self.notify = notify
    }

    /// Runs an operation when it is its turn.
    func exclusively<R: Sendable>(
        _ body: () async throws(IdentityError) -> R
    ) async throws(IdentityError) -> R {
        if !turns.take() { await withCheckedContinuation { turns.wait($0) } }
        defer { turns.pass() }
        return try await body()
    }

    /// What the store holds; empty credentials where there are none.
    func load() throws(IdentityError) -> Credentials {
        var credentials = try BetterAuthClient.load(store)
        credentials.server = server.description
        return credentials
    }

    /// What a store holds; empty credentials where there are none.
    /// - Throws: What the store throws; ``IdentityError/Code/damaged``, ``IdentityError/Code/newerVersion``.
    package static func load(_ store: any CredentialStore) throws(IdentityError) -> Credentials {
        try identityCall {
            guard let record = try store.load() else { return Credentials() }
            return try record.withBytes { try Credentials(parsing: $0) }
        }
    }

    /// Makes new credentials take effect, and then destroys the keys that they do not name any more.
    func save(_ new: Credentials, insteadOf old: Credentials) throws(IdentityError) {
        try identityCall {
            let record = try new.encoded()
            try store.save(record)
        }
        let kept = Set(new.keys.map(\.publicKey))
        // A key that a chip does not let go of signs nothing that a server accepts.
        for key in old.keys where !kept.contains(key.publicKey) { try? keys.destroy(key) }
    }

    /// What is known of the identity, without asking the server.
    package func credentials() async throws(IdentityError) -> Credentials {
        try await exclusively { () throws(IdentityError) in try load() }
    }

    /// Comes to an end with whatever was sent earlier and not answered.
    /// - Throws: ``IdentityError``: `undecided`, `unreachable`, `invalidReply` and `notTheServer` while the server does
    ///   not answer, `refused`, `chainUnknown`.
    public func settle() async throws(IdentityError) {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            if let chain = try await settle(&credentials).blocked { throw chain.error }
        }
    }

    /// Comes to an end with an earlier change of the recovery phrase, which decides what phrase is in effect. Requests
    /// of another kind that do not get through may keep waiting: a change is sent beside them.
    /// - Throws: ``IdentityError`` as ``settle()``.
    package func settleRecovery() async throws(IdentityError) {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            guard let chain = try await settle(&credentials).blocked else { return }
            let waitsForChange = credentials.pending?.requests.contains {
                if case .changeRecovery = $0.effect { true } else { false }
            }
            if waitsForChange == true { throw chain.error }
        }
    }

    /// Forgets the account on this device, without telling the server, which keeps it.
    public func erase() async throws(IdentityError) {
        try await exclusively { () async throws(IdentityError) in
            try BetterAuthClient.erase(store, keys)
        }
    }

    /// Forgets what a store holds, also what cannot be read, and destroys its keys, without a server.
    package static func erase(_ store: any CredentialStore, _ keys: any DeviceKeys) throws(IdentityError) {
        let old = (try? load(store)) ?? Credentials()
        try identityCall { try store.erase() }
        for key in old.keys { try? keys.destroy(key) }
    }

    /// Trusts the next response key that this server names, where the first one has changed; or this one, and no other.
    public func replaceFirstKey(with key: PublicKeyText? = nil) async throws(IdentityError) {
        let server = server.description
        try await update { credentials in
            credentials.firstKeys.removeAll { $0.server == server }
            if let key { credentials.firstKeys.append(FirstKey(server: server, key: key)) }
        }
    }

    /// Changes what the user decides: which keys to trust, and when the next drill is due.
    package func update(_ change: @Sendable (inout Credentials) -> Void) async throws(IdentityError) {
        try await exclusively { () async throws(IdentityError) in
            let old = try load()
            var new = old
            change(&new)
            try save(new, insteadOf: old)
        }
    }
}

/// Runs calls of stores, keys and libraries, and turns what they throw into ours.
func identityCall<R: ~Copyable>(_ body: () throws -> R) throws(IdentityError) -> R {
    do { return try body() } catch { throw IdentityError(error) }
}

/// Lets one operation at a time in, in the order in which they came. An actor alone does not: another call comes in at
/// each of its suspension points.
struct Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// True if the turn was acquired; otherwise call `wait`.
    mutating func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

    /// Gives the turn to the caller that has waited longest.
    mutating func pass() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
