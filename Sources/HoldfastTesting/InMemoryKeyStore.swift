package import DeviceOwner
package import KeyStores
package import SecretMemory
internal import Synchronization
package import VaultFormat

/// A key store in memory: shares for the device owner's unlock live as long as this object.
public final class InMemoryKeyStore: Sendable {
    private struct Item {
        let share: [UInt8]
        let secret: [UInt8]
    }

    private struct State {
        var items: [[UInt8]: Item] = [:]
        var isAvailable = true
    }

    private let state = Mutex(State())

    /// A key store that is available and empty.
    package init() {}

    /// How many shares are stored.
    public var count: Int { state.withLock { $0.items.count } }

    /// Makes every later call fail as on a device whose key store is missing, or ends that.
    public func setAvailable(_ isAvailable: Bool) { state.withLock { $0.isAvailable = isAvailable } }

    /// Forgets all shares, as a user does who resets the device's key store.
    package func removeAll() { state.withLock { $0.items = [:] } }
}

extension InMemoryKeyStore: KeyStore {
    // As the session's keyring: shares that survive restarts are not put into files.
    package var kind: KeyStoreKind { .secretService }
    package var assurance: Assurance { .none }

    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes
    ) throws(KeyStoreError) -> KeyStoreItem {
        let item = Item(share: share.copiedBytes, secret: secret.copiedBytes)
        let key = Array(name.utf8)
        try changed { $0.items[key] = item }
        return KeyStoreItem(kind, data: key)
    }

    package func redeem(
        _ item: KeyStoreItem, _ release: borrowing OwnerRelease
    ) throws(KeyStoreError) -> SecretBytes {
        let secret = release.secret.copiedBytes
        let found = try changed { $0.items[item.data] }
        guard let found else { throw KeyStoreError(.notFound, "the share is not in the store") }
        guard found.secret == secret else { throw KeyStoreError(.wrongSecret, "another release's share") }
        return try SecretBytes(stored: found.share)
    }

    package func delete(_ item: KeyStoreItem) throws(KeyStoreError) { try changed { $0.items[item.data] = nil } }

    package func probe() throws(KeyStoreError) { try changed { _ in } }

    package func roundTrip() throws(KeyStoreError) { try probe() }

    private func changed<R>(_ body: (inout State) -> R) throws(KeyStoreError) -> R {
        try state.withLock { state throws(KeyStoreError) in
            guard state.isAvailable else {
                throw KeyStoreError(.unavailable, "the test made the key store unavailable")
            }
            return body(&state)
        }
    }
}

extension SecretBytes {
    /// A copy in ordinary memory: what tests store is not secret.
    var copiedBytes: [UInt8] { withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } } }

    init(stored bytes: [UInt8]) throws(KeyStoreError) {
        do throws(SecretMemoryError) { self = unsafe try SecretBytes(copying: bytes.span.bytes) } catch {
            throw KeyStoreError(error)
        }
    }
}
