internal import SecretMemory
internal import Synchronization
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What a search looks through: names, tags and open fields of every item, in locked memory only. Built by the first
/// search, anew after a change of the vault, and dropped when the vault is locked.
final class ItemIndex: KeyHolder {
    private let state = Mutex(State())

    private struct State: ~Copyable {
        /// The vault's change that it shows; nil without an index.
        var change: UInt64?
        var segments: [Segment] = []
        /// How often a lock has dropped it: what was built meanwhile is not kept.
        var drops: UInt64 = 0
    }

    // A lock of the vault calls this with the gate held: nothing here may call the vault under the index's own lock.
    func dropKeys() {
        state.withLock { state in
            state.change = nil
            state.segments = []
            state.drops += 1
        }
    }

    func end(_ vault: Vault) {
        vault.letGo(of: self)
        dropKeys()
    }

    /// Whether there is an index now.
    var isBuilt: Bool { state.withLock { $0.change != nil } }

    /// Lends every entry, after building the index where it is missing or old.
    /// - Throws: `locked`, also when the vault is being locked meanwhile; `damaged`, `outOfMemory`.
    func forEach(_ vault: Vault, _ body: (IndexedEntry, RawSpan) -> Void) throws(VaultError) {
        let change = try vault.lastChange()
        let (known, drops) = state.withLock { ($0.change, $0.drops) }
        if known != change {
            let (segments, seen) = try build(vault)
            state.withLock { state in
                guard state.drops == drops else { return }
                state.segments = segments
                state.change = seen
            }
        }
        let isThere = state.withLock { state in
            guard state.drops == drops else { return false }
            for segment in state.segments { segment.forEach(body) }
            return true
        }
        guard isThere else { throw .locked }
    }

    private func build(_ vault: Vault) throws(VaultError) -> ([Segment], UInt64) {
        var segments: [Segment] = []
        let change = try vault.forEachContent(for: self) { info, content throws(VaultError) in
            if info.isItem, Admission.isReservedName(info.name) { return }
            let entry = try IndexEntry(info, content)
            if !(segments.last?.hasRoom(for: entry.size) ?? false) {
                segments.append(try Segment(atLeast: entry.size))
            }
            segments[segments.count - 1].append(entry, info, content)
        }
        return (segments, change)
    }
}

/// A piece of the index: entries one behind the other in locked memory.
final class Segment: @unchecked Sendable {  // reached under the index's lock only
    private static let standardSize = 256 << 10

    private var bytes: SecretBytes
    private var used = 0

    init(atLeast size: Int) throws(VaultError) {
        bytes = try secretMemory(SecretBytes(zeroed: max(size, Segment.standardSize), lifetime: .longLived))
    }

    func hasRoom(for size: Int) -> Bool { size <= bytes.count - used }

    func append(_ entry: IndexEntry, _ info: Vault.RecordInfo, _ content: RawSpan) {
        let start = used
        used = bytes.withMutableBytes { entry.write(info, content, into: &$0, at: start) }
    }

    func forEach(_ body: (IndexedEntry, RawSpan) -> Void) {
        bytes.withBytes { bytes in
            var offset = 0
            while offset < used {
                let entry = IndexedEntry(bytes, at: offset)
                body(entry, bytes)
                offset = entry.end
            }
        }
    }
}
