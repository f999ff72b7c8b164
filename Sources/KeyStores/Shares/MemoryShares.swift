package import SecretMemory
internal import Synchronization
package import VaultFormat

/// Shares and floors in this process's memory: for previews and for tests, which have no keychain. They end with the process.
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
        init(_ share: consuming SecretBytes) { self.share = share }
    }

    private static let backend = "memory"

    /// - Parameter kind: The store that it stands for in slots.
    package init(standingFor kind: KeyStoreKind = .file) { self.kind = kind }

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
        let box = SecretBox(kept)
        let isFree = state.withLock { state in
            guard state.shares[name] == nil else { return false }
            state.shares[name] = box
            return true
        }
        guard isFree else { throw .nameTaken }
        return item
    }

    package func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes {
        try item.check(kind, of: vault)
        let box = state.withLock { $0.shares[item.name] }
        guard let box else { throw .lost(.notThere) }
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
