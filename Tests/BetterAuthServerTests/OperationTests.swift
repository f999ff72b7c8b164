import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import Testing

@Suite struct OperationTests {
    @Test func anAccountLivesItsWholeLife() throws {
        let server = try TestServer()
        var account = try TestAccount(on: server)

        var session = try TestSession(account.device, on: server)
        let claims = try session.claims
        #expect(claims.serverIdentity == server.accessKey.publicKey)
        #expect(claims.device == account.device.id && claims.identity == account.device.identity)
        #expect(claims.publicKey == session.current.publicKey)
        #expect(claims.issuedAt == server.clock.now)
        #expect(claims.expiry.milliseconds == claims.issuedAt.milliseconds + 900_000)
        #expect(claims.refreshExpiry.milliseconds == claims.issuedAt.milliseconds + 43_200_000)
        #expect(String(decoding: claims.attributes.bytes, as: UTF8.self).contains("user"))

        // Past the end of access: refreshing does not look at it.
        server.clock.advance(seconds: 1000)
        let refreshed = try server.refresh(session)
        session = try #require(refreshed.0)
        let next = try session.claims
        #expect(next.issuedAt == server.clock.now && next.refreshExpiry == claims.refreshExpiry)
        #expect(next.publicKey == session.current.publicKey && next.attributes == claims.attributes)

        let (rotation, rotated) = try account.device.rotation()
        #expect(try server.send(RotateDevice.self, rotation) == nil)
        account.device = rotated
        _ = try TestSession(account.device, on: server)

        let second = try account.linked(on: server)
        _ = try TestSession(second, on: server)
        let (unlinking, afterUnlink) = try account.device.unlinking(second.id)
        #expect(try server.send(UnlinkDevice.self, unlinking) == nil)
        account.device = afterUnlink

        let newRecovery = try ServerKey.generate()
        let (change, changed) = try account.device.changingRecovery(
            derivations.recoveryHash(of: newRecovery.publicKey))
        #expect(try server.send(ChangeRecoveryKey.self, change) == nil)
        account.device = changed

        let recovered = try TestDevice(identity: account.device.identity)
        let recovery = try recovered.recovery(with: newRecovery, next: RecoveryHash(freshDigest()))
        #expect(try server.send(RecoverAccount.self, recovery) == nil)
        _ = try TestSession(recovered, on: server)

        #expect(try server.send(DeleteAccount.self, recovered.deletion()) == nil)
    }

