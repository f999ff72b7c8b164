import BetterAuthMessages
import BetterAuthServer
import BetterAuthVerification
import RealParts
import ServerSubject
import Testing

@testable import BetterAuthPostgres

/// What was changed under a clock that was wrong, once it is right.
@Suite struct AccountClockTests {
    private static let year: Int64 = 365 * 86_400

    private final class Scene {
        let fixture: StoreFixture
        let server: TestServer
        var account: TestAccount

        init(_ kind: StoreKind) throws {
            fixture = try StoreFixture(kind)
            server = try TestServer(fixture.store)
            account = try TestAccount(on: server)
        }

        var identity: IdentityID { account.device.identity }
        var administration: AccountAdministration {
            AccountAdministration(fixture.store, Lifetimes(), clock: server.clock)
        }

        /// Does something while the clock is another one.
        func under<Value>(_ seconds: Int64, _ body: () throws -> Value) rethrows -> Value {
            server.clock.set(by: seconds)
            defer { server.clock.set(by: -seconds) }
            return try body()
        }

        func ask(_ line: String) throws -> String {
            try administration.answer(try #require(AccountAdministration.Request(line: line)))
        }

        /// Whether a device opens a session now that continues.
        func works(_ device: TestDevice) throws -> Bool {
            server.clock.advance(seconds: 1)
            return try server.refresh(TestSession(device, on: server)).1 == nil
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an account that was recovered under a clock that was ahead is not shut out`(_ kind: StoreKind) throws {
        let scene = try Scene(kind)
        let earlier = try TestSession(scene.account.device, on: scene.server)
        let new = try TestDevice(identity: scene.identity)
        try scene.under(Self.year) {
            let recovery = try new.recovery(with: scene.account.recoveryKey, next: RecoveryHash(freshDigest()))
            #expect(try scene.server.send(RecoverAccount.self, recovery) == nil)
        }
        #expect(try scene.works(new))
        #expect(try scene.server.refresh(earlier).1 == .invalidDevice)
        #expect(try !scene.ask("show \(scene.identity)").contains("warning"))
    }

    @Test(arguments: StoreKind.allCases)
    func `what ended under a clock that was ahead heals by a link, and by the operator's word`(
        _ kind: StoreKind
    ) throws {
        let scene = try Scene(kind)
        let identity = scene.identity
        let plain = try scene.ask("end-sessions \(identity)")
        #expect(plain == #"{"done":"end-sessions","identity":"\#(identity)"}"#)
        #expect(try scene.works(scene.account.device))
        let ahead = try scene.under(Self.year) { try scene.ask("end-sessions \(identity)") }
        #expect(!ahead.contains("warning"))
        #expect(try !scene.works(scene.account.device))
        // Everything that an operator could look at or try says why.
        for line in ["show", "lock", "unlock", "end-sessions"].map({ "\($0) \(identity)" }) {
            let said = try scene.ask(line)
            #expect(said.contains(#""warning":"sessions are marked as ended until 2027-01-02T"#), "\(said)")
        }
        #expect(try !scene.works(scene.account.device))
        // One that comes is under no mark, before and after the device that is.
        let linked = try scene.account.linked(on: scene.server)
        #expect(try scene.works(linked) && !scene.works(scene.account.device))
        // A clock that is behind, and a device that is not meant, lower nothing.
        try scene.under(-Self.year) { _ = try scene.ask("end-sessions \(identity)") }
        _ = try scene.ask("end-sessions \(identity) \(linked.id) clock-was-ahead")
        #expect(try scene.works(linked) && !scene.works(scene.account.device))
        let open = try TestSession(scene.account.device, on: scene.server)
        let said = try scene.ask("end-sessions \(identity) \(scene.account.device.id) clock-was-ahead")
        #expect(said == #"{"done":"end-sessions","identity":"\#(identity)"}"#)
        // What there was has ended, and nothing else.
        #expect(try scene.server.refresh(open).1 == .invalidDevice)
        #expect(try scene.works(scene.account.device) && scene.works(linked))
    }

    @Test func `a session of a clock that was ahead is refreshed by no clock that is right`() throws {
        let scene = try Scene(.memory)
        let ahead = try scene.under(Self.year) { try TestSession(scene.account.device, on: scene.server) }
        #expect(try scene.server.refresh(ahead).1 == .futureToken)
        // The clocks of two servers differ by less.
        let near = try scene.under(59) { try TestSession(scene.account.device, on: scene.server) }
        #expect(try scene.server.refresh(near).1 == nil)
    }

    @Test func `application servers are told of each mark and of its end`() async throws {
        let scene = try Scene(.postgres)
        let shared = SharedAccess(try #require(RedisLocation(DatabasePair.shared().redis.location)))
        let now = scene.server.clock.now
        let claims = try TestSession(scene.account.device, on: scene.server).claims
        for (line, isRevoked) in [("lock", true), ("unlock", true)] {
            _ = try scene.under(Self.year) { try scene.ask("\(line) \(scene.identity)") }
            #expect(try await shared.isRevoked(claims, now: now) == isRevoked)
        }
        _ = try scene.ask("end-sessions \(scene.identity) clock-was-ahead")
        #expect(try await shared.isRevoked(claims, now: now))
        scene.server.clock.advance(seconds: 1)
        let fresh = try TestSession(scene.account.device, on: scene.server).claims
        #expect(try await !shared.isRevoked(fresh, now: now))
        _ = try scene.under(Self.year) { try scene.ask("end-sessions \(scene.identity)") }
        #expect(try await shared.isRevoked(fresh, now: now))
        let linked = try scene.account.linked(on: scene.server)
        #expect(try await !shared.isRevoked(TestSession(linked, on: scene.server).claims, now: now))
        #expect(try await shared.isRevoked(fresh, now: now))
    }

    /// Redis forgets after a time that the server tells it, of a session that seems to end soon.
    @Test func `under a clock that is ahead Redis remembers a refresh for no less time`() throws {
        let scene = try Scene(.postgres)
        let session = try TestSession(scene.account.device, on: scene.server)
        let refused = try scene.under(11 * 3600) { try scene.server.refresh(session).1 }
        #expect(refused == nil)
        let redis = try RedisConnection(try #require(RedisLocation(DatabasePair.shared().redis.location)))
        let key = "holdfast:h:{\(try session.claims.rotationHash)}"
        guard case .number(let left) = try redis.run([Array("PTTL".utf8), Array(key.utf8)]) else {
            Issue.record("\(key) is not there")
            return
        }
        #expect(left > 43_200_000 - 600_000, "\(left)")
    }

    /// As earlier programs wrote it: for the whole account. They read what this one writes.
    @Test func `the mark of a whole account is honoured, and moved to the devices that it is about`() throws {
        let scene = try Scene(.memory)
        var account = try #require(try scene.fixture.store.account(scene.identity))
        account.voidBefore = scene.server.clock.now.adding(seconds: Self.year)
        let old = scene.account.device.id
        let now = scene.server.clock.now
        #expect(!account.honours(old, issuedAt: now) && account.markedUntil(now: now) == account.voidBefore)
        let (rotation, _) = try scene.account.device.rotation()
        let change = AccountChange(
            identity: scene.identity,
            kind: .rotate(
                AccountChange.Rotation(
                    device: old, publicKey: rotation.payload.authentication.publicKey,
                    revealed: derivations.rotationHash(of: rotation.payload.authentication.publicKey),
                    rotationHash: rotation.payload.authentication.rotationHash)),
            reply: try RandomChanges.reply(until: now), moment: now)
        guard case .commit(var changed, _) = change.decision(on: account) else {
            Issue.record("a rotation is refused")
            return
        }
        #expect(changed.voidBefore == .never && changed.devices[0].voidBefore == account.voidBefore)
        // An earlier program takes the later one of the two marks: what one refuses, the other does.
        for seconds in [-1, 0, 1] as [Int64] {
            let moment = account.voidBefore.adding(seconds: seconds)
            #expect(account.honours(old, issuedAt: moment) == changed.honours(old, issuedAt: moment))
        }
        let row = AccountCoding.encode(changed)
        #expect(row[0] == 2 && (try? unsafe AccountCoding.decode(row.span.bytes)) == changed)
        let new = try TestDevice(identity: scene.identity)
        changed.devices.append(
            Account.Device(id: new.id, publicKey: new.current.publicKey, rotationHash: new.rotationHash))
        #expect(changed.honours(new.id, issuedAt: now) && !changed.honours(old, issuedAt: now))
    }

    @Test func `accounts that a clock has marked are found among many`() throws {
        let scene = try Scene(.memory)
        let store = scene.fixture.store
        let now = scene.server.clock.now
        let key = try RandomChanges.key()
        for _ in 0..<1100 {
            let device = Account.Device(
                id: DeviceID(try freshDigest()), publicKey: key, rotationHash: RotationHash(try freshDigest()))
            let change = AccountChange(
                identity: IdentityID(try freshDigest()), kind: .create(device, RecoveryHash(try freshDigest())),
                reply: try RandomChanges.reply(until: now), moment: now)
            #expect(try done { store.apply(change, then: $0) } == .committed)
        }
        let administration = AccountAdministration(store, Lifetimes(), clock: scene.server.clock, countedAtOnce: 500)
        var (parts, last): (Int, String?) = (0, nil)
        var found: [Substring] = []
        func look() throws {
            (parts, last, found) = (0, nil, [])
            repeat {
                let line = "list \(last.map { $0 + " " } ?? "")clock-was-ahead"
                let said = try administration.answer(try #require(AccountAdministration.Request(line: line)))
                found += said.matches(of: /"identity":"([^"]+)"/).map(\.output.1)
                last = said.firstMatch(of: /"next":"([^"]+)"/).map { String($0.output.1) }
                parts += 1
            } while last != nil
        }
        try look()
        #expect(found.isEmpty && parts == 3)
        _ = try scene.under(Self.year) { try scene.ask("lock \(scene.identity)") }
        try look()
        #expect(found == [Substring(scene.identity.description)] && parts == 3)
        #expect(try scene.ask("list").contains("markedUntil") == scene.ask("list").contains("\(scene.identity)"))
        _ = try scene.ask("end-sessions \(scene.identity) clock-was-ahead")
        try look()
        #expect(found.isEmpty)
    }

    @Test func `the line of a request says what it reads`() throws {
        let (identity, device) = (IdentityID(try freshDigest()), DeviceID(try freshDigest()))
        let requests: [AccountAdministration.Request] = [
            .list(nil, clockWasAhead: true), .list(identity, clockWasAhead: true),
            .list(identity, clockWasAhead: false),
            .endSessions(identity, nil, clockWasAhead: true), .endSessions(identity, device, clockWasAhead: true),
            .endSessions(identity, nil, clockWasAhead: false), .endSessions(identity, device, clockWasAhead: false),
        ]
        for request in requests { #expect(AccountAdministration.Request(line: request.line) == request) }
        for line in [
            "clock-was-ahead", "count clock-was-ahead", "lock \(identity) clock-was-ahead", "end-sessions",
            "end-sessions clock-was-ahead", "end-sessions \(identity) \(device) \(device)",
            "end-sessions \(identity) clock-was-ahead clock-was-ahead", "list clock-was-ahead \(identity)",
            "end-sessions \(identity) clock-was-ahead ", "show clock-was-ahead",
        ] { #expect(AccountAdministration.Request(line: line) == nil, "\(line)") }
    }
}
