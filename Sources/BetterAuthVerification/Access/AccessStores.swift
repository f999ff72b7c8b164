public import BetterAuthMessages

/// Remembers which access requests were seen. Replicas of a service share one: a request that one of them has taken
/// must be refused by all (protocol.md 12.12 to 12.15).
public protocol NonceStore: Sendable {
    /// Takes a nonce for oneself, atomically.
    /// - Parameters:
    ///   - nonce: The one in a request.
    ///   - until: The last moment at which a request with it could be accepted; it must be remembered up to then.
    ///   - now: The time of this call.
    /// - Returns: False when it is taken already.
    /// - Throws: When it cannot be told or remembered; the request is refused then.
    func reserve(_ nonce: NonceText, until: Timestamp, now: Timestamp) async throws -> Bool
}

/// Knows whose tokens count no longer although they have not expired: devices that were unlinked, and identities that
/// were recovered or deleted. Entries must be kept for the lifetime of an access token.
public protocol RevocationList: Sendable {
    /// Whether a token with these claims is void.
    /// - Throws: When it cannot be told; the request is refused then.
    func isRevoked(_ claims: AccessClaims, now: Timestamp) async throws -> Bool
}

/// Why a store in memory took nothing.
package enum AccessStoreError: Error, Sendable, Hashable {
    /// There are as many entries as there may be, and none of them has expired.
    case full
}
