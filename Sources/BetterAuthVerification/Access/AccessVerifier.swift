public import BetterAuthMessages
internal import SystemCalls

/// Verifies access requests for a server that the auth server's tokens are meant for (protocol.md 7.13, in
/// that order). One for the whole process; calls may run side by side.
///
/// Two things that cost an attacker little are not decided here: how many requests an address may send (limit that
/// before, a request costs two signature verifications), and which path a body is good for (put the operation's name
/// into the body).
public struct AccessVerifier: Sendable {
    /// How strict it is.
    public struct Settings: Sendable, Hashable {
        /// How long a request is valid after its timestamp; counted in milliseconds.
        public var window = Duration.seconds(30)
        /// How far the clocks of clients and of the auth server may be ahead of ours. Nonces are remembered for so much
        /// longer.
        public var tolerance = Duration.zero
        /// Tokens that are remembered as genuine; 0 for none. Each takes up to 4 KiB.
        package var cachedTokens = 4096

        /// As every peer is: 30 seconds, no tolerance.
        public init() {}
    }

    private let keys: any ServerKeySource
    private let nonces: any NonceStore
    private let revocations: any RevocationList
    private let settings: Settings
    private let compression: any TokenCompression
    private let cache: VerifiedTokenCache

    /// - Parameters:
    ///   - keys: Knows the keys that sign access tokens.
    ///   - nonces: Shared by all replicas of the service.
    ///   - revocations: Whose tokens count no longer.
    ///   - settings: How strict it is.
    public init(
        keys: any ServerKeySource, nonces: any NonceStore, revocations: any RevocationList,
        settings: Settings = Settings()
    ) {
        self.init(
            keys: keys, nonces: nonces, revocations: revocations, settings: settings,
            compression: ZlibTokenCompression())
    }

    package init(
        keys: any ServerKeySource, nonces: any NonceStore, revocations: any RevocationList,
        settings: Settings = Settings(), compression: any TokenCompression
    ) {
        self.keys = keys
        self.nonces = nonces
        self.revocations = revocations
        self.settings = settings
        self.compression = compression
        cache = VerifiedTokenCache(capacity: settings.cachedTokens)
    }

    /// Tokens that are remembered now.
    package var cachedTokens: Int { cache.count }

    /// Verifies a request. One that passes is remembered and will not pass again.
    /// - Parameters:
    ///   - body: The HTTP body as it came.
    ///   - now: The time that everything is judged by.
    /// - Throws: ``AccessRefusal``.
    public func verify(_ body: [UInt8], now: Timestamp = .now) async throws(AccessRefusal) -> VerifiedAccess {
        let message: SignedMessage<Access.Request>
        do throws(MessageError) {
            message = try SignedMessage(parsing: body)
        } catch { throw .refused(.invalidMessage(error)) }
        let request = message.payload
        let token = try await verifiedToken(request.token, now)
        do throws(ProtocolError) {
            try token.claims.checkAccess(now: now, tolerance: settings.tolerance.clampedMilliseconds)
            guard token.key.isValid(message) else { throw .plain(.wrongSignature) }
            try request.checkAge(
                now: now, window: settings.window.clampedMilliseconds,
                tolerance: settings.tolerance.clampedMilliseconds)
        } catch { throw .refused(error) }
        try await checkRevocation(token.claims, now)
        // Last, so that only authentic requests occupy room.
        try await reserve(request, now)
        return VerifiedAccess(claims: token.claims, request: request)
    }

    /// The token's claims, its signature verified now or before, by a key that counts now.
    private func verifiedToken(
        _ text: TokenText, _ now: Timestamp
    ) async throws(AccessRefusal) -> VerifiedTokenCache.Entry {
        let digest = text.withText { DigestText(blake3: $0) }
        if let known = cache.entry(for: digest, now: now) {
            do throws(AccessRefusal) {
                _ = try await serverKey(known.claims.serverIdentity, now)
            } catch {
                if case .refused = error.cause { cache.remove(digest) }
                throw error
            }
            return known
        }
        let token: AccessToken
        do throws(MessageError) {
            token = try AccessToken(opening: text, with: compression)
        } catch { throw .refused(.invalidMessage(error)) }
        let serverKey = try await serverKey(token.claims.serverIdentity, now)
        guard token.withSignedBytes({ serverKey.isValid(token.signature, for: $0) }),
            let key = try? VerificationKey(token.claims.publicKey)
        else { throw .refused(.plain(.wrongSignature)) }
        let entry = VerifiedTokenCache.Entry(claims: token.claims, key: key)
        cache.insert(entry, for: digest)
        return entry
    }

    private func serverKey(
        _ name: PublicKeyText, _ now: Timestamp
    ) async throws(AccessRefusal) -> VerificationKey {
        let found: VerificationKey?
        do { found = try await keys.key(named: name, for: .access, now: now) } catch { throw .unavailable(error) }
        guard let found else { throw .refused(.plain(.unknownServer)) }
        return found
    }

    private func checkRevocation(_ claims: AccessClaims, _ now: Timestamp) async throws(AccessRefusal) {
        let isRevoked: Bool
        do { isRevoked = try await revocations.isRevoked(claims, now: now) } catch { throw .unavailable(error) }
        guard !isRevoked else { throw .refused(.invalidDevice(claims.device, calculated: nil)) }
    }

    /// For as long as the timestamp can be valid anywhere: one that is ahead by all the tolerance is valid for longer.
    private func reserve(_ request: Access.Request, _ now: Timestamp) async throws(AccessRefusal) {
        let lifetime = settings.window + settings.tolerance
        guard let until = max(now, request.timestamp).adding(lifetime) else {
            throw .refused(.futureRequest(timestamp: request.timestamp, now: now))
        }
        let isNew: Bool
        do { isNew = try await nonces.reserve(request.nonce, until: until, now: now) } catch {
            throw .unavailable(error)
        }
        guard isNew else { throw .refused(.plain(.replayed)) }
    }
}

extension Timestamp {
    /// The system's time in UTC, which anybody may set.
    public static var now: Timestamp { Timestamp(clamping: WallClock.milliseconds) }
}
