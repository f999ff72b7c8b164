internal import BetterAuthMessages

extension BetterAuthClient {
    /// Opens a session in place of the one before. On a device that waits to be linked this finds out whether it was.
    /// - Throws: ``IdentityError``: `refused`, also if this device is not linked yet.
    public func openSession() async throws(IdentityError) -> Session {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            let wasStaged = credentials.staged != nil
            let settled = try await settle(&credentials)
            // Finding out whether the account is there may have opened one.
            if wasStaged, credentials.staged == nil, let session = credentials.session { return session }
            guard let account = credentials.account else { throw IdentityError.noAccount }
            let session: Session
            if let chain = settled.blocked {
                // The chain waits for its request, and sessions do not move it.
                session = chain.session
            } else {
                switch try await probe(account, with: account.current, &credentials) {
                case .accepted(let opened): session = opened
                case .refused(let error), .unclear(let error), .absent(let error): throw error
                }
            }
            let old = credentials
            credentials.session = session
            try save(credentials, insteadOf: old)
            return session
        }
    }

    /// Refreshes the session with its next key and a new token. What it costs to lose the answer is the session: then a
    /// new one is opened.
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
            guard case .confirmed(let body) = result else { throw IdentityError(refreshing: result) }
            let new = try self.session(body.token, session.next, future)
            let old = credentials
            credentials.session = new
            try save(credentials, insteadOf: old)
            return new
        }
    }

    /// Drops the session's keys and token. Nothing is sent: the token stays valid until it expires, but cannot be used
    /// without the keys.
    public func endSession() async throws(IdentityError) {
        try await exclusively { () async throws(IdentityError) in
            let old = try load()
            var new = old
            new.session = nil
            try save(new, insteadOf: old)
        }
    }

    /// Opens a session with a key: whether the server holds this one shows in whether that works. A server that has
    /// forgotten its challenge, as after a kill, is asked for another one, once.
    /// - Throws: ``IdentityError`` of this device: a chip that is not there, a library that fails.
    func probe(
        _ account: Account, with key: KeyRecord, _ credentials: inout Credentials
    ) async throws(IdentityError) -> ProbeResult {
        let result = try await probeOnce(account, with: key, &credentials)
        guard case .unclear(let error) = result, error.failure?.code == .unknownChallenge else { return result }
        return try await probeOnce(account, with: key, &credentials)
    }

    private func probeOnce(
        _ account: Account, with key: KeyRecord, _ credentials: inout Credentials
    ) async throws(IdentityError) -> ProbeResult {
        let request = try identityCall { try RequestSession.Request(nonce: .random(), identity: account.identity) }
        let asked = await exchange(
            RequestSession.self, UnsignedMessage(request).bytes, nonce: request.nonce, &credentials)
        // No key was named yet: whatever went wrong says nothing about one.
        guard case .confirmed(let challenge) = asked else { return .absent(IdentityError(challenging: asked)) }
        let current = try identityCall { try SoftwareDeviceKeys().makeKey() }
        let next = try identityCall { try SoftwareDeviceKeys().makeKey() }
        let message = try identityCall {
            try SignedMessage(
                CreateSession.Request(
                    nonce: .random(), publicKey: current.publicKey,
                    rotationHash: Derivations.standard.rotationHash(of: next.publicKey), device: account.device,
                    challenge: challenge.challenge), signedBy: AnySigningKey(keys.signer(key))
            ).bytes
        }
        let created = await exchange(CreateSession.self, message, &credentials)
        switch created {
        case .confirmed(let body):
            do throws(IdentityError) { return .accepted(try session(body.token, current, next)) } catch {
                return .unclear(error)
            }
        // The challenge was looked up before the key.
        case .refused(let failure) where failure.code == .unknownChallenge: return .unclear(.refused(failure))
        case .refused(let failure): return .refused(.refused(failure))
        case .rejected(let error), .lost(let error), .absent(let error): return .unclear(error)
        }
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

/// What the server makes of a key.
enum ProbeResult: Sendable {
    /// A signed answer: it is the device's.
    case accepted(Session)
    /// The server, whose challenge was signed, refuses it. The refusal itself is not.
    case refused(IdentityError)
    /// The server is there, and what came back about the key is not to be believed.
    case unclear(IdentityError)
    /// The server did not prove that it is there.
    case absent(IdentityError)

    var event: RotationSettlement.Event {
        switch self {
        case .accepted: .confirmed
        case .refused: .refused
        case .unclear: .lost
        case .absent: .absent
        }
    }
}

/// Any key, as the messages take one.
struct AnySigningKey: SigningKey {
    private let key: any SigningKey
    init(_ key: any SigningKey) { self.key = key }
    var publicKey: PublicKeyText { key.publicKey }
    func sign(_ message: RawSpan) throws -> SignatureText { try key.sign(message) }
}
