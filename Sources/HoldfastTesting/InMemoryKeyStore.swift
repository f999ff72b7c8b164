package import DeviceOwner
package import KeyStores
package import SecretMemory
internal import Synchronization
package import VaultFormat

/// A key store in memory: shares for the device owner's unlock live as long as this object.
public final class InMemoryKeyStore: Sendable {
    // As the session's keyring: shares that survive restarts are not put into files.
    private let shares = MemoryShares(standingFor: .secretService)
    private let isAvailable = Mutex(true)

    /// A key store that is available and empty.
    package init() {}

    /// How many shares are stored.
    public var count: Int { shares.count }

    /// Makes every later call fail as on a device whose key store is missing, or ends that.
    public func setAvailable(_ isAvailable: Bool) { self.isAvailable.withLock { $0 = isAvailable } }

    /// Forgets all shares, as a user does who resets the device's key store.
    package func removeAll() { shares.removeAll() }
}

extension InMemoryKeyStore: ShareStore {
    package var kind: KeyStoreKind { shares.kind }

    package func assurance(of rule: ShareRule) -> Assurance { shares.assurance(of: rule) }

    package func make(
        _ share: borrowing SecretBytes, as name: ShareName, under rule: ShareRule,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) -> ShareItem {
        try probe()
        return try shares.make(share, as: name, under: rule, note: note)
    }

    package func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes {
        try probe()
        return try shares.read(item, of: vault)
    }

    package func read(
        _ item: ShareItem, of vault: VaultID, after release: borrowing OwnerRelease
    ) throws(ShareFailure) -> SecretBytes {
        try probe()
        return try shares.read(item, of: vault, after: release)
    }

    package func revoke(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> Revocation {
        try probe()
        return try shares.revoke(item, of: vault)
    }

    package func probe() throws(ShareFailure) {
        guard isAvailable.withLock({ $0 }) else {
            throw .unavailable(.absent(kind, "the test made the key store unavailable"))
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
