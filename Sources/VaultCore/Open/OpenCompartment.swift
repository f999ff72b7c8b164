internal import Cryptography
public import SecretMemory
internal import Synchronization
internal import SystemCalls
package import OpenStorage
internal import VaultFolders
internal import VaultFormat
internal import VaultHeader
public import VaultStorage

/// Records that are reached without the owner: for what an app must keep while it is locked.
///
/// They are encrypted under a key that rests beside them, so they are hidden from someone who has only the database
/// file, but not from anyone who can read the home. Assurance: `none`. Nothing here ever stands in for a record of the
/// vault: at the next unlock everything moves to the vault's inbox, marked with its origin, where the owner confirms it
/// or throws it away.
///
/// Safe to use from any thread and from several processes; each call has exclusive use of the compartment.
public final class OpenCompartment: Sendable {
    /// How much the compartment takes.
    package typealias Quota = OpenQuota

    let home: HomeDirectory
    private let gate: Gate
    /// What the app's own code asks for, beside the rules in the header.
    private let minima: [String: Assurance]
    let state = Mutex(State())

    struct State: Sendable {
        var quota = Quota.standard
        var store: OpenStore?
        var lastMigration: Migration?
    }

    init(in home: HomeDirectory, gate: Gate, minima: [String: Assurance]) {
        self.home = home
        self.minima = minima
        self.gate = gate
    }

    /// What the compartment takes; more than ``Quota/largest`` is cut to it. Of this object, not stored.
    package var quota: Quota {
        get { state.withLock { $0.quota } }
        set { state.withLock { $0.quota = newValue.capped } }
    }

    /// What the last unlock took in; nil before the first.
    package var lastMigration: Migration? { state.withLock { $0.lastMigration } }

    /// Stores an item that anyone who can read the home can read. It is durable when this returns.
    /// - Throws: `quotaExceeded`, `assuranceTooLow` for a collection with a minimum, `recordExists` unless `replacing`,
    ///   `invalidName`, `tooLarge` above 1 MiB, `damaged` (mended by the next unlock), `busy`, `diskFull`, `readOnly`.
    public func put(
        _ value: borrowing SecretBytes, for name: String, in collection: String = Vault.defaultCollection,
        replacing: Bool = false
    ) throws(VaultError) {
        try value.withBytes { value throws(VaultError) in
            try put(bytes: value, for: name, in: collection, replacing: replacing)
        }
    }

    /// As ``put(_:for:in:replacing:)``, for bytes that the caller keeps.
    public func put(
        bytes: RawSpan, for name: String, in collection: String = Vault.defaultCollection, replacing: Bool = false
    ) throws(VaultError) {
        _ = try check(bytes, name, collection)
        let draft = RecordDraft(
            collection: collection, name: name, replacing: replacing, origin: .open,
            now: WallClock.milliseconds)
        try add(draft, bytes)
    }

    /// Stores an item that can only be read once the vault is unlocked: it is sealed to the vault's public key, name
    /// and all. It cannot be replaced or found by its name; each call makes one more.
    ///
    /// Someone who could write to the home since the last unlock may have replaced the vault's public key, and can then
    /// read what is sealed to it. The next unlock finds such a key, not earlier.
    /// - Throws: As ``put(_:for:in:replacing:)``; `noPublicKey` when the vault has none yet.
    package func drop(
        _ value: borrowing SecretBytes, for name: String, in collection: String = Vault.defaultCollection
    ) throws(VaultError) {
        try value.withBytes { value throws(VaultError) in try drop(bytes: value, for: name, in: collection) }
    }

    /// As ``drop(_:for:in:)``, for bytes that the caller keeps.
    package func drop(
        bytes: RawSpan, for name: String, in collection: String = Vault.defaultCollection
    ) throws(VaultError) {
        defer { WorkingMemory.wipe() }
        let (record, vault) = try check(bytes, name, collection)
        guard let key = try publicKey(), key.vault == vault else { throw .noPublicKey }
        let now = WallClock.milliseconds
        let item: [UInt8]
        do throws(VaultError) {
            item = try SealedItem.seal(bytes, as: record, to: key, now: now)
        } catch let error where error.code == .cryptography {
            throw .noPublicKey  // 33 bytes that are no point
        }
        let id = try crypto(SecureRandom.bytes(16))
        let draft = RecordDraft(
            collection: "", name: Hexadecimal.encode(id), kind: .sealed, origin: .open, now: now)
        try item.withRawSpan { item throws(VaultError) in try add(draft, item) }
    }

    private func publicKey() throws(VaultError) -> OpenPublicKeyFile? {
        do throws(VaultError) { return try OpenPublicKey.read(in: home) } catch {
            if error.code == .damaged || error.code == .newerVersion { throw .noPublicKey }
            throw error
        }
    }

