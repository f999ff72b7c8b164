/// The room of a file of keys. What writes one and what reads one both look here.
package enum KeyRoom {
    /// Keys that a file can have, of all purposes.
    static let most = 64
    /// Keys of the audit log that are kept.
    static let mostOfAudit = 16

    /// The shortest time in use, in seconds, after which keys can be rotated again and again, beside a whole audit log's keys.
    /// - Parameters:
    ///   - publishedSeconds: For which a key is published before it signs.
    ///   - lifetimes: Seconds for which what a key signed is valid, of each purpose.
    package static func shortestInterval(publishedSeconds: Int64, lifetimes: [Int64]) -> Int64 {
        func hasRoom(_ interval: Int64) -> Bool {
            // Of each purpose: those whose signatures are valid still, the one in use, and the one to come.
            let kept = lifetimes.map { ($0 + publishedSeconds) / (interval + publishedSeconds) + 2 }
            return kept.reduce(0, +) + Int64(mostOfAudit) <= Int64(most)
        }
        var (low, high) = (Int64(1), max(1, lifetimes.max() ?? 1))
        while low < high {
            let middle = (low + high) / 2
            if hasRoom(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
