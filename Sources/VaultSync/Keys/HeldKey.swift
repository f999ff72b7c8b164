package import SyncFormat
internal import Synchronization
internal import VaultStorage

/// A key that is used between operations of a vault, and goes when the vault is locked.
final class HeldKey<Key: ~Copyable & Sendable>: KeyHolder {
    private let key: Mutex<Key?>

    init(_ key: consuming Key) { self.key = Mutex(key) }

    // A lock of the vault calls this with the gate held: what is done with a key does not enter the vault.
    func dropKeys() { key.withLock { $0 = nil } }

    /// Lends the key.
    /// - Throws: `vault` with `locked` where it is gone; what `body` throws.
    func with<Result: ~Copyable & Sendable>(
        _ body: (borrowing Key) throws(SyncError) -> Result
    ) throws(SyncError) -> Result {
        try key.withLock { key throws(SyncError) in
            switch key {
            case .some(let key): try body(key)
            case .none: throw .vault(.locked)
            }
        }
    }
}

/// The keys of this device as a member, while the vault is unlocked.
package final class HeldMember: Sendable {
    /// Which member this is.
    package let id: SyncMemberID
    let held: HeldKey<MemberKeys>

    init(_ keys: consuming MemberKeys) {
        id = keys.id
        held = HeldKey(keys)
    }

    /// As ``HeldKey/with(_:)``.
    func with<Result: ~Copyable & Sendable>(
        _ body: (borrowing MemberKeys) throws(SyncError) -> Result
    ) throws(SyncError) -> Result { try held.with(body) }
}

/// All keys of a group that were loaded for a round. A lock of the vault takes them.
final class KeyRing: KeyHolder {
    private let state = Mutex<(keys: [any KeyHolder], isDropped: Bool)>(([], false))

    func dropKeys() {
        let keys = state.withLock { state in
            defer { state = ([], true) }
            return state.keys
        }
        for key in keys { key.dropKeys() }
    }

    /// What is added to one that a lock has emptied goes at once.
    func add(_ key: any KeyHolder) {
        let isDropped = state.withLock { state in
            if !state.isDropped { state.keys.append(key) }
            return state.isDropped
        }
        if isDropped { key.dropKeys() }
    }
}
