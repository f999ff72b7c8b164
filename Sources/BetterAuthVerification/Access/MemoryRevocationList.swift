public import BetterAuthMessages
internal import Synchronization

/// Revocations in the memory of one process; the app adds those it learns of.
public final class MemoryRevocationList: RevocationList {
    private struct State {
        /// The moment up to which each is remembered.
        var devices: [DeviceID: Timestamp] = [:]
        var identities: [IdentityID: (issuedBefore: Timestamp, until: Timestamp)] = [:]
        var cleared: Timestamp?

        /// Once a minute, removes entries that no valid token can refer to.
        mutating func clear(_ now: Timestamp) {
            if let cleared, (0..<60_000).contains(now.milliseconds - cleared.milliseconds) { return }
            cleared = now
            devices = devices.filter { $0.value >= now }
            identities = identities.filter { $0.value.until >= now }
        }
    }

    private let state = Mutex(State())

    /// An empty one.
    public init() {}

    /// A device was unlinked: no token of it counts, whenever it was issued.
    /// - Parameters:
    ///   - device: The one that was unlinked.
    ///   - until: When its last token has expired: now and the lifetime of an access token.
    public func revoke(_ device: DeviceID, until: Timestamp) {
        state.withLock { state in
            state.devices[device] = max(until, state.devices[device] ?? until)
        }
    }

    /// An identity was recovered or deleted: its tokens from before that moment do not count.
    /// - Parameters:
    ///   - identity: The one that was recovered or deleted.
    ///   - moment: When that was.
    ///   - until: When the last of them has expired.
    package func void(_ identity: IdentityID, issuedBefore moment: Timestamp, until: Timestamp) {
        state.withLock { state in
            let known = state.identities[identity] ?? (moment, until)
            state.identities[identity] = (max(moment, known.issuedBefore), max(until, known.until))
        }
    }

    /// Whether a token with these claims is void.
    public func isRevoked(_ claims: AccessClaims, now: Timestamp) async throws -> Bool {
        state.withLock { state in
            state.clear(now)
            if state.devices[claims.device] != nil { return true }
            guard let voided = state.identities[claims.identity] else { return false }
            return claims.issuedAt < voided.issuedBefore
        }
    }
}
