internal import SecretMemory
internal import Synchronization
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What a search looks through: names, tags and open fields of every item, in locked memory only. Built by the first
/// search, anew after a change of the vault, and dropped when the vault is locked.
final class ItemIndex: KeyHolder {
    private let state = Mutex(State())
    /// Bytes of it, at most.
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    private struct State: ~Copyable {
        /// The vault's change that it shows; nil without an index.
        var change: UInt64?
        var segments: [Segment] = []
        /// The change of which there can be none, for want of memory.
        var withoutIndex: UInt64?
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
        let (known, drops, isWithout) = state.withLock { ($0.change, $0.drops, $0.withoutIndex == change) }
        if known != change, !isWithout {
            do throws(VaultError) { try renew(vault, drops) } catch {
                guard error.code == .outOfMemory else { throw error }
                // The old one and the new one may be too much together.
                state.withLock { ($0.change, $0.segments) = (nil, []) }
                do throws(VaultError) { try renew(vault, drops) } catch {
                    guard error.code == .outOfMemory else { throw error }
                    state.withLock { $0.withoutIndex = change }
                }
            }
        }
        // Nil where another thread has found that there is no memory for one.
        let isThere: Bool? = state.withLock { state in
            guard state.drops == drops else { return false }
            guard state.change != nil else { return nil }
            for segment in state.segments { segment.forEach(body) }
            return true
        }
        switch isThere {
        case true?: return
        case false?: throw .locked
        case nil: try read(vault, body)
        }
    }

    private func renew(_ vault: Vault, _ drops: UInt64) throws(VaultError) {
        let (segments, seen) = try build(vault)
        state.withLock { state in
            guard state.drops == drops else { return }
            state.segments = segments
            state.change = seen
        }
    }

    /// Lends every entry without an index, which is as slow as reading every item: who fills the vault ends no search.
    private func read(_ vault: Vault, _ body: (IndexedEntry, RawSpan) -> Void) throws(VaultError) {
        var segment = try Segment(64 << 10)
        _ = try vault.forEachContent(for: self) { info, content throws(VaultError) in
            if info.isItem, Admission.isReservedName(info.name) { return }
            let entry = try IndexEntry(info, content)
            segment.empty()
            if !segment.hasRoom(for: entry.size) { segment = try Segment(entry.size) }
            segment.append(entry, info, content)
            segment.forEach(body)
        }
    }

    private func build(_ vault: Vault) throws(VaultError) -> ([Segment], UInt64) {
        var segments: [Segment] = []
        let change = try vault.forEachContent(for: self) { info, content throws(VaultError) in
            if info.isItem, Admission.isReservedName(info.name) { return }
            let entry = try IndexEntry(info, content)
            if !(segments.last?.hasRoom(for: entry.size) ?? false) {
                guard (segments.count + 1) * Segment.standardSize <= limit else { throw .noIndexMemory }
                segments.append(try Segment(max(entry.size, Segment.standardSize)))
            }
            segments[segments.count - 1].append(entry, info, content)
        }
        return (segments, change)
    }
}

/// A piece of the index: entries one behind the other in locked memory.
final class Segment: @unchecked Sendable {  // reached under the index's lock only
    static let standardSize = 256 << 10

    private var bytes: SecretBytes
    private var used = 0

    init(_ size: Int) throws(VaultError) {
        bytes = try secretMemory(SecretBytes(zeroed: size, lifetime: .longLived))
    }

    func empty() { used = 0 }

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

extension VaultError {
    fileprivate static let noIndexMemory = VaultError(.outOfMemory, "there is no memory for an index")
}
