import BetterAuthMessages
import Dispatch
import Foundation
import ServerSubject
import Synchronization
import Testing

@testable import BetterAuthServer

/// What every store promises.
@Suite struct StoreContractTests {
    @Test(arguments: StoreKind.allCases)
    func whatIsCommittedIsRead(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        var changes = RandomChanges(now: TestClock().now)
        for _ in 0..<300 {
            let (change, account) = try changes.next()
            #expect(try done { fixture.store.apply(change, then: $0) } == .committed)
            #expect(try fixture.store.account(change.identity) == account)
        }
        try fixture.reopen()
        if kind != .memory {
            for (identity, account) in changes.model { #expect(try fixture.store.account(identity) == account) }
        }
        #expect(try fixture.store.account(IdentityID(RandomChanges.digest())) == nil)
        try fixture.store.probe(now: TestClock().now)
    }

    /// The thread that answers may be the one that is waited for.
    @Test(arguments: StoreKind.allCases)
    func `a completion that waits for its store holds nothing up`(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let store = fixture.store
        var changes = RandomChanges(now: TestClock().now)
        let (change, _) = try changes.next()
        let error: StoreError? = try done { then in
            store.apply(change) { _ in
                let error: StoreError?
                do throws(StoreError) {
                    try store.probe(now: TestClock().now)
                    error = nil
                } catch let refusal { error = refusal }
                then(.success(error))
            }
        }
        #expect(
            (error == nil) == (kind == .memory || kind == .postgres),
            "\(error.map(String.init(describing:)) ?? "it was answered")")
        try store.probe(now: TestClock().now)
    }

    @Test(arguments: StoreKind.allCases)
    func aRepeatGetsTheReplyAndARefusalChangesNothing(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        var changes = RandomChanges(now: TestClock().now)
        let (change, account) = try changes.next()
        #expect(try done { fixture.store.apply(change, then: $0) } == .committed)
        try fixture.reopen()
        if kind == .memory { return }
        #expect(try done { fixture.store.apply(change, then: $0) } == .repeated(#require(change.reply)))
        let other = AccountChange(
            identity: change.identity, kind: change.kind, reply: try RandomChanges.reply(until: change.moment),
            moment: change.moment)
        #expect(try done { fixture.store.apply(other, then: $0) } == .refused(.plain(.alreadyRegistered)))
        #expect(try fixture.store.account(change.identity) == account)
    }

    @Test(arguments: StoreKind.allCases)
    func challengesAreUsedOnceAndExpire(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let now = TestClock().now
        var changes = RandomChanges(now: now)
        let (change, account) = try changes.next()
        _ = try done { fixture.store.apply(change, then: $0) }
        let device = try #require(account.devices.first)
        let challenge = Challenge(
            nonce: try freshNonce(), identity: change.identity, until: now.adding(seconds: 60), moment: now)
        try done { fixture.store.open(challenge, then: $0) }
        let operation = OperationKey(try RandomChanges.digest())
        #expect(
            try fixture.store.challenge(challenge.nonce, answeredBy: operation, now: challenge.until)
                == .open(change.identity))
        // Redis has a clock of its own.
        if kind != .postgres {
            #expect(
                try fixture.store.challenge(
                    challenge.nonce, answeredBy: operation, now: challenge.until.adding(seconds: 1)) == .unknown)
        }
        func answer(_ operation: OperationKey, key: PublicKeyText) -> ChallengeAnswer {
            let reply = SessionReply(identity: change.identity, device: device.id, bytes: [1, 2, 3])
            return ChallengeAnswer(
                challenge: challenge.nonce, operation: operation, reply: reply, publicKey: key,
                until: now.adding(seconds: 300), moment: now)
        }
        if kind == .memory {
            // Where accounts lie in the same database, the key that answered must still be that of the device.
            let stale = answer(operation, key: try RandomChanges.key())
            #expect(try done { fixture.store.answer(stale, then: $0) } == .revoked)
        }
        let first = answer(operation, key: device.publicKey)
        #expect(try done { fixture.store.answer(first, then: $0) } == .committed)
        #expect(try done { fixture.store.answer(first, then: $0) } == .repeated(first.reply))
        #expect(
            try fixture.store.challenge(challenge.nonce, answeredBy: operation, now: now) == .answered(first.reply))
        let second = answer(OperationKey(try RandomChanges.digest()), key: device.publicKey)
        #expect(try done { fixture.store.answer(second, then: $0) } == .used)
        #expect(
            try fixture.store.challenge(challenge.nonce, answeredBy: second.operation, now: now) == .unknown)
    }

    @Test(arguments: StoreKind.allCases)
    func aKeyRefreshesOnce(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let now = TestClock().now
        var changes = RandomChanges(now: now)
        let (change, account) = try changes.next()
        _ = try done { fixture.store.apply(change, then: $0) }
        let device = try #require(account.devices.first)
        let key = RotationHash(try RandomChanges.digest())
        func refresh(_ device: DeviceID) throws -> RefreshReservation {
            try RandomChanges.refresh(change.identity, device, key, now: now)
        }
        let stranger = try refresh(DeviceID(RandomChanges.digest()))
        #expect(try done { fixture.store.reserve(stranger, then: $0) } == .revoked)
        let first = try refresh(device.id)
        #expect(try done { fixture.store.reserve(first, then: $0) } == .committed)
        let second = try refresh(device.id)
        #expect(try done { fixture.store.reserve(second, then: $0) } == .used)
        if kind != .memory { try fixture.reopen() }
        #expect(try done { fixture.store.reserve(second, then: $0) } == .used)
        #expect(try done { fixture.store.reserve(first, then: $0) } == .repeated(first.reply))
    }

    @Test(arguments: StoreKind.allCases)
    func tokensAreVoidOnceTheirDeviceIsGone(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        var account = try TestAccount(on: server)
        let second = try account.linked(on: server)
        let claims = try TestSession(second, on: server).claims
        #expect(try !fixture.store.isVoid(claims.device, of: claims.identity, issuedAt: claims.issuedAt))
        let (unlink, after) = try account.device.unlinking(second.id)
        #expect(try server.send(UnlinkDevice.self, unlink) == nil)
        account.device = after
        #expect(try fixture.store.isVoid(claims.device, of: claims.identity, issuedAt: claims.issuedAt))
        let own = try TestSession(account.device, on: server).claims
        #expect(try server.send(DeleteAccount.self, account.device.deletion()) == nil)
        #expect(try fixture.store.isVoid(own.device, of: own.identity, issuedAt: own.issuedAt))
    }
}

