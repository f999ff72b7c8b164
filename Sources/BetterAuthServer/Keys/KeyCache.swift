package import BetterAuthMessages
package import Cryptography
internal import Synchronization

/// Keys of devices that were imported before: importing one costs a third of a verification.
///
/// Two halves; when the younger is full it becomes the older one, which is dropped. What is used stays.
package final class KeyCache: Sendable {
    private struct Halves {
        var young: [PublicKeyText: P256PublicKey] = [:]
        var old: [PublicKeyText: P256PublicKey] = [:]
    }

    private let halves = Mutex(Halves())
    private let halfCapacity: Int

    /// - Parameter capacity: Most keys; each takes one to two kilobytes.
    package init(capacity: Int = 4096) { halfCapacity = max(1, capacity / 2) }

    /// The key, from the cache or imported.
    /// - Throws: ``CryptographyError/invalidPoint`` when the text is no point of the curve.
    package func key(_ text: PublicKeyText) throws(CryptographyError) -> P256PublicKey {
        if let known = halves.withLock({ $0.young[text] }) { return known }
        if let known = halves.withLock({ $0.old[text] }) {
            keep(known, for: text)
            return known
        }
        let key = try text.withRawBytes { raw throws(CryptographyError) in try P256PublicKey(compressed: raw) }
        keep(key, for: text)
        return key
    }

    /// Keeps a key that was imported already, as when a device was registered with it.
    package func keep(_ key: P256PublicKey, for text: PublicKeyText) {
        halves.withLock { halves in
            if halves.young.count >= halfCapacity {
                halves.old = halves.young
                halves.young = [:]
            }
            halves.young[text] = key
        }
    }
}
