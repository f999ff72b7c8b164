package import BetterAuthMessages
package import Cryptography
internal import Synchronization

/// Keys of devices that were imported before: importing one costs a third of a verification.
///
/// When it is full, each new key takes the place of one: the next in turn that was not used since the turn before. Never
/// are many freed at once, which would hold up every request meanwhile.
package final class KeyCache: Sendable {
    private struct Entry {
        let key: P256PublicKey
        var isUsed = false
    }

    private struct State {
        var entries: [PublicKeyText: Entry] = [:]
        /// All texts, in the order in which they take turns.
        var turns: [PublicKeyText] = []
        var next = 0
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: Most keys; each takes one to two kilobytes.
    package init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    /// The key, from the cache or imported.
    /// - Throws: ``CryptographyError/invalidPoint`` when the text is no point of the curve.
    package func key(_ text: PublicKeyText) throws(CryptographyError) -> P256PublicKey {
        let known = state.withLock { state in
            state.entries[text]?.isUsed = true
            return state.entries[text]?.key
        }
        if let known { return known }
        let key = try text.withRawBytes { raw throws(CryptographyError) in try P256PublicKey(compressed: raw) }
        keep(key, for: text)
        return key
    }

    /// Keeps a key that was imported already, as when a device was registered with it.
    package func keep(_ key: P256PublicKey, for text: PublicKeyText) {
        state.withLock { state in
            guard state.entries[text] == nil else { return }
            state.entries[text] = Entry(key: key)
            guard state.turns.count >= capacity else { return state.turns.append(text) }
            while state.entries[state.turns[state.next]]?.isUsed == true {
                state.entries[state.turns[state.next]]?.isUsed = false
                state.next = (state.next + 1) % capacity
            }
            state.entries[state.turns[state.next]] = nil
            state.turns[state.next] = text
            state.next = (state.next + 1) % capacity
        }
    }
}
