import BetterAuth
import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import Synchronization
import TestSupport
import Testing

/// What stands between client and server, and servers that answer something else.
@Suite struct HostileServerTests {
    private enum Attack: String, CaseIterable, CustomTestStringConvertible {
        case changedByte, otherKey, oldReply, emptyBody, notJSON, forgedRefusal, tooLong, claimedKey
        var testDescription: String { rawValue }
    }

    private final class Attacker: Sendable {
        let attack = Mutex<Attack?>(nil)
        let recorded = Mutex<[UInt8]>([])
        let key: SoftwareSigningKey
        init() throws { key = try .generate() }

        func answer(_ path: String, _ genuine: [UInt8]) throws -> [UInt8] {
            guard path == RotateDevice.path, let attack = attack.withLock({ $0 }) else {
                if path == RotateDevice.path { recorded.withLock { $0 = genuine } }
                return genuine
            }
            switch attack {
            case .changedByte:
                var changed = genuine
                changed[genuine.count - 5] = changed[genuine.count - 5] == 65 ? 66 : 65
                return changed
            case .otherKey:
                let reply = try SignedMessage<Response<RotateDevice>>(parsing: genuine).payload
                return try SignedMessage(
                    Response<RotateDevice>(
                        nonce: reply.nonce, serverIdentity: key.publicKey, body: EmptyBody()), signedBy: key
                ).bytes
            case .claimedKey:
                // Names the server's key and signs with another.
                let reply = try SignedMessage<Response<RotateDevice>>(parsing: genuine).payload
                return try SignedMessage(reply, signedBy: key).bytes
            case .oldReply: return recorded.withLock { $0 }
            case .emptyBody: return []
            case .notJSON: return Array("<html>".utf8)
            case .forgedRefusal: return Array(#"{"error":{"code":"BA103","message":"no"}}"#.utf8)
            case .tooLong: throw TransportError.tooLarge
            }
        }
    }

    /// Nothing of this makes the client believe that its key was rotated, or loses a key; and then the truth comes out.
    @Test(arguments: Attack.allCases) private func nothingIsBelieved(_ attack: Attack) async throws {
        let world = try World(seed: 11, memory: .refuses)
        let attacker = try Attacker()
        let store = SimulatedStore()
        let clock = world.clock
        let client = try BetterAuthClient(
            store: store,
            transport: HookedNetwork(world: world) { try attacker.answer($0.path, $1()) },
            server: ServerAddress("https://auth.example"), trust: .pinned([world.responseKey.publicKey]),
            now: { clock.now })
        let key = try SoftwareSigningKey.generate()
        let account = try await client.createAccount(recovery: Derivations.standard.recoveryHash(of: key.publicKey))
        try await client.rotate()
        let before = try await client.credentials()
        attacker.attack.withLock { $0 = attack }
        // The server does rotate, and whatever comes back in its place, that is found out by asking for both keys.
        #expect(await code { try await client.rotate() } == nil)
        attacker.attack.withLock { $0 = nil }
        try await client.settle()
        let after = try await client.credentials()
        #expect(after.account?.current.publicKey == before.account?.next.publicKey && after.pending == nil)
        #expect(
            try world.store.account(account.identity)?.device(account.device)?.publicKey
                == after.account?.current.publicKey)
        try await client.rotate()
    }

    @Test func aServerKeyThatChangesIsNotTrusted() async throws {
        let world = try World(seed: 12)
        let stranger = try SoftwareSigningKey.generate()
        let isOther = Mutex(false)
        let clock = world.clock
        let store = SimulatedStore()
        let network = HookedNetwork(world: world) { request, deliver in
            guard isOther.withLock({ $0 }) else { return deliver() }
            if request.path == "/key/response" { return stranger.publicKey.textBytes }
            let reply = try SignedMessage<Response<RotateDevice>>(parsing: deliver()).payload
            return try SignedMessage(
                Response<RotateDevice>(
                    nonce: reply.nonce, serverIdentity: stranger.publicKey, body: EmptyBody()), signedBy: stranger
            ).bytes
        }
        let client = try BetterAuthClient(
            store: store, transport: network, server: ServerAddress("https://auth.example"), trust: .firstUse,
            now: { clock.now })
        let key = try SoftwareSigningKey.generate()
        _ = try await client.createAccount(recovery: Derivations.standard.recoveryHash(of: key.publicKey))
        isOther.withLock { $0 = true }
        #expect(await code { try await client.rotate() } == .unknownServerKey)
        isOther.withLock { $0 = false }
        try await client.rotate()
        // Until the owner says so.
        try await client.replaceFirstKey()
        #expect(try await client.credentials().firstKeys.isEmpty)
        try await client.rotate()
        #expect(try await client.credentials().firstKeys.map(\.key) == [world.responseKey.publicKey])
    }
}

