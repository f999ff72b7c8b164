internal import SecretMemory
internal import VaultFormat
internal import VaultHeader
package import VaultStorage
internal import SystemCalls

// What the sync knows lies in a collection of the vault's own, beside the items: it is locked with them, moved to new
// keys, backed up and wiped, and no program that asks the agent reaches it.
extension Vault {
    /// The reserved collection of the sync.
    package static let syncCollection = "\u{0}sync"

    /// What ``forEachRecord(for:_:)`` lends.
    package enum SyncVisit {
        /// A record of the user's, those in the trash included.
        case record(RecordInfo)
        /// A record of the sync's own, by its name.
        case own(name: String)
    }

    /// Lends every record that this unlock reaches, and the sync's own, of one state of the vault. Those of the inbox
    /// are left out. The content is empty where it is in a file.
    /// - Parameters:
    ///   - holder: Told to drop what it made of them when the vault is locked.
    ///   - body: Also hears the number of the write that a record is of.
    /// - Returns: The number of the last transaction that was seen.
    /// - Throws: `locked`, `damaged` when a record cannot be read, and what `body` throws.
    package func forEachRecord(
        for holder: any KeyHolder, _ body: (SyncVisit, UInt64, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> UInt64 {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        gate.register(holder)
        let admission = reader.keys.admission
        return try reader.forEach { visited, plaintext, _ throws(VaultError) in
            try gate.checkOpen()
            guard case .record(let fields, _, _) = visited, let info = Vault.info(fields, plaintext) else {
                throw .unreadableRecord
            }
            guard info.origin == .protected else { return }
            let content = plaintext.extracting(fields.contentOffset..<plaintext.byteCount)
            if Admission.isReserved(info.collection) {
                guard info.collection == Vault.syncCollection else { return }
                try body(.own(name: info.name), fields.sequence, content)
            } else if admission.shut[info.collection] == nil {
                let empty: [UInt8] = []
                try unsafe body(.record(info), fields.sequence, info.isFile ? empty.span.bytes : content)
            }
        }.root.transaction
    }

    /// Has a lock of the vault take keys that are about to be read.
    /// - Throws: `locked`.
    package func hold(_ holder: any KeyHolder) throws(VaultError) {
        _ = try gate.enter()
        defer { gate.leave() }
        gate.register(holder)
    }

    /// Whether this unlock reaches a collection.
    package func reaches(_ collection: String) -> Bool {
        guard let admission = gate.current?.keys.admission else { return false }
        return admission.shut[collection] == nil
    }

    /// The collections that this unlock does not reach.
    package var unreachedCollections: [String] { gate.current?.keys.admission.shut.keys.sorted() ?? [] }

    /// A record of the sync's own.
    package func syncRecord(_ name: String) -> ReservedRecord {
        ReservedRecord(vault: self, collection: Vault.syncCollection, name: name)
    }
}

extension WriteSession {
    /// Stores a record of the sync's own, in place of what is there.
    /// - Throws: `tooLarge`, `assuranceTooLow`, and what writing throws.
    package mutating func put(sync bytes: RawSpan, for name: String) throws(VaultError) {
        guard bytes.byteCount <= Vault.largestInlineValue else { throw .tooLarge }
        let draft = RecordDraft(
            collection: Vault.syncCollection, name: name, replacing: true, now: WallClock.milliseconds)
        let outer = beginChange()
        do throws(VaultError) {
            try admission.check(reserved: Vault.syncCollection)
            try put(draft, content: bytes)
            endChange(outer, nil)
        } catch {
            endChange(outer, error)
            throw error
        }
    }

    /// Removes a record of the sync's own.
    /// - Throws: `recordNotFound`, `damaged`.
    package mutating func delete(sync name: String) throws(VaultError) {
        let outer = beginChange()
        do throws(VaultError) {
            try admission.check(reserved: Vault.syncCollection)
            try delete(collection: Vault.syncCollection, name: name)
            endChange(outer, nil)
        } catch {
            endChange(outer, error)
            throw error
        }
    }

    /// Lends a record of the sync's own as it is before this transaction's next change; nil when there is none.
    package mutating func withSync<R: ~Copyable>(
        _ name: String, _ body: (RawSpan) throws(VaultError) -> R
    ) throws(VaultError) -> R? {
        try admission.check(reserved: Vault.syncCollection)
        return try withRecord(collection: Vault.syncCollection, name: name) { fields, plaintext throws(VaultError) in
            guard fields.origin == .protected else { throw .unconfirmed }
            return try body(plaintext.extracting(fields.contentOffset..<plaintext.byteCount))
        }
    }
}
