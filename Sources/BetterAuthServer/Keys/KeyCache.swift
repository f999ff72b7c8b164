package import BetterAuthMessages
package import Cryptography
internal import Synchronization

/// Keys of devices that were imported before: importing one costs a third of a verification.
package final class KeyCache: Sendable {
    private let keys: Mutex<RecentMap<PublicKeyText, P256PublicKey>>

    /// - Parameter capacity: Most keys; each takes three kilobytes.
    package init(capacity: Int = 1536) { keys = Mutex(RecentMap(capacity: capacity)) }

    /// The key, from the cache or imported.
    /// - Throws: ``CryptographyError/invalidPoint`` when the text is no point of the curve.
    package func key(_ text: PublicKeyText) throws(CryptographyError) -> P256PublicKey {
        if let known = keys.withLock({ $0.value(text) }) { return known }
        let key = try text.withRawBytes { raw throws(CryptographyError) in try P256PublicKey(compressed: raw) }
        keep(key, for: text)
        return key
    }

    /// Keeps a key that was imported already, as when a device was registered with it.
    package func keep(_ key: P256PublicKey, for text: PublicKeyText) {
        keys.withLock { keys in
            // The one that is there has been used, and what it verified with is prepared.
            if !keys.contains(text) { keys.put(key, for: text) }
        }
    }
}
