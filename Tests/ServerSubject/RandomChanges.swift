package import BetterAuthMessages
package import BetterAuthServer
import Cryptography

/// Changes that no client signed: what a store does with them does not depend on signatures.
package struct RandomChanges {
    package struct Problem: Error {}

    /// What the accounts are once everything that was asked for has been committed.
    package private(set) var model: [IdentityID: Account] = [:]
    private var identities: [IdentityID] = []
    private var generator = SystemRandomNumberGenerator()
    private let moment: Timestamp

    package init(now: Timestamp) { moment = now }

    package static func digest() throws -> DigestText { try DigestText { try SecureRandom.fillPublic(&$0) } }

    package static func key() throws -> PublicKeyText {
        // A first byte below that of the prime keeps x in range; nobody imports it.
        let point = try [2, 1] + SecureRandom.bytes(31)
        guard let key = unsafe PublicKeyText(raw: point.span.bytes) else { throw Problem() }
        return key
    }

    package static func reply(until: Timestamp) throws -> CommittedReply {
        let raw = try [1] + SecureRandom.bytes(31) + [1] + SecureRandom.bytes(31)
        guard let signature = unsafe SignatureText(raw: raw.span.bytes) else { throw Problem() }
        return CommittedReply(
            operation: OperationKey(try digest()), serverIdentity: try key(), signature: signature, until: until)
    }

    private static func device() throws -> Account.Device {
        Account.Device(id: DeviceID(try digest()), publicKey: try key(), rotationHash: RotationHash(try digest()))
    }

    /// The next change, and the account as it is to be after it.
    package mutating func next() throws -> (AccountChange, Account) {
        while true {
            let change = try candidate()
            guard case .commit(let account, _) = change.decision(on: model[change.identity]) else { continue }
            if model[change.identity] == nil { identities.append(change.identity) }
            model[change.identity] = account
            return (change, account)
        }
    }

    private mutating func candidate() throws -> AccountChange {
        let reply = try RandomChanges.reply(until: moment.adding(seconds: 300))
        let known = identities.randomElement(using: &generator)
        guard let identity = known, let account = model[identity], let device = account.devices.first,
            let recovery = account.recoveryHash, Int.random(in: 0..<10, using: &generator) > 2
        else {
            let kind = AccountChange.Kind.create(
                try RandomChanges.device(), RecoveryHash(try RandomChanges.digest()))
            let identity = IdentityID(try RandomChanges.digest())
            return AccountChange(identity: identity, kind: kind, reply: reply, moment: moment)
        }
        let rotation = AccountChange.Rotation(
            device: device.id, publicKey: try RandomChanges.key(), revealed: device.rotationHash,
            rotationHash: RotationHash(try RandomChanges.digest()))
        let kind: AccountChange.Kind =
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: .delete(rotation)
            case 1:
                .recover(
                    try RandomChanges.device(), revealed: recovery, next: RecoveryHash(try RandomChanges.digest()))
            case 2, 3: .changeRecovery(rotation, RecoveryHash(try RandomChanges.digest()))
            case 4, 5, 6: .link(rotation, try RandomChanges.device())
            case 7, 8: .unlink(rotation, account.devices[account.devices.count - 1].id)
            default: .rotate(rotation)
            }
        return AccountChange(identity: identity, kind: kind, reply: reply, moment: moment)
    }

    /// A refresh of the account's first device.
    package static func refresh(
        _ identity: IdentityID, _ device: DeviceID, _ revealed: RotationHash, now: Timestamp
    ) throws -> RefreshReservation {
        RefreshReservation(
            revealed: revealed, reservedUntil: now.adding(seconds: 43_200), issuedAt: now,
            operation: OperationKey(try digest()),
            reply: SessionReply(identity: identity, device: device, bytes: Array("reply".utf8)),
            until: now.adding(seconds: 300), moment: now)
    }
}

extension [UInt8] {
    package var hexadecimal: String {
        let digits = Array<UInt8>("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
