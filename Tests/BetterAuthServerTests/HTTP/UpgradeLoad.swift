import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Clients that live their lives while a server is replaced, and what they miss: accounts are made, sessions opened and
/// refreshed, keys rotated, devices linked and unlinked.
final class UpgradeLoad: Sendable {
    private let isEnding = Atomic(false)
    private let answered = Atomic(0)
    private let made = Atomic(0)
    private let failures = Mutex<[String]>([])
    private let counts = Mutex<[String: Int]>([:])
    private let clients = DispatchGroup()
    private let address: String

    init(_ address: String, clients count: Int = 6) {
        self.address = address
        for _ in 0..<count {
            clients.enter()
            Thread { [self] in
                let caller = caller
                while !isEnding.load(ordering: .relaxed), attempt({ try live(caller) }) {}
                clients.leave()
            }.start()
        }
    }

    /// Over one connection as long as the other side keeps it. A request on a connection that was used before is
    /// repeated, byte for byte, when that has ended meanwhile, as clients do with requests that may be repeated
    /// (RFC 9112, section 9.3.1): a busy machine lets it rest for any time.
    private final class Caller {
        private let address: String
        private let count: (String) -> Void
        private var client: HTTPClient?

        /// - Parameter count: Told of each operation that was answered for the first time.
        init(_ address: String, count: @escaping (String) -> Void) { (self.address, self.count) = (address, count) }

        func post(_ path: String, _ body: [UInt8]) throws -> HTTPClient.Reply {
            while true {
                let wasUsed = client != nil
                do {
                    let current = try client ?? HTTPClient(address)
                    client = nil
                    let reply = try current.post(path, body)
                    if reply.headers["connection"] != "close" { client = current }
                    return reply
                } catch {
                    guard wasUsed else { throw HTTPClient.Problem(description: "\(path): \(error)") }
                }
            }
        }

        /// The body of the response.
        func send<Kind: RoutedExchange>(_ kind: Kind.Type, _ body: [UInt8]) throws -> Kind.ResponseBody {
            let reply = try post(Kind.path, body)
            guard reply.status == 200 else {
                throw HTTPClient.Problem(description: "\(Kind.path): \(reply.status) \(reply.text)")
            }
            count(Kind.path)
            return try SignedMessage<Response<Kind>>(parsing: reply.body).payload.body
        }

        func challenge(_ device: TestDevice) throws -> NonceText {
            let request = RequestSession.Request(nonce: try freshNonce(), identity: device.identity)
            return try send(RequestSession.self, UnsignedMessage(request).bytes).challenge
        }

        func account() throws -> TestDevice {
            let hash = RecoveryHash(try freshDigest())
            let device = try TestDevice(recovery: hash)
            _ = try send(CreateAccount.self, device.creation(hash).bytes)
            return device
        }

        func open(_ device: TestDevice, _ challenge: NonceText) throws -> TestSession {
            let (message, current, next) = try TestSession.opening(device, challenge)
            let token = try send(CreateSession.self, message.bytes).token
            return TestSession(current: current, next: next, token: token)
        }

        func refresh(_ session: inout TestSession) throws {
            let (message, after) = try session.refreshing()
            let token = try send(RefreshSession.self, message.bytes).token
            session = TestSession(current: session.next, next: after, token: token)
        }

        func rotate(_ device: inout TestDevice) throws {
            let (message, after) = try device.rotation()
            _ = try send(RotateDevice.self, message.bytes)
            device = after
        }
    }

    private var caller: Caller {
        Caller(address) { [self] path in counts.withLock { $0[path, default: 0] += 1 } }
    }

