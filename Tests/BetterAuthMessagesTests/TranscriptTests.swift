import BetterAuthMessages
import Foundation
import TestSupport
import Testing

/// The file Vectors/transcript.json.
private struct Transcript: Decodable {
    struct Key: Decodable {
        let privateScalarHex: String
        let publicKey: String
        let publicKeyHash: String
    }
    struct Exchange: Decodable {
        let path: String?
        let client: String
        let now: String?
        let request: String?
        let response: String?
        let linkContainer: String?
    }
    let keys: [String: Key]
    let exchanges: [Exchange]
}

@Suite struct TranscriptTests {
    @Test func keysFollowFromTheirScalars() throws {
        let keys = try vectors("transcript", as: Transcript.self).keys
        #expect(keys.count > 20)
        for key in keys.values {
            let derived = try publicKey(ofScalar: key.privateScalarHex)
            #expect(derived.lend { PublicKeyText(raw: $0) }?.description == key.publicKey)
            let text = try #require(PublicKeyText(key.publicKey))
            #expect(derivations.rotationHash(of: text).description == key.publicKeyHash)
        }
    }

    /// Each message is read, rebuilt from its members alone, and compared byte by byte; each signature is verified over
    /// the bytes as they came, with the key that the protocol names.
    @Test func everyByteIsReproduced() throws {
        let transcript = try vectors("transcript", as: Transcript.self)
        var replay = Replay()
        for exchange in transcript.exchanges {
            if let container = exchange.linkContainer {
                try replay.checkContainer(container)
            } else {
                let request = try #require(exchange.request)
                let response = try #require(exchange.response)
                switch exchange.path {
                case CreateAccount.path:
                    try replay.check(CreateAccount.self, request, response) { $0.authentication.publicKey }
                    try replay.create(request)
                case RecoverAccount.path:
                    try replay.check(RecoverAccount.self, request, response) { $0.authentication.recoveryKey }
                    try replay.recover(request)
                case DeleteAccount.path:
                    try replay.check(DeleteAccount.self, request, response) { $0.authentication.publicKey }
                case RotateDevice.path:
                    try replay.check(RotateDevice.self, request, response) { $0.authentication.publicKey }
                    try replay.rotate(request)
                case LinkDevice.path:
                    try replay.check(LinkDevice.self, request, response) { $0.authentication.publicKey }
                    try replay.link(request)
                case UnlinkDevice.path:
                    try replay.check(UnlinkDevice.self, request, response) { $0.authentication.publicKey }
                    try replay.unlink(request)
                case ChangeRecoveryKey.path:
                    try replay.check(ChangeRecoveryKey.self, request, response) { $0.authentication.publicKey }
                    try replay.change(request)
                case RequestSession.path: try replay.checkChallenge(request, response)
                case CreateSession.path:
                    let keys = replay.currentKeys
                    try replay.check(CreateSession.self, request, response) { keys[$0.device] }
                    try replay.checkToken(response, CreateSession.self)
                case RefreshSession.path:
                    try replay.check(RefreshSession.self, request, response) { $0.publicKey }
                    try replay.checkToken(response, RefreshSession.self)
                case .some:
                    try replay.check(Access.self, request, response) {
                        try AccessToken(opening: $0.token, with: gzip).claims.publicKey
                    }
                    let now = try #require(exchange.now.flatMap { Timestamp($0) })
                    let parsed = try SignedMessage<Access.Request>(parsing: Array(request.utf8)).payload
                    #expect(parsed.timestamp == now)
                case nil: Issue.record("an exchange without a path")
                }
            }
        }
        #expect(replay.kinds.count == 12, "\(replay.kinds)")
        print("transcript: \(replay.signatures) signatures, kinds \(replay.kinds.sorted())")
    }
}

/// What a server would know while it reads the transcript.
private struct Replay {
    var currentKeys: [DeviceID: PublicKeyText] = [:]
    var signatures = 0
    var kinds: Set<String> = []

    mutating func check<X: Exchange>(
        _ exchange: X.Type, _ request: String, _ response: String,
        signer: (X.Request) throws -> PublicKeyText?
    ) throws {
        kinds.insert("\(exchange)")
        let parsed = try SignedMessage<X.Request>(parsing: Array(request.utf8))
        #expect(SignedMessage(parsed.payload, signature: parsed.signature).bytes.text == request)
        let key = try #require(try signer(parsed.payload), "no key for \(request)")
        #expect(verifies(parsed, key), "\(request)")
        signatures += 1
        try checkResponse(exchange, response, nonce: parsed.payload.nonce)
    }

