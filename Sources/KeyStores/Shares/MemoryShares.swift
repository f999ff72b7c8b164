package import DeviceOwner
package import SecretMemory
internal import Synchronization
package import VaultFormat

/// Shares and floors in this process's memory: for previews and for tests, which have no keychain. They end with the
/// process.
package final class MemoryShares: ShareStore, FloorStore {
    package let kind: KeyStoreKind
    private let state = Mutex(State())

    private struct State {
        var shares: [ShareName: SecretBox] = [:]
        var floors: [FloorPlace: [UInt8]] = [:]
    }

    /// A share that lies in a dictionary.
    private final class SecretBox: Sendable {
        let share: SecretBytes
        /// Where only a release gets it.
        let key: ReleaseKey?

        init(_ share: consuming SecretBytes, _ key: ReleaseKey?) {
            self.share = share
            self.key = key
        }
    }

    private static let backend = "memory"

    /// - Parameter kind: The store that it stands for in slots.
    package init(standingFor kind: KeyStoreKind = .file) { self.kind = kind }

    /// How many shares there are.
    package var count: Int { state.withLock { $0.shares.count } }

    /// Forgets all shares.
    package func removeAll() { state.withLock { $0.shares = [:] } }

    package func assurance(of rule: ShareRule) -> Assurance { .none }

    package func make(
        _ share: borrowing SecretBytes, as name: ShareName, under rule: ShareRule,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) -> ShareItem {
        guard share.count == 32 else { throw .failed(KeyStoreError(.failure, "a share has 32 bytes")) }
        let item = ShareItem(name, .named(kind, backend: MemoryShares.backend))
        try note(item)
        let kept: SecretBytes
        do throws(SecretMemoryError) { kept = try share.copy() } catch { throw .failed(KeyStoreError(error)) }
        var key: ReleaseKey?
        if case .released(let given, _) = rule { key = given }
        let box = SecretBox(kept, key)
        let isFree = state.withLock { state in
            guard rule.replaces || state.shares[name] == nil else { return false }
            state.shares[name] = box
            return true
        }
        guard isFree else { throw .nameTaken }
        return item
    }

    package func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes {
        let box = try found(item, vault)
        guard box.key == nil else { throw .notConfirmed }
        return try copy(box)
    }

    package func read(
        _ item: ShareItem, of vault: VaultID, after release: borrowing OwnerRelease
    ) throws(ShareFailure) -> SecretBytes {
        let box = try found(item, vault)
        if let key = box.key {
            guard try ReleaseKey(release.secret).authorisation.isEqual(to: key.authorisation) else {
                throw .notConfirmed
            }
        }
        return try copy(box)
    }

    private func found(_ item: ShareItem, _ vault: VaultID) throws(ShareFailure) -> SecretBox {
        try item.check(kind, of: vault)
        guard let box = state.withLock({ $0.shares[item.name] }) else { throw .lost(.notThere) }
        return box
    }

    private func copy(_ box: SecretBox) throws(ShareFailure) -> SecretBytes {
        do throws(SecretMemoryError) { return try box.share.copy() } catch { throw .failed(KeyStoreError(error)) }
    }

    package func revoke(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> Revocation {
        guard item.isOf(kind, vault) else { return .anothers }
        state.withLock { $0.shares[item.name] = nil }
        return .gone
    }

    package func probe() throws(ShareFailure) {}

    package func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]? { state.withLock { $0.floors[place] } }

    package func set(_ content: [UInt8], in place: FloorPlace) throws(ShareFailure) {
        state.withLock { $0.floors[place] = content }
    }

    package func remove(_ place: FloorPlace) throws(ShareFailure) { state.withLock { $0.floors[place] = nil } }
}