@Suite struct AccessRequestTests {
    private struct Question: ApplicationBody {
        var foo = "bar"
        init() {}
        init(_ data: ApplicationData) throws {}
        func data() throws -> ApplicationData { try ApplicationData(json: #"{"foo":"\#(foo)"}"#) }
    }

    private struct Answer: ApplicationBody {
        struct Unexpected: Error {}
        init(_ data: ApplicationData) throws {
            guard data.bytes.text == #"{"wasFoo":"bar"}"# else { throw Unexpected() }
        }
        func data() throws -> ApplicationData { try ApplicationData(json: "{}") }
    }

    /// An auth server, an app server with a key of its own, and a client.
    @Test func theWholeWay() async throws {
        let world = try World(seed: 21)
        let appKey = try SoftwareSigningKey.generate()
        let accessKey = world.server.keys.accessKey(now: world.clock.now).publicKey
        let verifier = AccessVerifier(
            keys: PinnedServerKeys(access: [try VerificationKey(accessKey)]), nonces: MemoryNonceStore(),
            revocations: MemoryRevocationList())
        let app = AppServer(world: world, verifier: verifier, key: appKey)
        let clock = world.clock
        let client = try BetterAuthClient(
            store: SimulatedStore(), transport: app, server: ServerAddress("https://auth.example"),
            trust: .pinned([world.responseKey.publicKey]), now: { clock.now })
        let recovery = try SoftwareSigningKey.generate()
        _ = try await client.createAccount(recovery: Derivations.standard.recoveryHash(of: recovery.publicKey))
        let target = try ServerAddress("https://app.example")
        #expect(
            await code { _ = try await client.request("/foo/bar", at: target, Question(), answer: Answer.self) }
                == .noSession)
        _ = try await client.openSession()
        // The app server's key is not the auth server's.
        #expect(
            await code { _ = try await client.request("/foo/bar", at: target, Question(), answer: Answer.self) }
                == .unknownServerKey)
        let trust = ResponseTrust.pinned([appKey.publicKey])
        _ = try await client.request("/foo/bar", at: target, Question(), answer: Answer.self, trust: trust)
        var other = Question()
        other.foo = "another"
        let unexpected = other
        #expect(
            await code {
                _ = try await client.request("/foo/bar", at: target, unexpected, answer: Answer.self, trust: trust)
            } == .invalidData)
        #expect(
            await code {
                _ = try await client.request("//evil/x", at: target, Question(), answer: Answer.self, trust: trust)
            } == .invalidAddress)
        // Many at a time.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    _ = try await client.request("/foo/bar", at: target, Question(), answer: Answer.self, trust: trust)
                }
            }
            try await group.waitForAll()
        }
        // Over.
        clock.advance(901_000)
        #expect(
            await code {
                _ = try await client.request("/foo/bar", at: target, Question(), answer: Answer.self, trust: trust)
            } == .refused)
        _ = try await client.refreshSession()
        _ = try await client.request("/foo/bar", at: target, Question(), answer: Answer.self, trust: trust)
    }

    private struct AppServer: Transport {
        let world: World
        let verifier: AccessVerifier
        let key: SoftwareSigningKey

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
            let body = request.body ?? []
            guard request.server.description == "https://app.example" else {
                return TransportReply(status: 200, body: world.deliver(request.path, body))
            }
            do throws(AccessRefusal) {
                let access = try await verifier.verify(body, now: world.clock.now)
                let text = access.request.body.bytes.text.replacing("foo", with: "wasFoo")
                guard let data = try? ApplicationData(json: text), let reply = try? access.reply(data, signedBy: key)
                else { throw AccessRefusal.unavailable(CancellationError()) }
                return TransportReply(status: 200, body: reply)
            } catch { return TransportReply(status: error.httpStatus, body: error.reply.encoded) }
        }
    }
}
