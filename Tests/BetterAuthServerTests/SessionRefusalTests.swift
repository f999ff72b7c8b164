import BetterAuthVerification
import BetterAuthMessages
import Cryptography
import MemoryServerStore
import Testing

import MemoryServerStore

@testable import BetterAuthServer

/// Of protocol.md 12 and 13, what is about sessions.
@Suite struct SessionRefusalTests {
    @Test func aChallengeIsUsedOnce() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let challenge = try server.challenge(account.device.identity)
        let first = try TestSession.opening(account.device, challenge).0
        let second = try TestSession.opening(account.device, challenge).0
        #expect(try server.send(CreateSession.self, first) == nil)
        #expect(try server.send(CreateSession.self, second) == .unknownChallenge)
    }

    @Test func aChallengeExpires() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let challenge = try server.challenge(account.device.identity)
        let late = try server.challenge(account.device.identity)
        server.clock.advance(seconds: 60)
        #expect(try server.send(CreateSession.self, TestSession.opening(account.device, challenge).0) == nil)
        server.clock.advance(milliseconds: 1)
        #expect(
            try server.send(CreateSession.self, TestSession.opening(account.device, late).0)
                == .unknownChallenge)
        let invented = try TestSession.opening(account.device, freshNonce()).0
        #expect(try server.send(CreateSession.self, invented) == .unknownChallenge)
    }

    @Test func aChallengeIsBoundToItsIdentity() throws {
        let server = try TestServer()
        let mine = try TestAccount(on: server)
        let theirs = try TestAccount(on: server)
        let challenge = try server.challenge(mine.device.identity)
        #expect(
            try server.send(CreateSession.self, TestSession.opening(theirs.device, challenge).0)
                == .invalidDevice)
    }

    /// A forger who has overheard a challenge does not use it up.
    @Test func aWrongSignatureLeavesTheChallenge() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let challenge = try server.challenge(account.device.identity)
        let forged = try TestSession.opening(account.device, challenge, by: .generate()).0
        #expect(try server.send(CreateSession.self, forged) == .wrongSignature)
        // The next key does not open sessions before it is in use.
        let early = try TestSession.opening(account.device, challenge, by: account.device.next).0
        #expect(try server.send(CreateSession.self, early) == .wrongSignature)
        #expect(try server.send(CreateSession.self, TestSession.opening(account.device, challenge).0) == nil)
    }

    @Test func nobodyLearnsWhetherAnIdentityExists() throws {
        let store = MemoryStore()
        let server = try TestServer(store)
        let account = try TestAccount(on: server)
        let stranger = try TestDevice()
        for identity in [account.device.identity, IdentityID(try freshDigest())] {
            // Neither by the challenge nor by what an answer to it is told.
            let challenge = try server.challenge(identity)
            let answer = try TestSession.opening(stranger, challenge).0
            #expect(try server.send(CreateSession.self, answer) == .invalidDevice)
            #expect(try server.send(CreateSession.self, answer) == .invalidDevice)
            server.clock.advance(seconds: 62)
            #expect(try server.send(CreateSession.self, answer) == .unknownChallenge)
        }
        let invented = try TestSession.opening(stranger, freshNonce()).0
        #expect(try server.send(CreateSession.self, invented) == .unknownChallenge)
    }

    /// Not by what is forgotten either: too many challenges, the moment at which they end, a clock that went back.
    @Test(arguments: [StoreKind.memory, .sqlite])
    func `nothing that is forgotten tells whether an identity exists`(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        let account = try TestAccount(on: server)
        let stranger = try TestDevice()
        let identities = [account.device.identity, IdentityID(try freshDigest())]
        func refusals(asking count: Int = 1, _ event: () throws -> Void = {}) throws -> [ErrorCode?] {
            let asked = try identities.map { identity in try (0..<count).map { _ in try server.challenge(identity) } }
            try event()
            return try asked.map { try server.send(CreateSession.self, TestSession.opening(stranger, $0[0]).0) }
        }
        for count in [1, 15, 16, 17, 20] {
            let code = count > 16 ? ErrorCode.unknownChallenge : .invalidDevice
            #expect(try refusals(asking: count) == [code, code], "\(count)")
            server.clock.advance(seconds: 61)
        }
        // A challenge that lasts into the next second.
        for (milliseconds, code) in [(60_000, .invalidDevice), (60_001, .unknownChallenge)] as [(Int64, ErrorCode)] {
            #expect(try refusals { server.clock.advance(milliseconds: milliseconds) } == [code, code])
        }
        #expect(try refusals { server.clock.advance(seconds: -30) } == [.invalidDevice, .invalidDevice])
        // An account that was deleted.
        let deletion = AccountChange(identity: account.device.identity, .delete, moment: server.clock.now)
        #expect(try done { fixture.store.apply(deletion, then: $0) } == .committed)
        #expect(try refusals() == [.invalidDevice, .invalidDevice])
    }

    @Test func revokedDevicesOpenAndRefreshNothing() throws {
        let server = try TestServer()
        var account = try TestAccount(on: server)
        let second = try account.linked(on: server)
        let session = try TestSession(second, on: server)
        let challenge = try server.challenge(second.identity)
        let (unlink, _) = try account.device.unlinking(second.id)
        #expect(try server.send(UnlinkDevice.self, unlink) == nil)
        #expect(try server.refresh(session).1 == .invalidDevice)
        #expect(
            try server.send(CreateSession.self, TestSession.opening(second, challenge).0) == .invalidDevice)
    }

    @Test func recoveryVoidsEarlierTokens() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        let claims = try session.claims
        #expect(
            try !server.server.store.isVoid(claims.device, of: claims.identity, issuedAt: claims.issuedAt))
        server.clock.advance(milliseconds: 1)
        let new = try TestDevice(identity: account.device.identity)
        let recovery = try new.recovery(with: account.recoveryKey, next: RecoveryHash(freshDigest()))
        #expect(try server.send(RecoverAccount.self, recovery) == nil)
        #expect(try server.refresh(session).1 == .invalidDevice)
        #expect(
            try server.server.store.isVoid(claims.device, of: claims.identity, issuedAt: claims.issuedAt))
        let renewed = try TestSession(new, on: server)
        #expect(try server.refresh(renewed).1 == nil)
    }

    /// Also when its token is too old for access, and up to the end of the session; never for who is gone.
    @Test func aSessionLivesBeyondItsToken() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        server.clock.advance(seconds: 901)
        let second = try #require(try server.refresh(session).0)
        #expect(try second.claims.refreshExpiry == session.claims.refreshExpiry)
        server.clock.advance(seconds: 43_200 - 901)
        let last = try #require(try server.refresh(second).0)
        #expect(try last.claims.refreshExpiry == session.claims.refreshExpiry)
        server.clock.advance(milliseconds: 1)
        #expect(try server.refresh(last).1 == .expiredToken)
        let other = try TestSession(account.device, on: server)
        #expect(try server.send(DeleteAccount.self, account.device.deletion()) == nil)
        #expect(try server.refresh(other).1 == .invalidDevice)
    }

    @Test func aTokenIsRefreshedOnce() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        let (first, second) = (try session.refreshing().0, try session.refreshing().0)
        #expect(try server.send(RefreshSession.self, first) == nil)
        #expect(try server.send(RefreshSession.self, second) == .replayed)
        // For as long as it could be refreshed at all.
        server.clock.advance(seconds: 43_200)
        #expect(try server.send(RefreshSession.self, second) == .replayed)
        server.clock.advance(milliseconds: 1)
        #expect(try server.send(RefreshSession.self, second) == .expiredToken)
    }

    @Test func aRefreshNeedsTheCommittedKey() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        #expect(try server.send(RefreshSession.self, session.refreshing(by: .generate()).0) == .invalidHash)
        #expect(
            try server.send(RefreshSession.self, session.refreshing(by: session.current).0) == .invalidHash)
        let message = try session.refreshing().0
        let forged = try SignedMessage(message.payload, by: session.current)
        #expect(try server.send(RefreshSession.self, forged) == .wrongSignature)
    }

    @Test func aRefreshNeedsATokenOfThisServer() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        var session = try TestSession(account.device, on: server)
        let claims = try session.claims
        let gzip = ZlibTokenCompression()
        func reissued(by issuer: ServerKey, named: PublicKeyText) throws -> TokenText {
            let forged = AccessClaims(
                serverIdentity: named, device: claims.device, identity: claims.identity, publicKey: claims.publicKey,
                rotationHash: claims.rotationHash, issuedAt: claims.issuedAt, expiry: claims.expiry,
                refreshExpiry: claims.refreshExpiry, attributes: claims.attributes)
            return try AccessToken(forged) { try issuer.sign($0) }.text(gzip)
        }
        let stranger = try ServerKey.generate()
        session.token = try reissued(by: stranger, named: stranger.publicKey)
        #expect(try server.refresh(session).1 == .unknownServer)
        session.token = try reissued(by: stranger, named: server.accessKey.publicKey)
        #expect(try server.refresh(session).1 == .wrongSignature)
        // The response key is no access key.
        session.token = try reissued(by: server.responseKey, named: server.responseKey.publicKey)
        #expect(try server.refresh(session).1 == .unknownServer)
    }

    @Test func challengesOfAnIdentityAreBounded() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        var challenges: [NonceText] = []
        for _ in 0...ChallengeBook.maximumPerIdentity {
            challenges.append(try server.challenge(account.device.identity))
        }
        // The earliest one went for the last one.
        #expect(
            try server.send(CreateSession.self, TestSession.opening(account.device, challenges[0]).0)
                == .unknownChallenge)
        for challenge in challenges.dropFirst() {
            #expect(try server.send(CreateSession.self, TestSession.opening(account.device, challenge).0) == nil)
        }
    }
    /// Whoever asks for all identities: the earliest challenges go, and no more memory is taken.
    @Test func challengesOfAllAreBounded() throws {
        let now = TestClock().now
        var book = ChallengeBook(challenges: 3, replies: 2)
        let challenges = try (0..<5).map { index in
            Challenge(
                nonce: try freshNonce(), identity: IdentityID(try freshDigest()),
                until: now.adding(seconds: 60 + Int64(index)), moment: now)
        }
        for challenge in challenges { book.open(challenge) }
        #expect(book.count == 3)
        let operations = try (0..<3).map { _ in OperationKey(try freshDigest()) }
        for challenge in challenges.prefix(2) {
            #expect(book.state(of: challenge.nonce, answeredBy: operations[0], now: now) == .unknown)
        }
        for (challenge, operation) in zip(challenges.suffix(3), operations) {
            let device = DeviceID(try freshDigest())
            let reply = SessionReply(identity: challenge.identity, device: device, bytes: [1])
            let answer = ChallengeAnswer(
                challenge: challenge.nonce, operation: operation, reply: reply,
                publicKey: try ServerKey.generate().publicKey, until: challenge.until, moment: now)
            let outcome = book.answer(answer)
            #expect(outcome == .committed)
        }
        // Of the replies too the earliest goes.
        #expect(book.count == 0)
        #expect(operations.map { book.reply(to: $0, now: now) != nil } == [false, true, true])
    }
}
