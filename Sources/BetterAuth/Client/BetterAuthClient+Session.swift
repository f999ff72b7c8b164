internal import BetterAuthMessages

extension BetterAuthClient {
    /// Opens a session in place of the one before. On a device that waits to be linked this finds out whether it was.
    /// - Throws: ``IdentityError``: `refused` also where nobody has linked this device yet.
    public func openSession() async throws(IdentityError) -> Session {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            let wasStaged = credentials.staged != nil
            try await settle(&credentials)
            // Finding out whether the account is there may have opened one.
            if wasStaged, let session = credentials.session { return session }
            guard let account = credentials.account else { throw IdentityError.noAccount }
            let result = await probe(account, with: account.current, &credentials)
            guard case .confirmed(let session) = result else { throw result.failure ?? .undecided }
            let old = credentials
            credentials.session = session
            try save(credentials, insteadOf: old)
            return session
        }
    }

    /// Goes on with the session's next key and a new token. What it costs to lose the answer is the session: then a new
    /// one is opened.
    public func refreshSession() async throws(IdentityError) -> Session {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            guard let session = credentials.session else { throw IdentityError.noSession }
            let future = try identityCall { try SoftwareDeviceKeys().makeKey() }
            let message = try identityCall {
                try SignedMessage(
                    RefreshSession.Request(
                        nonce: .random(), publicKey: session.next.publicKey,
                        rotationHash: Derivations.standard.rotationHash(of: future.publicKey), token: session.token),
                    signedBy: AnySigningKey(SoftwareDeviceKeys().signer(session.next))
                ).bytes
            }
            var result = await exchange(RefreshSession.self, message, &credentials)
            // The same bytes once more: servers that remember answers give it again.
            if case .lost = result { result = await exchange(RefreshSession.self, message, &credentials) }
            guard case .confirmed(let body) = result else { throw result.failure ?? .undecided }
            let new = try self.session(body.token, session.next, future)
            let old = credentials
            credentials.session = new
            try save(credentials, insteadOf: old)
            return new
        }
    }

    /// Drops the session's keys and token. Nothing is sent: the token is good until it expires, but nobody can use it.
    public func endSession() async throws(IdentityError) {
        try await exclusively { () async throws(IdentityError) in
            let old = try load()
            var new = old
            new.session = nil
            try save(new, insteadOf: old)
        }
    }

    /// Opens a session with a key: whether the server holds this one shows in whether that works.
    func probe(
        _ account: Account, with key: KeyRecord, _ credentials: inout Credentials
    ) async -> ExchangeResult<Session> {
        do throws(IdentityError) {
            let request = try identityCall { try RequestSession.Request(nonce: .random(), identity: account.identity) }
            let asked = await exchange(
                RequestSession.self, UnsignedMessage(request).bytes, nonce: request.nonce, &credentials)
            guard case .confirmed(let body) = asked else { return asked.recast() }
            let current = try identityCall { try SoftwareDeviceKeys().makeKey() }
            let next = try identityCall { try SoftwareDeviceKeys().makeKey() }
            let message = try identityCall {
                try SignedMessage(
                    CreateSession.Request(
                        nonce: .random(), publicKey: current.publicKey,
                        rotationHash: Derivations.standard.rotationHash(of: next.publicKey), device: account.device,
                        challenge: body.challenge), signedBy: AnySigningKey(keys.signer(key))
                ).bytes
            }
            let created = await exchange(CreateSession.self, message, &credentials)
            guard case .confirmed(let body) = created else { return created.recast() }
            return .confirmed(try session(body.token, current, next))
        } catch { return .lost(error) }
    }

    /// A session with a token that the server has just signed for.
    private func session(
        _ token: TokenText, _ current: KeyRecord, _ next: KeyRecord
    ) throws(IdentityError) -> Session {
        let claims: AccessClaims
        do throws(MessageError) {
            claims = try AccessToken(opening: token, with: compression).claims
        } catch { throw IdentityError(.invalidReply, "the server's token cannot be read (\(error))") }
        guard claims.publicKey == current.publicKey else {
            throw IdentityError(.invalidReply, "the server's token is for another key")
        }
        return Session(
            token: token, current: current, next: next, expiry: claims.expiry, refreshExpiry: claims.refreshExpiry)
    }
}

/// Any key, as the messages take one.
struct AnySigningKey: SigningKey {
    private let key: any SigningKey
    init(_ key: any SigningKey) { self.key = key }
    var publicKey: PublicKeyText { key.publicKey }
    func sign(_ message: RawSpan) throws -> SignatureText { try key.sign(message) }
}
