import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import Cryptography
import Dispatch
import Foundation
import SecretMemory
import Synchronization
import Testing

let derivations = Derivations.server

/// A clock that a test sets.
final class TestClock: ServerClock {
    private let time = Mutex<Int64>(1_767_323_045_678)

    var now: Timestamp { Timestamp(clamping: time.withLock { $0 }) }

    /// Time passes; into the past it does not.
    private let passed = Mutex<Int64>(0)

    var running: Int64 { passed.withLock { $0 } }

    func advance(seconds: Int64) { advance(milliseconds: seconds * 1000) }
    func advance(milliseconds: Int64) {
        passed.withLock { $0 += max(0, milliseconds) }
        time.withLock { $0 += milliseconds }
    }

    /// Somebody sets it.
    func set(by seconds: Int64) { time.withLock { $0 += seconds * 1000 } }
}

/// What is given on some thread is waited for on another.
final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let given = DispatchSemaphore(value: 0)

    func give(_ value: Value) {
        self.value.withLock {
            if $0 != nil { Issue.record("answered twice") }
            $0 = value
        }
        given.signal()
    }

    func wait() -> Value {
        given.wait()
        guard let value = value.withLock({ $0 }) else { preconditionFailure("nothing was given") }
        return value
    }
}

/// What was said, from any thread.
final class Told: Sendable {
    private let said = Mutex<[String]>([])

    var all: [String] { said.withLock { $0 } }

    func add(_ text: String) { said.withLock { $0.append(text) } }
}

func freshNonce() throws -> NonceText { try NonceText { try SecureRandom.fillPublic(&$0) } }

/// A digest of nothing that exists.
func freshDigest() throws -> DigestText { try DigestText { try SecureRandom.fillPublic(&$0) } }

func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

extension SignedMessage {
    init(_ payload: Payload, by key: ServerKey) throws {
        try self.init(payload) { try key.sign($0) }
    }
}

/// A server over some store, asked without a network.
struct TestServer {
    let server: AuthServer
    let clock: TestClock
    let responseKey: ServerKey
    let accessKey: ServerKey

    init(
        _ store: any ServerStore = MemoryStore(), clock: TestClock = TestClock(), lifetimes: Lifetimes = Lifetimes(),
        attributes: String = #"{"permissionsByRole":{"user":["read"]}}"#
    ) throws {
        self.clock = clock
        responseKey = try .generate()
        accessKey = try .generate()
        let data = try ApplicationData(json: attributes)
        server = AuthServer(
            store: store,
            keys: ServerKeys(
                response: KeySchedule(responseKey, lifetime: 43_260_000),
                access: KeySchedule(accessKey, lifetime: 43_200_000)),
            clock: clock, lifetimes: lifetimes, compression: ZlibTokenCompression(), attributes: { _ in data })
    }

    func post(_ operation: AuthOperation, _ body: [UInt8]) -> ServerReply {
        let answer = Answer<ServerReply>()
        server.handle(operation, body) { answer.give($0) }
        return answer.wait()
    }