    mutating func checkResponse<X: Exchange>(_ exchange: X.Type, _ response: String, nonce: NonceText) throws {
        guard case .response(let reply) = try Reply<X>(parsing: Array(response.utf8)) else {
            Issue.record("a response is taken for a failure")
            return
        }
        #expect(SignedMessage(reply.payload, signature: reply.signature).bytes.text == response)
        #expect(verifies(reply, reply.payload.serverIdentity))
        #expect(throws: Never.self) { try reply.payload.check(nonce: nonce) }
        signatures += 1
    }

    mutating func checkChallenge(_ request: String, _ response: String) throws {
        kinds.insert("RequestSession")
        let parsed = try UnsignedMessage<RequestSession.Request>(parsing: Array(request.utf8))
        #expect(parsed.bytes.text == request)
        try checkResponse(RequestSession.self, response, nonce: parsed.payload.nonce)
    }

    mutating func checkContainer(_ text: String) throws {
        kinds.insert("LinkContainer")
        let container = try LinkContainer(parsing: Array(text.utf8))
        #expect(LinkContainer(container.payload, signature: container.signature).bytes.text == text)
        #expect(verifies(container, container.payload.authentication.publicKey))
        signatures += 1
    }

    /// The token of a response: opened, rebuilt from its claims, and compressed again.
    mutating func checkToken<X: Exchange>(_ response: String, _ type: X.Type) throws where X.ResponseBody == TokenBody {
        let text = try SignedMessage<Response<X>>(parsing: Array(response.utf8)).payload.body.token
        let token = try AccessToken(opening: text, with: gzip)
        #expect(token.claims.encoded == token.signedBytes)
        var isAuthentic = false
        let rebuilt = AccessToken(token.claims) { signed in
            isAuthentic = verifies(token.signature, token.claims.serverIdentity, signed)
            return token.signature
        }
        #expect(isAuthentic)
        signatures += 1
        // Other builds of zlib choose other bytes; they must open to the same text.
        let again = try rebuilt.text(gzip)
        #if os(Linux) && !canImport(Darwin)
        #expect(again == text)
        #endif
        #expect(try AccessToken(opening: again, with: gzip) == token)
    }

    mutating func create(_ request: String) throws {
        let account = try SignedMessage<CreateAccount.Request>(parsing: Array(request.utf8)).payload.authentication
        #expect(throws: Never.self) { try derivations.check(newAccount: account) }
        currentKeys[account.device] = account.publicKey
    }

    mutating func recover(_ request: String) throws {
        let new = try SignedMessage<RecoverAccount.Request>(parsing: Array(request.utf8)).payload.authentication
        #expect(throws: Never.self) { try derivations.check(device: new.device, new.publicKey, new.rotationHash) }
        currentKeys = [new.device: new.publicKey]
    }

    mutating func rotate(_ request: String) throws {
        let next = try SignedMessage<RotateDevice.Request>(parsing: Array(request.utf8)).payload.authentication
        currentKeys[next.device] = next.publicKey
    }

    mutating func change(_ request: String) throws {
        let next = try SignedMessage<ChangeRecoveryKey.Request>(parsing: Array(request.utf8)).payload.authentication
        currentKeys[next.device] = next.publicKey
    }

    mutating func unlink(_ request: String) throws {
        let parsed = try SignedMessage<UnlinkDevice.Request>(parsing: Array(request.utf8)).payload
        currentKeys[parsed.authentication.device] = parsed.authentication.publicKey
        currentKeys[parsed.device] = nil
    }

    mutating func link(_ request: String) throws {
        let parsed = try SignedMessage<LinkDevice.Request>(parsing: Array(request.utf8)).payload
        currentKeys[parsed.authentication.device] = parsed.authentication.publicKey
        #expect(throws: Never.self) { try parsed.checkIdentities() }
        // The container's own signature, over its own bytes inside the request.
        let new = parsed.container.payload.authentication
        #expect(verifies(parsed.container, new.publicKey))
        #expect(throws: Never.self) { try derivations.check(device: new.device, new.publicKey, new.rotationHash) }
        currentKeys[new.device] = new.publicKey
        signatures += 1
    }
}