/// 64 clients that exclude each other: one wins, whichever the store.
@Suite struct ConflictTests {
    private static let clients = 64

    /// Posts bodies at the same time and returns the codes of the replies.
    private func race(_ server: TestServer, _ operation: AuthOperation, _ bodies: [[UInt8]]) -> [ErrorCode?] {
        let codes = Mutex<[ErrorCode?]>([])
        DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
            let reply = server.post(operation, bodies[index])
            codes.withLock { $0.append(reply.code) }
        }
        return codes.withLock { $0 }
    }

    private func expectOneWinner(_ codes: [ErrorCode?], others: ErrorCode) {
        #expect(codes.count(where: { $0 == nil }) == 1)
        #expect(codes.count(where: { $0 == others }) == codes.count - 1, "\(codes)")
    }

    @Test(arguments: StoreKind.allCases)
    func oneRotationWins(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        let account = try TestAccount(on: server)
        let bodies = try (0..<Self.clients).map { _ in try account.device.rotation().0.bytes }
        expectOneWinner(race(server, .rotateDevice, bodies), others: .invalidHash)
    }

    @Test(arguments: StoreKind.allCases)
    func oneAnswerToAChallengeWins(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        let account = try TestAccount(on: server)
        let challenge = try server.challenge(account.device.identity)
        let bodies = try (0..<Self.clients).map { _ in try TestSession.opening(account.device, challenge).0.bytes }
        expectOneWinner(race(server, .createSession, bodies), others: .unknownChallenge)
    }

    @Test(arguments: StoreKind.allCases)
    func oneRefreshWins(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        let bodies = try (0..<Self.clients).map { _ in try session.refreshing().0.bytes }
        expectOneWinner(race(server, .refreshSession, bodies), others: .replayed)
    }

    @Test(arguments: StoreKind.allCases)
    func oneRecoveryWins(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        let account = try TestAccount(on: server)
        let bodies = try (0..<Self.clients).map { _ in
            try TestDevice(identity: account.device.identity)
                .recovery(with: account.recoveryKey, next: RecoveryHash(freshDigest())).bytes
        }
        expectOneWinner(race(server, .recoverAccount, bodies), others: .invalidHash)
        #expect(try fixture.store.account(account.device.identity)?.devices.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func oneCreationWins(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        let bodies = try (0..<Self.clients).map { _ in try device.creation(hash).bytes }
        expectOneWinner(race(server, .createAccount, bodies), others: .alreadyRegistered)
    }

    /// The same bytes from many connections at once: all get the one reply.
    @Test(arguments: StoreKind.allCases)
    func identicalRequestsAgree(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        let account = try TestAccount(on: server)
        let body = try account.device.rotation().0.bytes
        let replies = Mutex<Set<ServerReply>>([])
        DispatchQueue.concurrentPerform(iterations: Self.clients) { _ in
            let reply = server.post(.rotateDevice, body)
            replies.withLock { _ = $0.insert(reply) }
        }
        #expect(replies.withLock { $0 }.map(\.code) == [nil])
    }

    /// Of a rotation, an unlinking, a recovery and a deletion at once, what is left is what some order of them leaves.
    @Test(arguments: StoreKind.allCases)
    func mixedOperationsLeaveAWholeAccount(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        for _ in 0..<8 {
            let server = try TestServer(fixture.store)
            var account = try TestAccount(on: server)
            let second = try account.linked(on: server)
            let new = try TestDevice(identity: account.device.identity)
            let third = try TestDevice(identity: account.device.identity)
            let work: [(AuthOperation, [UInt8])] = [
                (.rotateDevice, try account.device.rotation().0.bytes),
                (.unlinkDevice, try second.unlinking(account.device.id).0.bytes),
                (.linkDevice, try second.linking(third.container()).0.bytes),
                (
                    .recoverAccount,
                    try new.recovery(with: account.recoveryKey, next: RecoveryHash(freshDigest())).bytes
                ),
                (.deleteAccount, try account.device.deletion().bytes),
            ]
            let codes = Mutex<[AuthOperation: ErrorCode?]>([:])
            DispatchQueue.concurrentPerform(iterations: work.count) { index in
                let reply = server.post(work[index].0, work[index].1)
                codes.withLock { $0[work[index].0] = .some(reply.code) }
            }
            let result = codes.withLock { $0 }
            let left = try #require(try fixture.store.account(account.device.identity))
            if result[.deleteAccount] == .some(nil) {
                #expect(left.isDeleted && left.devices.isEmpty)
            } else if result[.recoverAccount] == .some(nil) {
                #expect(left.devices.map(\.id) == [new.id])
                #expect(left.former.contains(account.device.id) && left.former.contains(second.id))
            }
            // Two steps of one chain cannot both be taken.
            #expect(result[.rotateDevice] != .some(nil) || result[.deleteAccount] != .some(nil))
            #expect(result[.unlinkDevice] != .some(nil) || result[.linkDevice] != .some(nil))
        }
    }
}
