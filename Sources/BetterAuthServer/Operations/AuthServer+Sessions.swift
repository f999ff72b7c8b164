package import BetterAuthMessages
package import Cryptography

extension AuthServer {
    func requestSession(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let request: RequestSession.Request
        do throws(MessageError) {
            request = try UnsignedMessage<RequestSession.Request>(parsing: body).payload
        } catch {
            throw .message(error.reason == .tooLarge ? .plain(.tooLarge) : .invalidMessage(error))
        }
        let now = clock.now
        let nonce: NonceText
        do throws(CryptographyError) {
            nonce = try NonceText { bytes throws(CryptographyError) in try SecureRandom.fillPublic(&bytes) }
        } catch {
            throw .cryptography
        }
        let response = try respond(to: request.nonce, ChallengeBody(challenge: nonce), RequestSession.self, now: now)
        // Whether there is such an identity is not even looked up, so that nothing about the challenge can tell.
        let challenge = Challenge(
            nonce: nonce, identity: request.identity, until: now.adding(seconds: lifetimes.challenge), moment: now)
        store.open(challenge) { result in
            switch result {
            case .success: answer(ServerReply(response.bytes))
            case .failure(let error): answer(ServerReply(.store(error)))
            }
        }
    }

    func createSession(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: CreateSession.Request.self)
        let payload = message.payload
        let now = clock.now
        let operation = unsafe OperationKey(path: CreateSession.path, body: body.span.bytes)
        let state = try ask { () throws(StoreError) in
            try store.challenge(payload.challenge, answeredBy: operation, now: now)
        }
        let identity: IdentityID
        switch state {
        case .open(let known): identity = known
        case .answered(let reply):
            answer.concerns(reply.identity)
            return answer(try repeated(reply))
        case .unknown: throw .message(.plain(.unknownChallenge))
        }
        answer.concerns(identity)
        let account = try ask { () throws(StoreError) in try store.account(identity) }
        guard let account, account.isActive, let device = account.device(payload.device) else {
            throw .message(.invalidDevice(payload.device, calculated: nil))
        }
        try verify(message, with: known(device.publicKey))
        let claims = AccessClaims(
            serverIdentity: keys.accessKey(now: now).publicKey, device: payload.device, identity: identity,
            publicKey: payload.publicKey, rotationHash: payload.rotationHash, issuedAt: now,
            expiry: now.adding(seconds: lifetimes.access), refreshExpiry: now.adding(seconds: lifetimes.refresh),
            attributes: attributes(identity))
        let response = try issue(claims, to: payload.nonce, CreateSession.self, now: now)
        let session = ChallengeAnswer(
            challenge: payload.challenge, operation: operation,
            reply: SessionReply(identity: identity, device: payload.device, bytes: response),
            publicKey: device.publicKey, until: now.adding(seconds: lifetimes.reply), moment: now)
        store.answer(session) { [self] result in
            answer(reply(to: result, response, of: payload.device, used: .unknownChallenge))
        }
    }

    func refreshSession(_ body: [UInt8], _ answer: Answer) throws(Refusal) {
        let message = try parse(body, as: RefreshSession.Request.self)
        let payload = message.payload
        let now = clock.now
        try verify(message, with: payload.publicKey)
        let claims = try authenticClaims(payload.token, now: now)
        answer.concerns(claims.identity)
        let revealed = Derivations.server.rotationHash(of: payload.publicKey)
        guard revealed == claims.rotationHash else {
            throw .message(
                .invalidHash(.rotation, expected: claims.rotationHash.digest, actual: revealed.digest))
        }
        let isVoid = try ask { () throws(StoreError) in
            try store.isVoid(claims.device, of: claims.identity, issuedAt: claims.issuedAt)
        }
        guard !isVoid else { throw .message(.invalidDevice(claims.device, calculated: nil)) }
        try check { () throws(ProtocolError) in try claims.checkRefresh(now: now) }
        let next = AccessClaims(
            serverIdentity: keys.accessKey(now: now).publicKey, device: claims.device, identity: claims.identity,
            publicKey: payload.publicKey, rotationHash: payload.rotationHash, issuedAt: now,
            expiry: now.adding(seconds: lifetimes.access), refreshExpiry: claims.refreshExpiry,
            attributes: claims.attributes)
        let response = try issue(next, to: payload.nonce, RefreshSession.self, now: now)
        let refresh = RefreshReservation(
            revealed: revealed, reservedUntil: claims.refreshExpiry, issuedAt: claims.issuedAt,
            operation: unsafe OperationKey(path: RefreshSession.path, body: body.span.bytes),
            reply: SessionReply(identity: claims.identity, device: claims.device, bytes: response),
            until: min(now.adding(seconds: lifetimes.reply), claims.refreshExpiry), moment: now)
        store.reserve(refresh) { [self] result in
            answer(reply(to: result, response, of: claims.device, used: .replayed))
        }
    }
}

