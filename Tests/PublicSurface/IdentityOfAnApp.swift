// What an app writes that knows nothing of this package but its products: type-checked by PublicSurfaceTests as a
// module of another package, and the lines between the markers stand in Docs/identity.md and in the README word for
// word.
import BetterAuth
import BetterAuthTransport
import Holdfast

func identityExample(app: HoldfastApp, authority: DigestText, show: (RawSpan) -> Void) async throws {
    // Example begins
    let web = SystemTransport()
    let keys = HTTPKeyService(at: try ServerAddress("https://keys.example.org"), over: web)
    let identity = app.identity(
        at: try ServerAddress("https://id.example.org"), over: web,
        trust: .source(EndorsedServerKeys(trusting: authority, from: keys)))
    let phrase = try IdentityPhrase.generate()  // 24 words, shown once, before anything is sent:
    phrase.withText { words in show(words) }
    _ = try await identity.createAccount(recovery: phrase.recoveryKey().recoveryHash)
    _ = try await identity.openSession()
    let answer: ApplicationData = try await identity.request(
        "/notes", at: try ServerAddress("https://app.example.org"), ApplicationData(json: #"{"do":"list"}"#))
    // Example ends
    print(String(decoding: answer.bytes, as: UTF8.self))
}

/// What takes an identity away for good needs its owner: the passcode, typed for this very change.
func ownersExample(app: HoldfastApp, identity: VaultIdentity, passcode: borrowing SecretBytes) async throws {
    // Owner begins
    let proof = try await app.lock.prove(passcode: passcode)
    try await identity.deleteAccount(proof: proof)  // uses it up; a minute later it would be worth nothing
    // Owner ends
}

/// Every change that needs a proof, and that each takes one of its own.
func changes(
    app: HoldfastApp, identity: VaultIdentity, device: DeviceID, container: String, next: RecoveryHash,
    phrase: borrowing RecoveryPhrase
) async throws {
    func prove(_ phrase: borrowing RecoveryPhrase) async throws -> Proof { try await app.lock.prove(phrase: phrase) }
    _ = try await identity.link(container, proof: prove(phrase))
    try await identity.unlink(device, proof: prove(phrase))
    try await identity.changeRecovery(to: next, proof: prove(phrase))
    try await identity.replaceFirstKey(with: PublicKeyText("1AAI"), proof: prove(phrase))
    try await identity.moveServer(proof: prove(phrase))
    let proof = try await prove(phrase)
    do throws(IdentityError) { try await identity.erase(proof: proof) } catch {
        if error.code == .proofExpired || error.code == .otherServer { print(error.reason) }
    }
}

/// Every operation, each kind of failure.
func everything(app: HoldfastApp, server: ServerAddress) async throws {
    let client = BetterAuthClient(
        store: OwnStore(), transport: OwnTransport(), server: server, trust: .firstUse, now: { .now },
        notify: { notice in
            switch notice {
            case .trustedFirstKey(let key, let server): print(key, server)
            case .settled(.rotate), .abandoned(.delete): print("settled")
            case .settled(let effect), .abandoned(let effect): print(effect)
            case .settledOneOf(let effects): print(effects.count)
            case .confirmed(let kind): print(kind == .link)
            }
        })
    let status = try await client.status()
    print(status.state == .ready, status.identity?.description ?? "", status.device as Any, status.isInChip)
    print(status.sessionExpiry ?? .now, status.refreshExpiry ?? .now, status.isUnfinished)
    let recovery = try SoftwareSigningKey.generate()
    let account = try await client.createAccount(recovery: recovery.recoveryHash)
    let next = try SoftwareSigningKey.generate()
    _ = try await client.recoverAccount(account.identity, with: recovery, successor: next.recoveryHash)
    let text = try await client.makeLinkText(for: account.identity)
    let device: DeviceID = try await client.link(text)
    try await client.unlink(device)
    try await client.rotate()
    try await client.changeRecovery(to: next.recoveryHash)
    let session = try await client.openSession()
    print(session.expiry < session.refreshExpiry, session.expiry.milliseconds)
    _ = try await client.refreshSession()
    let note: Note = try await client.request("/notes", Note(text: "a"), trust: .pinned([next.publicKey]))
    print(note.text)
    try await client.endSession()
    try await client.settle()
    try await client.replaceFirstKey(with: PublicKeyText("1AAI"))
    do throws(IdentityError) { try await client.deleteAccount() } catch {
        if error.code == .refused { print(error.reason, error.failure?.codeText ?? "", error.failure?.message ?? "") }
        if error.code == .undecided || error.code == .chainUnknown { print(error) }
    }
    try await client.erase()
}

/// A type of the app's own in requests and answers.
struct Note: ApplicationBody {
    var text: String

    init(text: String) { self.text = text }

    init(_ data: ApplicationData) throws {
        guard let member = data.members()?["text"] else { throw CancellationError() }
        text = String(decoding: member.bytes, as: UTF8.self)
    }

    func data() throws -> ApplicationData { try ApplicationData(json: "{\"text\":\"\(text)\"}") }
}

struct OwnStore: CredentialStore {
    func load() throws -> SecretBytes? { nil }
    func save(_ record: borrowing SecretBytes) throws {}
    func erase() throws {}
}

struct OwnTransport: Transport {
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
        guard request.path.hasPrefix("/"), request.limit > 0, request.server.isEncrypted else { throw .timedOut }
        return TransportReply(status: 200, body: request.body ?? [])
    }
}

/// An app server.
struct Notes {
    let verifier: AccessVerifier
    let key: SoftwareSigningKey

    init(authority: DigestText, service: any KeyService) throws {
        var settings = AccessVerifier.Settings()
        settings.tolerance = .seconds(2)
        verifier = AccessVerifier(
            keys: EndorsedServerKeys(trusting: authority, from: service, window: EndorsedServerKeys.appServerWindow),
            nonces: MemoryNonceStore(), revocations: MemoryRevocationList(), settings: settings)
        key = try .generate()
    }

    func answer(_ body: [UInt8]) async -> (status: Int, body: [UInt8]) {
        do throws(AccessRefusal) {
            let access = try await verifier.verify(body)
            print(access.claims.identity, access.claims.device, access.claims.attributes)
            guard let reply = try? access.reply(access.body, signedBy: key) else { return (500, []) }
            return (200, reply)
        } catch {
            if let failure = error.failure { print("a store failed: \(failure)") }
            return (error.httpStatus, error.body)
        }
    }
}

/// Stores of a server that has replicas.
struct SharedNonces: NonceStore, RevocationList, ServerKeySource {
    func reserve(_ nonce: NonceText, until: Timestamp, now: Timestamp) async throws -> Bool { until > now }
    func isRevoked(_ claims: AccessClaims, now: Timestamp) async throws -> Bool { claims.expiry < now }
    func key(
        named name: PublicKeyText, for purpose: Endorsement.Purpose, now: Timestamp
    ) async throws -> VerificationKey? { purpose == .access ? try VerificationKey(name) : nil }
}