    /// One account, from its creation on.
    private func live(_ caller: Caller) throws {
        func done() { answered.add(1, ordering: .relaxed) }
        var phone = try caller.account()
        made.add(1, ordering: .relaxed)
        done()
        var session = try caller.open(phone, caller.challenge(phone))
        done()
        try caller.refresh(&session)
        done()
        try caller.rotate(&phone)
        done()
        var laptop = try TestDevice(identity: phone.identity)
        let (linking, linked) = try phone.linking(laptop.container())
        _ = try caller.send(LinkDevice.self, linking.bytes)
        phone = linked
        done()
        var second = try caller.open(laptop, caller.challenge(laptop))
        try caller.rotate(&laptop)
        try caller.refresh(&second)
        done()
        let (unlinking, unlinked) = try phone.unlinking(laptop.id)
        _ = try caller.send(UnlinkDevice.self, unlinking.bytes)
        // The answer is lost: the same bytes are no second unlinking.
        #expect(try caller.post(UnlinkDevice.path, unlinking.bytes).status == 200)
        phone = unlinked
        done()
        try caller.refresh(&session)
        try caller.rotate(&phone)
        done()
    }

    /// - Returns: Whether it worked: a client that has failed once proves nothing more.
    @discardableResult
    private func attempt(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            failures.withLock { $0.append("\(error)") }
            return false
        }
    }

    /// Does what replaces the server in the middle of what clients do: one has asked for a session, one has lost the
    /// reply to its session and one that to its refresh, one has a session and no more, one names nobody's identity.
    func across(_ replace: () throws -> Void) rethrows {
        let caller = caller
        var after: [() throws -> Void] = []
        attempt {
            var phone = try caller.account()
            made.add(1, ordering: .relaxed)
            let opening = try TestSession.opening(phone, caller.challenge(phone)).0
            let opened = try caller.post(CreateSession.path, opening.bytes)
            var session = try caller.open(phone, caller.challenge(phone))
            let refreshing = try session.refreshing().0
            let refreshed = try caller.post(RefreshSession.path, refreshing.bytes)
            var other = try caller.open(phone, caller.challenge(phone))
            let asked = try caller.challenge(phone)
            let stranger = try TestDevice()
            let unknown = try TestSession.opening(stranger, caller.challenge(stranger)).0
            after.append { [self] in
                session = try caller.open(phone, asked)
                for (path, message, reply) in [
                    (CreateSession.path, opening.bytes, opened), (RefreshSession.path, refreshing.bytes, refreshed),
                ] where try caller.post(path, message).body != reply.body {
                    throw HTTPClient.Problem(description: "\(path) has another reply")
                }
                try caller.refresh(&other)
                try caller.refresh(&session)
                try caller.rotate(&phone)
                let refused = try caller.post(CreateSession.path, unknown.bytes)
                guard refused.text.contains("BA103") else {
                    throw HTTPClient.Problem(description: "a stranger is told \(refused.text)")
                }
                answered.add(1, ordering: .relaxed)
            }
        }
        try replace()
        for step in after { attempt(step) }
    }

    /// Returns when so many more steps were done, or one failed.
    func waitForMore(_ count: Int) {
        let before = answered.load(ordering: .relaxed)
        let isDone = Patience.wait {
            answered.load(ordering: .relaxed) >= before + count || failures.withLock { !$0.isEmpty }
        }
        if !isDone { failures.withLock { $0.append("nobody answers") } }
    }

    /// Ends the clients.
    /// - Returns: What failed.
    func end() -> [String] {
        isEnding.store(true, ordering: .relaxed)
        clients.wait()
        return failures.withLock { $0 }
    }

    /// How many operations of each kind were answered, by what the audit log calls them.
    var acknowledged: [String: Int] {
        let counts = counts.withLock { $0 }
        let named = counts.compactMap { path, count in
            AuthOperation(path: path).flatMap { $0.auditName }.map { ($0, count) }
        }
        return Dictionary(uniqueKeysWithValues: named)
    }

    /// Accounts that were made.
    var accounts: Int { made.load(ordering: .relaxed) }

    /// Whether a SQLite file that no server has is whole and has all of them.
    func expectAccounts(in database: String, _ folder: String, sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        let checked = try runServerCommand(["check", "--database", database], folder)
        let count = checked.output.split(separator: " ").first.flatMap { Int($0) } ?? 0
        #expect(checked.status == 0 && count >= accounts, "\(checked.output)", sourceLocation: sourceLocation)
    }
}