    func post(_ path: String, _ body: [UInt8]) throws -> ServerReply {
        let operation = AuthOperation(path: path)
        return post(try #require(operation), body)
    }

    /// Posts a signed request and returns the code of its refusal; nil when it was done. A response is checked: its
    /// signature, its nonce.
    @discardableResult
    func send<X: RoutedExchange>(
        _ kind: X.Type, _ message: SignedMessage<X.Request>, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ErrorCode? {
        try exchange(kind, message.bytes, message.payload.nonce, sourceLocation: sourceLocation).1
    }

    func exchange<X: RoutedExchange>(
        _ kind: X.Type, _ body: [UInt8], _ nonce: NonceText, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (X.ResponseBody?, ErrorCode?) {
        let reply = try post(X.path, body)
        guard reply.code == nil else {
            #expect(reply.status == reply.code?.httpStatus, sourceLocation: sourceLocation)
            guard case .failure(let failure) = try Reply<X>(parsing: reply.body) else {
                Issue.record("a refusal that reads as a response", sourceLocation: sourceLocation)
                return (nil, reply.code)
            }
            #expect(failure.code == reply.code, sourceLocation: sourceLocation)
            return (nil, reply.code)
        }
        let response = try SignedMessage<Response<X>>(parsing: reply.body)
        #expect(reply.status == 200, sourceLocation: sourceLocation)
        #expect(response.payload.nonce == nonce, sourceLocation: sourceLocation)
        #expect(response.payload.serverIdentity == responseKey.publicKey, sourceLocation: sourceLocation)
        let isAuthentic = response.withSignedBytes { bytes in
            response.signature.withRawBytes { responseKey.verifier.isValid(signature: $0, for: bytes) }
        }
        #expect(isAuthentic, sourceLocation: sourceLocation)
        return (response.payload.body, nil)
    }
}

/// A device as a client would keep it: current key, next key, names.
struct TestDevice {
    var current: ServerKey
    var next: ServerKey
    var id: DeviceID
    var identity: IdentityID

    /// A device with keys, not yet known to any server.
    init(identity: IdentityID? = nil, recovery: RecoveryHash? = nil) throws {
        current = try .generate()
        next = try .generate()
        let hash = derivations.rotationHash(of: next.publicKey)
        id = derivations.device(current.publicKey, hash)
        if let identity {
            self.identity = identity
        } else {
            let recovery = try recovery ?? RecoveryHash(freshDigest())
            self.identity = derivations.identity(current.publicKey, hash, recovery)
        }
    }

    var rotationHash: RotationHash { derivations.rotationHash(of: next.publicKey) }

    /// What the device says of itself before it is known.
    var introduction: RotationAuthentication {
        RotationAuthentication(
            device: id, identity: identity, publicKey: current.publicKey, rotationHash: rotationHash)
    }

    func container() throws -> LinkContainer {
        try LinkContainer(LinkContainerPayload(authentication: introduction), by: current)
    }

    /// The step to the next key: what reveals it, and the device as it is afterwards.
    func rotated() throws -> (RotationAuthentication, TestDevice) {
        var after = self
        after.current = next
        after.next = try .generate()
        return (after.introduction, after)
    }

    func creation(_ recovery: RecoveryHash) throws -> SignedMessage<CreateAccount.Request> {
        let account = AccountAuthentication(
            device: id, identity: identity, publicKey: current.publicKey, recoveryHash: recovery,
            rotationHash: rotationHash)
        return try SignedMessage(.init(nonce: freshNonce(), authentication: account), by: current)
    }

    func rotation() throws -> (SignedMessage<RotateDevice.Request>, TestDevice) {
        let (authentication, after) = try rotated()
        return (try SignedMessage(.init(nonce: freshNonce(), authentication: authentication), by: next), after)
    }

    func deletion() throws -> SignedMessage<DeleteAccount.Request> {
        let (authentication, _) = try rotated()
        return try SignedMessage(.init(nonce: freshNonce(), authentication: authentication), by: next)
    }

    func linking(_ container: LinkContainer) throws -> (SignedMessage<LinkDevice.Request>, TestDevice) {
        let (authentication, after) = try rotated()
        let payload = LinkDevice.Request(
            nonce: try freshNonce(), authentication: authentication, container: container)
        return (try SignedMessage(payload, by: next), after)
    }

    func unlinking(_ device: DeviceID) throws -> (SignedMessage<UnlinkDevice.Request>, TestDevice) {
        let (authentication, after) = try rotated()
        let payload = UnlinkDevice.Request(nonce: try freshNonce(), authentication: authentication, device: device)
        return (try SignedMessage(payload, by: next), after)
    }

    func changingRecovery(
        _ recovery: RecoveryHash
    ) throws -> (SignedMessage<ChangeRecoveryKey.Request>, TestDevice) {
        let (authentication, after) = try rotated()
        let account = AccountAuthentication(
            device: id, identity: identity, publicKey: authentication.publicKey, recoveryHash: recovery,
            rotationHash: authentication.rotationHash)
        return (try SignedMessage(.init(nonce: freshNonce(), authentication: account), by: next), after)
    }

    func recovery(with key: ServerKey, next: RecoveryHash) throws -> SignedMessage<RecoverAccount.Request> {
        let account = RecoveryAuthentication(
            device: id, identity: identity, publicKey: current.publicKey, recoveryHash: next,
            recoveryKey: key.publicKey, rotationHash: rotationHash)
        return try SignedMessage(.init(nonce: freshNonce(), authentication: account), by: key)
    }
}

/// An account that a server knows.
struct TestAccount {
    var device: TestDevice
    var recoveryKey: ServerKey

    init(on server: TestServer) throws {
        recoveryKey = try .generate()
        let hash = derivations.recoveryHash(of: recoveryKey.publicKey)
        device = try TestDevice(recovery: hash)
        #expect(try server.send(CreateAccount.self, device.creation(hash)) == nil)
    }

    /// Links another device.
    mutating func linked(on server: TestServer) throws -> TestDevice {
        let new = try TestDevice(identity: device.identity)
        let (message, after) = try device.linking(new.container())
        #expect(try server.send(LinkDevice.self, message) == nil)
        device = after
        return new
    }
}

/// The session of a device.
struct TestSession {
    var current: ServerKey
    var next: ServerKey
    var token: TokenText

    var claims: AccessClaims {
        get throws { try AccessToken(opening: token, with: ZlibTokenCompression()).claims }
    }

    /// The request that opens a session; the keys are its own.
    static func opening(
        _ device: TestDevice, _ challenge: NonceText, by signer: ServerKey? = nil
    ) throws -> (SignedMessage<CreateSession.Request>, ServerKey, ServerKey) {
        let current = try ServerKey.generate()
        let next = try ServerKey.generate()
        let payload = CreateSession.Request(
            nonce: try freshNonce(), publicKey: current.publicKey,
            rotationHash: derivations.rotationHash(of: next.publicKey), device: device.id, challenge: challenge)
        return (try SignedMessage(payload, by: signer ?? device.current), current, next)
    }

    init(current: ServerKey, next: ServerKey, token: TokenText) {
        self.current = current
        self.next = next
        self.token = token
    }

    init(_ device: TestDevice, on server: TestServer) throws {
        let challenge = try server.challenge(device.identity)
        let (message, current, next) = try TestSession.opening(device, challenge)
        let (body, code) = try server.exchange(CreateSession.self, message.bytes, message.payload.nonce)
        #expect(code == nil)
        self.init(current: current, next: next, token: try #require(body).token)
    }

    func refreshing(by signer: ServerKey? = nil) throws -> (SignedMessage<RefreshSession.Request>, ServerKey) {
        let signer = signer ?? next
        let after = try ServerKey.generate()
        let payload = RefreshSession.Request(
            nonce: try freshNonce(), publicKey: signer.publicKey,
            rotationHash: derivations.rotationHash(of: after.publicKey), token: token)
        return (try SignedMessage(payload, by: signer), after)
    }
}

extension TestServer {
    func challenge(_ identity: IdentityID) throws -> NonceText {
        let nonce = try freshNonce()
        let message = UnsignedMessage(RequestSession.Request(nonce: nonce, identity: identity))
        let (body, code) = try exchange(RequestSession.self, message.bytes, nonce)
        #expect(code == nil)
        return try #require(body).challenge
    }

    /// Refreshes and returns the session as it is then, or the code of the refusal.
    func refresh(_ session: TestSession) throws -> (TestSession?, ErrorCode?) {
        let (message, after) = try session.refreshing()
        let (body, code) = try exchange(RefreshSession.self, message.bytes, message.payload.nonce)
        return (body.map { TestSession(current: session.next, next: after, token: $0.token) }, code)
    }
}
