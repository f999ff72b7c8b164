internal import BetterAuthMessages
internal import Synchronization

/// Tokens whose signature was found to be right, by the digest of their text (constructions.md 10.4). A hit saves
/// parsing and that one verification, nothing else: times, the server's key and revocation are looked at each time.
///
/// Two halves, of which the older one is dropped when the younger is full: what is used stays.
final class VerifiedTokenCache: Sendable {
    struct Entry: Sendable {
        let claims: AccessClaims
        /// The session's key, imported.
        let key: VerificationKey
    }

    private struct Halves {
        var young: [DigestText: Entry] = [:]
        var old: [DigestText: Entry] = [:]
    }

    /// Bytes of attributes beyond which a token is not worth its room.
    private static let largestAttributes = 2048

    private let half: Int
    private let halves = Mutex(Halves())

    /// - Parameter capacity: Tokens at most; 0 keeps none.
    init(capacity: Int) { half = capacity / 2 }

    /// The claims of a token that is known and has not expired.
    func entry(for token: DigestText, now: Timestamp) -> Entry? {
        halves.withLock { halves in
            guard let entry = halves.young[token] ?? halves.old.removeValue(forKey: token) else { return nil }
            guard now <= entry.claims.expiry else {
                halves.young[token] = nil
                return nil
            }
            put(entry, token, &halves)
            return entry
        }
    }

    func insert(_ entry: Entry, for token: DigestText) {
        guard half > 0, entry.claims.attributes.bytes.count <= VerifiedTokenCache.largestAttributes else { return }
        halves.withLock { put(entry, token, &$0) }
    }

    private func put(_ entry: Entry, _ token: DigestText, _ halves: inout Halves) {
        if halves.young.count >= half, halves.young[token] == nil {
            halves.old = halves.young
            halves.young = [:]
        }
        halves.young[token] = entry
    }

    func remove(_ token: DigestText) {
        halves.withLock { halves in
            halves.young[token] = nil
            halves.old[token] = nil
        }
    }

    var count: Int { halves.withLock { $0.young.count + $0.old.count } }
}
