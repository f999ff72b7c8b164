import BetterAuthMessages
import BetterAuthServer
import Cryptography

/// A client's half of the protocol, as little of it as makes load.
struct LoadDevice: Sendable {
    let current: ServerKey
    let next: RotationHash
    let id: DeviceID
    let identity: IdentityID
    let recovery: RecoveryHash

    init() throws {
        current = try .generate()
        // A hash of nothing commits as well as that of a key that is never revealed.
        next = RotationHash(try DigestText { try SecureRandom.fillPublic(&$0) })
        recovery = RecoveryHash(try DigestText { try SecureRandom.fillPublic(&$0) })
        id = Derivations.server.device(current.publicKey, next)
        identity = Derivations.server.identity(current.publicKey, next, recovery)
    }

    static func nonce() throws -> NonceText { try NonceText { try SecureRandom.fillPublic(&$0) } }

    func creation() throws -> [UInt8] {
        let account = AccountAuthentication(
            device: id, identity: identity, publicKey: current.publicKey, recoveryHash: recovery, rotationHash: next)
        let payload = CreateAccount.Request(nonce: try LoadDevice.nonce(), authentication: account)
        return try SignedMessage(payload) { try current.sign($0) }.bytes
    }

    func sessionRequest() throws -> [UInt8] {
        UnsignedMessage(RequestSession.Request(nonce: try LoadDevice.nonce(), identity: identity)).bytes
    }

    /// Answers a challenge; the session's key is the device's own, which nobody forbids.
    func opening(_ reply: [UInt8]) throws -> [UInt8] {
        let challenge = try SignedMessage<Response<RequestSession>>(parsing: reply).payload.body.challenge
        let payload = CreateSession.Request(
            nonce: try LoadDevice.nonce(), publicKey: current.publicKey, rotationHash: next, device: id,
            challenge: challenge)
        return try SignedMessage(payload) { try current.sign($0) }.bytes
    }

    func access(_ token: TokenText) throws -> [UInt8] {
        let body = try ApplicationData(json: #"{"foo":"a text","bar":"another"}"#)
        let payload = Access.Request(
            nonce: try LoadDevice.nonce(), timestamp: SystemClock().now, token: token, body: body)
        return try SignedMessage(payload) { try current.sign($0) }.bytes
    }

    static func token(_ reply: [UInt8]) throws -> TokenText {
        try SignedMessage<Response<CreateSession>>(parsing: reply).payload.body.token
    }
}
