import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import Cryptography
import Testing

/// The holes of the published servers (protocol.md 12 and 13), each of which is closed.
@Suite struct AccountRefusalTests {
    @Test func aStrangerLinksNoDevice() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        // Anyone who knows an identity: with a device of their own, then under the name of one that is in the account.
        var stranger = try TestDevice(identity: account.device.identity)
        let accomplice = try TestDevice(identity: account.device.identity)
        let (asHimself, _) = try stranger.linking(accomplice.container())
        #expect(try server.send(LinkDevice.self, asHimself) == .invalidDevice)
        stranger.id = account.device.id
        let (asOwner, _) = try stranger.linking(accomplice.container())
        #expect(try server.send(LinkDevice.self, asOwner) == .invalidHash)
        #expect(try server.send(RotateDevice.self, accomplice.rotation().0) == .invalidDevice)
        // Nothing moved: the owner continues.
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == nil)
    }

    @Test(arguments: ["rotate", "unlink", "delete", "recovery"])
    func aKeyThatWasNotCommittedToDoesNothing(_ kind: String) throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        var forged = account.device
        forged.next = try .generate()
        let code: ErrorCode? =
            switch kind {
            case "rotate": try server.send(RotateDevice.self, forged.rotation().0)
            case "unlink": try server.send(UnlinkDevice.self, forged.unlinking(forged.id).0)
            case "delete": try server.send(DeleteAccount.self, forged.deletion())
            default: try server.send(ChangeRecoveryKey.self, forged.changingRecovery(RecoveryHash(freshDigest())).0)
            }
        #expect(code == .invalidHash)
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == nil)
    }

    @Test func aDeletedIdentityIsBurnt() throws {
        let server = try TestServer()
        let recovery = try ServerKey.generate()
        let hash = derivations.recoveryHash(of: recovery.publicKey)
        let device = try TestDevice(recovery: hash)
        let creation = try device.creation(hash)
        #expect(try server.send(CreateAccount.self, creation) == nil)
        let session = try TestSession(device, on: server)
        #expect(try server.send(DeleteAccount.self, device.deletion()) == nil)
        // By replay of what made it, by another message about it, by recovery.
        #expect(try server.send(CreateAccount.self, creation) == .alreadyRegistered)
        #expect(try server.send(CreateAccount.self, device.creation(hash)) == .alreadyRegistered)
        let new = try TestDevice(identity: device.identity)
        let resurrection = try new.recovery(with: recovery, next: RecoveryHash(freshDigest()))
        #expect(try server.send(RecoverAccount.self, resurrection) == .invalidHash)
        #expect(try server.refresh(session).1 == .invalidDevice)
        #expect(try server.send(RotateDevice.self, device.rotation().0) == .invalidDevice)
        let challenge = try server.challenge(device.identity)
        #expect(
            try server.send(CreateSession.self, TestSession.opening(device, challenge).0) == .invalidDevice)
    }

    @Test func recoveryNamesAnotherKey() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let new = try TestDevice(identity: account.device.identity)
        let same = derivations.recoveryHash(of: account.recoveryKey.publicKey)
        #expect(
            try server.send(RecoverAccount.self, new.recovery(with: account.recoveryKey, next: same))
                == .invalidHash)
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == nil)
    }

    @Test func recoveryIsUsedOnce() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let next = try ServerKey.generate()
        let new = try TestDevice(identity: account.device.identity)
        let message = try new.recovery(
            with: account.recoveryKey, next: derivations.recoveryHash(of: next.publicKey))
        #expect(try server.send(RecoverAccount.self, message) == nil)
        server.clock.advance(seconds: 301)
        #expect(try server.send(RecoverAccount.self, message) == .invalidHash)
        // Neither the device that recovered nor one from before comes back through a later recovery.
        for old in [new, account.device] {
            let back = try old.recovery(with: next, next: RecoveryHash(freshDigest()))
            #expect(try server.send(RecoverAccount.self, back) == .alreadyRegistered)
        }
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == .invalidDevice)
        #expect(try server.send(RotateDevice.self, new.rotation().0) == nil)
    }

    @Test func recoveryNeedsTheRecoveryKey() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let new = try TestDevice(identity: account.device.identity)
        let wrong = try ServerKey.generate()
        let next = RecoveryHash(try freshDigest())
        #expect(try server.send(RecoverAccount.self, new.recovery(with: wrong, next: next)) == .invalidHash)
        let unknown = try TestDevice()
        #expect(try server.send(RecoverAccount.self, unknown.recovery(with: wrong, next: next)) == .invalidHash)
    }

    /// A device that links itself under its own next key is answered like any other.
    @Test func oneKeyMayStandTwiceInALink() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let (rotation, after) = try account.device.rotated()
        var twin = after
        twin.id = derivations.device(after.current.publicKey, after.rotationHash)
        let payload = LinkDevice.Request(
            nonce: try freshNonce(), authentication: rotation, container: try twin.container())
        let message = try SignedMessage<LinkDevice.Request>(payload, by: account.device.next)
        #expect(try server.send(LinkDevice.self, message) == nil)
        _ = try TestSession(twin, on: server)
    }

    @Test func aRevokedDeviceNeverComesBack() throws {
        let server = try TestServer()
        var account = try TestAccount(on: server)
        let second = try TestDevice(identity: account.device.identity)
        let container = try second.container()
        let (link, linked) = try account.device.linking(container)
        #expect(try server.send(LinkDevice.self, link) == nil)
        account.device = linked
        // While it is there, and after it has gone, its container is of no more use.
        #expect(try server.send(LinkDevice.self, account.device.linking(container).0) == .alreadyRegistered)
        let (unlink, unlinked) = try account.device.unlinking(second.id)
        #expect(try server.send(UnlinkDevice.self, unlink) == nil)
        account.device = unlinked
        #expect(try server.send(LinkDevice.self, account.device.linking(container).0) == .alreadyRegistered)
        // A refused link does not move the chain of the device that asked.
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == nil)
    }

    @Test func unlinkingIsNeverSilent() throws {
        let server = try TestServer()
        var account = try TestAccount(on: server)
        let second = try account.linked(on: server)
        let nobody = DeviceID(try freshDigest())
        #expect(try server.send(UnlinkDevice.self, account.device.unlinking(nobody).0) == .invalidDevice)
        let (unlink, after) = try account.device.unlinking(second.id)
        #expect(try server.send(UnlinkDevice.self, unlink) == nil)
        account.device = after
        // What is revoked already is revoked.
        #expect(try server.send(UnlinkDevice.self, account.device.unlinking(second.id).0) == nil)
        #expect(try server.send(RotateDevice.self, second.rotation().0) == .invalidDevice)
    }

    @Test func theContainerBelongsToTheAccountAndToItsDevice() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let elsewhere = try TestDevice()
        #expect(
            try server.send(LinkDevice.self, account.device.linking(elsewhere.container()).0)
                == .mismatchedIdentities)
        var misnamed = try TestDevice(identity: account.device.identity)
        misnamed.id = DeviceID(try freshDigest())
        #expect(
            try server.send(LinkDevice.self, account.device.linking(misnamed.container()).0) == .invalidDevice)
        let new = try TestDevice(identity: account.device.identity)
        let forged = try LinkContainer(LinkContainerPayload(authentication: new.introduction), by: account.device.next)
        #expect(try server.send(LinkDevice.self, account.device.linking(forged).0) == .wrongSignature)
    }

    @Test func namesFollowFromKeys() throws {
        let server = try TestServer()
        let hash = RecoveryHash(try freshDigest())
        var device = try TestDevice(recovery: hash)
        let real = device
        device.identity = IdentityID(try freshDigest())
        #expect(try server.send(CreateAccount.self, device.creation(hash)) == .invalidIdentity)
        device = real
        device.id = DeviceID(try freshDigest())
        #expect(try server.send(CreateAccount.self, device.creation(hash)) == .invalidDevice)
        let account = try TestAccount(on: server)
        var recovered = try TestDevice(identity: account.device.identity)
        recovered.id = DeviceID(try freshDigest())
        let next = RecoveryHash(try freshDigest())
        #expect(
            try server.send(RecoverAccount.self, recovered.recovery(with: account.recoveryKey, next: next))
                == .invalidDevice)
    }

    /// A key that commits to itself would make its message good for ever.
    @Test func noKeyCommitsToItself() throws {
        let server = try TestServer()
        let hash = RecoveryHash(try freshDigest())
        var device = try TestDevice(recovery: hash)
        device.next = device.current
        device.id = derivations.device(device.current.publicKey, device.rotationHash)
        device.identity = derivations.identity(device.current.publicKey, device.rotationHash, hash)
        #expect(try server.send(CreateAccount.self, device.creation(hash)) == .invalidHash)
        let account = try TestAccount(on: server)
        let rotation = RotationAuthentication(
            device: account.device.id, identity: account.device.identity, publicKey: account.device.next.publicKey,
            rotationHash: derivations.rotationHash(of: account.device.next.publicKey))
        let message = try SignedMessage<RotateDevice.Request>(
            .init(nonce: freshNonce(), authentication: rotation), by: account.device.next)
        #expect(try server.send(RotateDevice.self, message) == .invalidHash)
    }

    /// Digests are compared as they stand: where letter case does not count, another key fits (protocol.md 12.8).
    @Test func lettersOfAnotherCaseAreAnotherDigest() throws {
        func twisted(_ digest: DigestText) throws -> DigestText {
            var text = Array(digest.description)
            let index = try #require(text.indices.dropFirst(2).first { text[$0].isLetter })
            text[index] = Character(text[index].isLowercase ? text[index].uppercased() : text[index].lowercased())
            return try #require(DigestText(String(text)))
        }
        let server = try TestServer()
        let recovery = try ServerKey.generate()
        var device = try TestDevice()
        // It commits to what is nearly the digest of its next key, and of its recovery key.
        let next = RotationHash(try twisted(device.rotationHash.digest))
        let hash = RecoveryHash(try twisted(derivations.recoveryHash(of: recovery.publicKey).digest))
        device.id = derivations.device(device.current.publicKey, next)
        device.identity = derivations.identity(device.current.publicKey, next, hash)
        let account = AccountAuthentication(
            device: device.id, identity: device.identity, publicKey: device.current.publicKey, recoveryHash: hash,
            rotationHash: next)
        let creation = try SignedMessage<CreateAccount.Request>(
            .init(nonce: freshNonce(), authentication: account), by: device.current)
        #expect(try server.send(CreateAccount.self, creation) == nil)
        #expect(try server.send(RotateDevice.self, device.rotation().0) == .invalidHash)
        let new = try TestDevice(identity: device.identity)
        #expect(
            try server.send(RecoverAccount.self, new.recovery(with: recovery, next: RecoveryHash(freshDigest())))
                == .invalidHash)
        // Names are looked up as they stand too.
        let known = try TestAccount(on: server)
        var other = known.device
        other.id = DeviceID(try twisted(known.device.id.digest))
        #expect(try server.send(RotateDevice.self, other.rotation().0) == .invalidDevice)
        other = known.device
        other.identity = IdentityID(try twisted(known.device.identity.digest))
        #expect(try server.send(RotateDevice.self, other.rotation().0) == .invalidDevice)
        #expect(try server.send(RotateDevice.self, known.device.rotation().0) == nil)
    }

    @Test func anAccountIsMadeOnce() throws {
        let server = try TestServer()
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(try server.send(CreateAccount.self, device.creation(hash)) == nil)
        #expect(try server.send(CreateAccount.self, device.creation(hash)) == .alreadyRegistered)
    }

    @Test func devicesAreLimited() throws {
        let server = try TestServer()
        var account = try TestAccount(on: server)
        for _ in 1..<Account.maximumDevices { _ = try account.linked(on: server) }
        let tooMany = try TestDevice(identity: account.device.identity)
        let linking = try account.device.linking(tooMany.container()).0
        #expect(try server.send(LinkDevice.self, linking) == .limited)
        // Waiting does not help, and is not what the reply says.
        let reply = try server.post(LinkDevice.path, linking.bytes)
        #expect(String(decoding: reply.body, as: UTF8.self).contains("unlink one") && reply.isLasting)
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == nil)
    }

    @Test func signaturesAreVerifiedOverTheBytesAsTheyCame() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let (message, _) = try account.device.rotation()
        let byAnother = try SignedMessage(message.payload, by: account.device.current)
        #expect(try server.send(RotateDevice.self, byAnother) == .wrongSignature)
        let other = try account.device.rotation().0
        let swapped = SignedMessage(other.payload, signature: message.signature)
        #expect(try server.send(RotateDevice.self, swapped) == .wrongSignature)
    }
}
