package import BetterAuthMessages

/// The keys of one purpose in the order of their use. A key is published before it is used, and stays published for as
/// long as what it signed is valid (protocol.md 12.26).
package struct KeySchedule: Sendable {
    package struct Entry: Sendable {
        package let key: ServerKey
        /// The first moment at which the key signs.
        package let usedFrom: Timestamp

        package init(key: ServerKey, usedFrom: Timestamp) {
            self.key = key
            self.usedFrom = usedFrom
        }
    }

    /// By their first use; never empty.
    package private(set) var entries: [Entry]
    /// Milliseconds for which a signature is valid.
    package let lifetime: Int64

    /// - Parameter entries: Nil comes back when there is none.
    package init?(_ entries: [Entry], lifetime: Int64) {
        guard !entries.isEmpty else { return nil }
        self.entries = entries.sorted { $0.usedFrom < $1.usedFrom }
        self.lifetime = lifetime
    }

    /// With one key, in use.
    package init(_ key: ServerKey, lifetime: Int64) {
        entries = [Entry(key: key, usedFrom: .never)]
        self.lifetime = lifetime
    }

    /// The key that signs now.
    package func current(now: Timestamp) -> ServerKey {
        (entries.last { $0.usedFrom <= now } ?? entries[0]).key
    }

    /// The keys whose signatures are good now or will be: what verifiers have to know.
    package func published(now: Timestamp) -> [ServerKey] {
        entries.indices.lazy.filter { isPublished($0, now: now) }.map { entries[$0].key }
    }

    /// The published key with this text.
    package func published(_ key: PublicKeyText, now: Timestamp) -> ServerKey? {
        entries.indices.first { entries[$0].key.publicKey == key && isPublished($0, now: now) }
            .map { entries[$0].key }
    }

    /// Publishes another key, and forgets those whose signatures have all expired.
    package mutating func add(_ key: ServerKey, usedFrom: Timestamp, now: Timestamp) {
        entries = entries.indices.filter { isPublished($0, now: now) }.map { entries[$0] }
        entries.append(Entry(key: key, usedFrom: usedFrom))
        entries.sort { $0.usedFrom < $1.usedFrom }
    }

    /// A key signs until the next one does; its last signature outlives that by the lifetime.
    private func isPublished(_ index: Int, now: Timestamp) -> Bool {
        guard index + 1 < entries.count else { return true }
        return now.milliseconds <= entries[index + 1].usedFrom.milliseconds + lifetime
    }
}
