internal import BetterAuthVerification
package import BetterAuthMessages
package import BetterAuthServer

/// Nonces and revocations that application servers share through Redis (protocol.md 12.10 and 12.12).
///
/// Its calls block their thread while Redis answers.
package struct SharedAccess: NonceStore, RevocationList {
    private let entries: ExpiringEntries

    package init(_ redis: RedisLocation) { entries = ExpiringEntries(redis) }

    /// Whether Redis does its work.
    /// - Throws: ``BetterAuthServer/StoreError``.
    package func probe() throws(StoreError) { try entries.probe() }

    package func reserve(_ nonce: NonceText, until: Timestamp, now: Timestamp) async throws -> Bool {
        try entries.reserve(nonce, until: until, now: now)
    }

    package func isRevoked(_ claims: AccessClaims, now: Timestamp) async throws -> Bool {
        try entries.isVoid(claims.device, of: claims.identity, issuedAt: claims.issuedAt)
    }
}