    @Test func aDeviceUnlinksItself() throws {
        let server = try TestServer()
        var account = try TestAccount(on: server)
        let second = try account.linked(on: server)
        let (message, after) = try second.unlinking(second.id)
        #expect(try server.send(UnlinkDevice.self, message) == nil)
        #expect(try server.send(RotateDevice.self, after.rotation().0) == .invalidDevice)
        // A repeat of the last thing it said is still answered.
        #expect(try server.send(UnlinkDevice.self, message) == nil)
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == nil)
    }

    @Test func aByteIdenticalRepeatGetsTheSameReply() throws {
        let server = try TestServer()
        var account = try TestAccount(on: server)
        let second = try TestDevice(identity: account.device.identity)
        let (link, linked) = try account.device.linking(second.container())
        let reply = server.post(.linkDevice, link.bytes)
        #expect(reply.code == nil)
        #expect(server.post(.linkDevice, link.bytes) == reply)
        // The same operation in other words is another one.
        let again = try SignedMessage(link.payload, by: account.device.next)
        #expect(try server.send(LinkDevice.self, again) == .invalidHash)
        // What another device does leaves the reply alone.
        #expect(try server.send(RotateDevice.self, second.rotation().0) == nil)
        #expect(server.post(.linkDevice, link.bytes) == reply)
        // Its next operation shows that the reply has arrived.
        account.device = linked
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == nil)
        #expect(try server.send(LinkDevice.self, link) == .invalidHash)
    }

    @Test func repliesAreRepeatedForAWhile() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let message = try account.device.rotation().0
        let reply = server.post(.rotateDevice, message.bytes)
        server.clock.advance(seconds: 300)
        #expect(server.post(.rotateDevice, message.bytes) == reply)
        server.clock.advance(milliseconds: 1)
        #expect(try server.send(RotateDevice.self, message) == .invalidHash)
    }

    @Test func repliesOfEachOperationAreRepeated() throws {
        let server = try TestServer()
        let recovery = try ServerKey.generate()
        let hash = derivations.recoveryHash(of: recovery.publicKey)
        var device = try TestDevice(recovery: hash)

        func twice(_ operation: AuthOperation, _ body: [UInt8]) {
            let reply = server.post(operation, body)
            #expect(reply.code == nil, "\(operation)")
            #expect(server.post(operation, body) == reply, "\(operation)")
        }
        twice(.createAccount, try device.creation(hash).bytes)
        let challenge = try server.challenge(device.identity)
        let (opening, current, next) = try TestSession.opening(device, challenge)
        twice(.createSession, opening.bytes)
        let reply = server.post(.createSession, opening.bytes)
        let token = try SignedMessage<Response<CreateSession>>(parsing: reply.body).payload.body.token
        let session = TestSession(current: current, next: next, token: token)
        twice(.refreshSession, try session.refreshing().0.bytes)
        let (change, changed) = try device.changingRecovery(hash)
        twice(.changeRecoveryKey, change.bytes)
        device = changed
        let new = try TestDevice(identity: device.identity)
        twice(.recoverAccount, try new.recovery(with: recovery, next: RecoveryHash(freshDigest())).bytes)
        twice(.deleteAccount, try new.deletion().bytes)
    }

    @Test func aRepeatedTokenNeedsADeviceThatIsStillThere() throws {
        let server = try TestServer()
        var account = try TestAccount(on: server)
        let second = try account.linked(on: server)
        let challenge = try server.challenge(second.identity)
        let (opening, current, next) = try TestSession.opening(second, challenge)
        let (body, _) = try server.exchange(CreateSession.self, opening.bytes, opening.payload.nonce)
        let session = TestSession(current: current, next: next, token: try #require(body).token)
        let refresh = try session.refreshing().0
        #expect(try server.send(RefreshSession.self, refresh) == nil)
        let (unlink, _) = try account.device.unlinking(second.id)
        #expect(try server.send(UnlinkDevice.self, unlink) == nil)
        #expect(try server.send(CreateSession.self, opening) == .invalidDevice)
        #expect(try server.send(RefreshSession.self, refresh) == .invalidDevice)
    }

    @Test func refusalsAreNeverRepeated() throws {
        let server = try TestServer()
        let device = try TestDevice()
        let message = try device.rotation().0
        #expect(try server.send(RotateDevice.self, message) == .invalidDevice)
        #expect(try server.send(RotateDevice.self, message) == .invalidDevice)
    }

    @Test func everyPathIsThatOfTheProtocol() {
        let paths = [
            "/account/create", "/account/recover", "/account/delete", "/device/rotate", "/device/link",
            "/device/unlink", "/recovery/change", "/session/request", "/session/create", "/session/refresh",
        ]
        #expect(AuthOperation.allCases.map(\.path) == paths)
        for path in paths { #expect(AuthOperation(path: path)?.path == path) }
        #expect(AuthOperation(path: "/account/create/") == nil && AuthOperation(path: "/Account/create") == nil)
    }

    /// A reader that shares nothing with ours opens what we compress, and a text of a token's kind gets shorter.
    @Test func everyGzipReaderOpensATokensMember() throws {
        let fixture = try StoreFixture(.memory)
        let compression = ZlibTokenCompression()
        for count in [0, 1, 500, 1024, 1025, 6000] {
            let text = Array((0..<count).map { "\($0 * 7919 % 997)," }.joined().utf8.prefix(count))
            let member = try unsafe compression.deflate(text.span.bytes)
            #expect(try unsafe compression.inflate(member.span.bytes, limit: 6000) == text)
            #expect(count < 500 || member.count < count * 3 / 4, "\(count)")
            let (packed, plain) = (fixture.folder + "/packed", fixture.folder + "/plain")
            try Data(member).write(to: URL(fileURLWithPath: packed))
            try Data(text).write(to: URL(fileURLWithPath: plain))
            let isSame = try Spawned(["sh", "-c", "gzip -dc < '\(packed)' | cmp - '\(plain)'"]).wait()
            #expect(isSame == 0, "\(count)")
        }
    }
}