extension AuthServer {
    private func known(_ key: PublicKeyText) throws(Refusal) -> P256PublicKey {
        // It was imported when it was registered, so that it cannot be read now is the store's fault or the library's.
        do throws(CryptographyError) { return try knownKeys.key(key) } catch { throw .cryptography }
    }

    /// Opens a token and verifies that this server, or a sibling whose key is published, has issued it.
    private func authenticClaims(_ text: TokenText, now: Timestamp) throws(Refusal) -> AccessClaims {
        let token: AccessToken
        do throws(MessageError) {
            token = try AccessToken(opening: text, with: compression)
        } catch {
            throw .message(.invalidMessage(error))
        }
        guard let issuer = keys.verifier(ofAccessKey: token.claims.serverIdentity, now: now) else {
            throw .message(.plain(.unknownServer))
        }
        let isAuthentic = token.withSignedBytes { bytes in
            token.signature.withRawBytes { issuer.isValid(signature: $0, for: bytes) }
        }
        guard isAuthentic else { throw .message(.plain(.wrongSignature)) }
        return token.claims
    }

    /// The response that carries a token with these claims.
    private func issue<Kind: Exchange>(
        _ claims: AccessClaims, to nonce: NonceText, _ kind: Kind.Type, now: Timestamp
    ) throws(Refusal) -> [UInt8] where Kind.ResponseBody == TokenBody {
        let key = keys.accessKey(now: now)
        let text: TokenText
        do {
            let token = try AccessToken(claims) { bytes throws(CryptographyError) in try key.sign(bytes) }
            text = try token.text(compression)
        } catch {
            throw .cryptography
        }
        return try respond(to: nonce, TokenBody(token: text), kind, now: now).bytes
    }

    /// A reply that was given before, unless its device is gone since: it carries a token.
    private func repeated(_ reply: SessionReply) throws(Refusal) -> ServerReply {
        let account = try ask { () throws(StoreError) in try store.account(reply.identity) }
        guard let account, account.isActive, account.device(reply.device) != nil else {
            throw .message(.invalidDevice(reply.device, calculated: nil))
        }
        return ServerReply(reply.bytes, isRepeated: true)
    }

    private func reply(
        to result: Result<SessionOutcome, StoreError>, _ response: [UInt8], of device: DeviceID, used: ErrorCode
    ) -> ServerReply {
        switch result {
        case .success(.committed): ServerReply(response)
        case .success(.repeated(let reply)): ServerReply(reply.bytes, isRepeated: true)
        case .success(.used): ServerReply(.plain(used))
        case .success(.revoked): ServerReply(.invalidDevice(device, calculated: nil))
        case .failure(let error): ServerReply(.store(error))
        }
    }
}

extension AuthServer {
    /// Characters by which the compressed parts of two tokens with the same attributes may differ in length.
    private static let slack = 64

    /// Whether verifiers take tokens with these attributes: a token has a length that it may not exceed.
    /// - Throws: ``Cryptography/CryptographyError``.
    package static func admits(
        _ attributes: ApplicationData, _ compression: some TokenCompression
    ) throws(CryptographyError) -> Bool {
        func digest() throws(CryptographyError) -> DigestText {
            try DigestText { bytes throws(CryptographyError) in try SecureRandom.fillPublic(&bytes) }
        }
        let (key, now) = (try ServerKey.generate(), SystemClock().now)
        let claims = AccessClaims(
            serverIdentity: key.publicKey, device: DeviceID(try digest()), identity: IdentityID(try digest()),
            publicKey: try ServerKey.generate().publicKey, rotationHash: RotationHash(try digest()), issuedAt: now,
            expiry: now, refreshExpiry: now, attributes: attributes)
        let token = try AccessToken(claims) { bytes throws(CryptographyError) in try key.sign(bytes) }
        guard let text = try? token.text(compression) else { return false }
        return text.bytes.count + slack <= MessageLimits.token
    }
}
