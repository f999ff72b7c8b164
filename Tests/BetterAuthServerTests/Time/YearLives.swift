import BetterAuthMessages
import BetterAuthServer
import SeededNumbers
import TestSupport
import Testing

/// Accounts and devices that come and go at a server, each operation with its line in the audit log.
final class YearLives {
    /// An account, its devices, and the session of the first.
    private struct Life {
        var account: TestDevice
        var other: TestDevice?
        var session: TestSession
        let sessionEnd: Timestamp
    }

    /// Accounts at one time.
    private static let most = 12

    private let server: AuthServer
    private let clock: TestClock
    private let audit: AuditLog
    private var generator = TestRun.generator("year")
    private var lives: [Life] = []
    private(set) var (devices, accounts, refreshes) = (0, 0, 0)
    /// The key that signed the last response.
    private(set) var signer: PublicKeyText?

    init(_ server: AuthServer, _ clock: TestClock, _ audit: AuditLog) {
        (self.server, self.clock, self.audit) = (server, clock, audit)
    }

    /// - Returns: The code of a refusal.
    private func ask<X: RoutedExchange>(
        _ kind: X.Type, _ body: [UInt8], _ identity: IdentityID
    ) throws -> (X.ResponseBody?, ErrorCode?) {
        let answer = Answer<ServerReply>()
        let operation = try #require(AuthOperation(path: X.path))
        server.handle(operation, body) { answer.give($0) }
        let reply = answer.wait()
        if let name = operation.auditName {
            let entry = AuditEntry(
                name, reply.code == nil ? .done : .refused, code: reply.code, identity: identity, request: "year",
                address: nil, moment: clock.now)
            #expect(audit.recordAndWait(entry))
        }
        guard reply.code == nil else { return (nil, reply.code) }
        let response = try SignedMessage<Response<X>>(parsing: reply.body)
        signer = response.payload.serverIdentity
        return (response.payload.body, nil)
    }

    private func done<X: RoutedExchange>(
        _ kind: X.Type, _ message: SignedMessage<X.Request>, _ identity: IdentityID
    ) throws -> X.ResponseBody {
        let (body, code) = try ask(kind, message.bytes, identity)
        #expect(code == nil, "\(kind)")
        return try #require(body)
    }

    /// An hour's operations.
    func live() throws {
        try create()
        // A stranger asks for an identity that nobody has.
        let nobody = IdentityID(try freshDigest())
        let question = UnsignedMessage(RequestSession.Request(nonce: try freshNonce(), identity: nobody))
        _ = try ask(RequestSession.self, question.bytes, nobody)
        for index in lives.indices { try refresh(index) }
        guard lives.count > YearLives.most else { return }
        try leave(lives.remove(at: Int.random(in: lives.indices, using: &generator)))
    }

    private func create() throws {
        let hash = RecoveryHash(try freshDigest())
        var device = try TestDevice(recovery: hash)
        _ = try done(CreateAccount.self, device.creation(hash), device.identity)
        let other = try TestDevice(identity: device.identity)
        let (linking, linked) = try device.linking(other.container())
        _ = try done(LinkDevice.self, linking, device.identity)
        device = linked
        let session = try open(device)
        accounts += 1
        devices += 2
        let end = clock.now.adding(seconds: server.lifetimes.refresh)
        lives.append(Life(account: device, other: other, session: session, sessionEnd: end))
    }

    private func open(_ device: TestDevice) throws -> TestSession {
        let question = UnsignedMessage(RequestSession.Request(nonce: try freshNonce(), identity: device.identity))
        let challenge = try #require(try ask(RequestSession.self, question.bytes, device.identity).0).challenge
        let (opening, current, next) = try TestSession.opening(device, challenge)
        let body = try done(CreateSession.self, opening, device.identity)
        return TestSession(current: current, next: next, token: body.token)
    }

    /// Refreshes a session until its end, and opens another one then.
    private func refresh(_ index: Int) throws {
        let life = lives[index]
        let (message, after) = try life.session.refreshing()
        let (body, code) = try ask(RefreshSession.self, message.bytes, life.account.identity)
        if clock.now <= life.sessionEnd {
            #expect(code == nil)
            refreshes += 1
            let token = try #require(body).token
            lives[index].session = TestSession(current: life.session.next, next: after, token: token)
            return
        }
        #expect(code != nil)
        let session = try open(life.account)
        lives[index] = Life(
            account: life.account, other: life.other, session: session,
            sessionEnd: clock.now.adding(seconds: server.lifetimes.refresh))
    }

    private func leave(_ life: Life) throws {
        var device = life.account
        if let other = life.other {
            let (unlinking, after) = try device.unlinking(other.id)
            _ = try done(UnlinkDevice.self, unlinking, device.identity)
            device = after
        }
        _ = try done(DeleteAccount.self, device.deletion(), device.identity)
    }
}