    /// A copy of an item in locked memory.
    /// - Throws: `recordNotFound`, `damaged`; `locked` for what was sealed to the vault.
    public func value(
        for name: String, in collection: String = Vault.defaultCollection
    ) throws(VaultError) -> SecretBytes {
        try read { store throws(VaultError) in
            guard let store else { throw .recordNotFound }
            return try store.value(collection: collection, name: name)
        }
    }

    /// Lends a copy of an item from locked memory for the time of the closure.
    /// - Throws: As ``value(for:in:)``, and what `body` throws.
    public func withValue<R: ~Copyable>(
        for name: String, in collection: String = Vault.defaultCollection, _ body: (RawSpan) throws -> R
    ) throws -> R {
        let value = try value(for: name, in: collection)
        return try value.withBytes { try body($0) }
    }

    /// Removes an item. One that was sealed to the vault has the name that ``records(in:)`` shows, in the collection
    /// "".
    /// - Throws: `recordNotFound`, `damaged`, `readOnly`.
    public func delete(_ name: String, in collection: String = Vault.defaultCollection) throws(VaultError) {
        let found = try write(creating: false) { session throws(VaultError) in
            try session.delete(collection: collection, name: name)
        }
        if !found { throw .recordNotFound }
    }

    /// The items, sorted by collection and name. Those sealed to the vault show a random name and no collection.
    /// - Throws: `damaged`, `busy`.
    public func records(in collection: String? = nil) throws(VaultError) -> [Vault.RecordInfo] {
        try read { store throws(VaultError) in
            var records: [Vault.RecordInfo] = []
            _ = try store?.reader.forEach { visited, plaintext, _ throws(VaultError) in
                guard case .record(let fields, _, _) = visited, let info = Vault.info(fields, plaintext) else {
                    throw .damagedRecord
                }
                if collection.map({ $0.utf8.elementsEqual(info.collection.utf8) }) ?? true { records.append(info) }
            }
            return records.sorted { ($0.collection, $0.name) < ($1.collection, $1.name) }
        }
    }

    private func check(
        _ bytes: RawSpan, _ name: String, _ collection: String
    ) throws(VaultError) -> (RecordName, VaultID) {
        guard bytes.byteCount <= Vault.largestInlineValue else { throw .tooLargeForOpen }
        guard let record = RecordName(collection: collection, name: name) else { throw .invalidName }
        let header = try HeaderFile.read(in: home)
        // The rules that are known to be genuine count, where there are any.
        let rules = gate.current?.keys.policy.collectionMinima ?? header.policy.collectionMinima
        try Admission(.none, policy: rules, settings: minima).check(collection)
        return (record, header.vault)
    }

    private func add(_ draft: RecordDraft, _ bytes: RawSpan) throws(VaultError) {
        let quota = quota
        _ = try unsafe bytes.withUnsafeBytes { buffer throws(VaultError) in
            try write(creating: true) { session throws(VaultError) in
                try unsafe session.put(draft, content: RawSpan(_unsafeBytes: buffer))
                guard session.count <= UInt64(quota.items), try session.usedBytes() <= quota.bytes else {
                    throw .quotaExceeded
                }
            }
        }
    }
}

extension VaultError {
    static let quotaExceeded = VaultError(
        .quotaExceeded, "the open compartment is full")
    static let tooLargeForOpen = VaultError(.tooLarge, "the open compartment takes values of at most 1 MiB")
    static let noPublicKey = VaultError(
        .noPublicKey, "the vault has no usable public key for write-only entries")
}

extension OpenCompartment {
    /// Copies the compartment as it is into a backup. A file that Holdfast could not have written is left out: planted
    /// garbage must not prevent a backup.
    /// - Returns: Names of what was copied.
    func copy(to target: HomeDirectory) throws(VaultError) -> [String] {
        let vault = try HeaderFile.read(in: home).vault
        let lock: LockedOpenKey?
        do throws(VaultError) {
            lock = try LockedOpenKey.lock(in: home, vault: vault, creating: false)
        } catch {
            guard error.code == .damaged else { throw error }
            lock = nil
        }
        var names: [String] = []
        // Without its key a database is useless.
        if let lock, home.exists(OpenFiles.database), try copy(OpenFiles.database, to: target) {
            try lock.copy(to: OpenFiles.key, in: target)
            names += [OpenFiles.database, OpenFiles.key]
        }
        if try copy(OpenFiles.publicKey, to: target) { names.append(OpenFiles.publicKey) }
        return names
    }

    private func copy(_ name: String, to target: HomeDirectory) throws(VaultError) -> Bool {
        do throws(VaultError) {
            guard let file = try home.openFile(name, O_RDONLY),
                try file.status().size <= UInt64(DatabaseName.open.limit)
            else { return false }
        } catch {
            guard error.code == .damaged else { throw error }
            return false
        }
        return try FileCopy.copy(name, from: home, to: target, progress: { _ in }) != nil
    }
}
