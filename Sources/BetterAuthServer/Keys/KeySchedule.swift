package import BetterAuthMessages

/// The keys of one purpose in the order of their use, which is that of their making. A key is published before it is
/// used, and stays published for as long as what it signed is valid (protocol.md 12.26).
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
        self.entries = KeySchedule.sorted(entries)
        self.lifetime = lifetime
    }

    /// With one key, in use.
    /// - Parameter moment: Since when; ``BetterAuthMessages/Timestamp/never`` when that is not known.
    package init(_ key: ServerKey, usedFrom moment: Timestamp = .never, lifetime: Int64) {
        entries = [Entry(key: key, usedFrom: moment)]
        self.lifetime = lifetime
    }

    /// Those with the same moment stay in the order that they have.
    private static func sorted(_ entries: [Entry]) -> [Entry] {
        entries.enumerated().sorted { ($0.element.usedFrom, $0.offset) < ($1.element.usedFrom, $1.offset) }
            .map(\.element)
    }

    /// The key that signs now.
    /// - Parameter isReadable: Whether verifiers can know a key. The youngest of those signs; where there is none, the
    ///   youngest of all.
    package func current(now: Timestamp, where isReadable: (PublicKeyText) -> Bool = { _ in true }) -> ServerKey {
        let readable = entries.indices.last {
            entries[$0].usedFrom <= now && isPublished($0, now: now) && isReadable(entries[$0].key.publicKey)
        }
        if let readable { return entries[readable].key }
        return (entries.last { $0.usedFrom <= now } ?? entries[0]).key
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

    /// Publishes another key, and forgets those whose signatures have all expired. No earlier key comes into use after
    /// it, whatever a clock said when that one was made.
    package mutating func add(_ key: ServerKey, usedFrom: Timestamp, now: Timestamp) {
        let kept = entries.indices.filter { isPublished($0, now: now) }.map { entries[$0] }
        entries = kept.map { Entry(key: $0.key, usedFrom: min($0.usedFrom, usedFrom)) }
        entries.append(Entry(key: key, usedFrom: usedFrom))
    }

    /// A key signs until the next one does; its last signature outlives that by the lifetime.
    private func isPublished(_ index: Int, now: Timestamp) -> Bool {
        guard index + 1 < entries.count else { return true }
        return now.milliseconds <= entries[index + 1].usedFrom.milliseconds + lifetime
    }
}
