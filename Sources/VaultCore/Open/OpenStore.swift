internal import Cryptography
internal import SecretMemory
internal import Synchronization
internal import VaultFormat
internal import VaultHeader
internal import VaultStorage
internal import SystemCalls

extension DatabaseName {
    /// Twice the largest quota: LMDB copies on write.
    static let open = DatabaseName(file: OpenFiles.database, limit: 64 << 20, room: 64 << 20)
    /// The same until it is whole.
    static let newOpen = DatabaseName(file: OpenFiles.newDatabase, limit: open.limit, room: open.room)
}

/// The open compartment's database, open. Used under the compartment's lock.
final class OpenStore: Sendable {
    let database: DatabaseLease
    let reader: RecordReader
    let writer: WriterState
    private let key: SecretBytes
    private let identity: FileStatus

    /// - Throws: `damaged` when the file cannot be trusted; LMDB never sees it then.
    init(_ key: consuming SecretBytes, vault: VaultID, in home: HomeDirectory) throws(VaultError) {
        guard let file = try home.openFile(OpenFiles.database, O_RDONLY) else {
            throw .damaged("\(OpenFiles.database) is missing")
        }
        identity = try file.status()
        var pages = try DatabasePages(file, limit: UInt64(DatabaseName.open.limit))
        try pages.check()
        let keys = try RecordKeys(openKey: key, vault: vault)
        database = try DatabaseEnvironment.acquire(.open, in: home)
        reader = try RecordReader(keys, database)
        _ = try reader.root()
        writer = try WriterState(keys, database, in: home)
        self.key = key
    }

    /// Whether this is still what the names in the home mean.
    func isCurrent(_ key: borrowing SecretBytes, in home: HomeDirectory) throws(VaultError) -> Bool {
        guard let file = try home.openFile(OpenFiles.database, O_RDONLY) else { return false }
        return try file.status().isSameFile(as: identity) && self.key.isEqual(to: key)
    }

    /// Bytes of the pages in use.
    func usedBytes() throws(VaultError) -> Int { try ReadTransaction(database).usedBytes() }

    func value(collection: String, name: String) throws(VaultError) -> SecretBytes {
        do {
            return try reader.withRecord(collection: collection, name: name) { fields, plaintext, _ in
                guard fields.kind != .sealed else { throw VaultError.sealedToVault }
                return try SecretBytes(copying: plaintext.extracting(fields.contentOffset..<plaintext.byteCount))
            }
        } catch let error as VaultError {
            throw error
        } catch let error as SecretMemoryError {
            throw VaultError(error)
        } catch { throw VaultError(.inputOutput, "reading failed") }
    }
}

extension OpenCompartment {
    /// Runs `body` alone with the database; without one where there is none.
    func read<R: ~Copyable>(_ body: (OpenStore?) throws(VaultError) -> R) throws(VaultError) -> R {
        let vault = try HeaderFile.read(in: home).vault
        return try naming { () throws(VaultError) in
            guard let lock = try LockedOpenKey.lock(in: home, vault: vault, creating: false) else {
                if home.exists(OpenFiles.database) { throw .damaged("\(OpenFiles.key) is missing") }
                return try body(nil)
            }
            return try body(store(lock, vault))
        }
    }

    /// Runs `body` alone in a transaction, which is kept unless it throws.
    /// - Parameter creating: Whether the compartment is begun where there is none.
    /// - Returns: False when there is none, and nothing was run.
    func write(
        creating: Bool, _ body: (inout WriteSession) throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        let vault = try HeaderFile.read(in: home).vault
        return try naming { () throws(VaultError) in
            guard let lock = try LockedOpenKey.lock(in: home, vault: vault, creating: creating) else {
                if home.exists(OpenFiles.database) { throw .damaged("\(OpenFiles.key) is missing") }
                return false
            }
            try checkNotWiped()
            var found = try store(lock, vault)
            if found == nil && creating { found = try begin(lock, vault) }
            guard let store = found else { return false }
            try store.writer.lock()
            defer { store.writer.unlock() }
            var session = try WriteSession(store.writer)
            try body(&session)
            try session.commit()
            return true
        }
    }

    /// With the lock in hand: a vault that was destroyed meanwhile gets no compartment again.
    private func checkNotWiped() throws(VaultError) {
        do throws(VaultError) {
            _ = try HeaderFile.read(in: home)
        } catch {
            if error.code == .wiped { home.remove(OpenFiles.key) }
            throw error
        }
    }

    private func store(_ lock: borrowing LockedOpenKey, _ vault: VaultID) throws(VaultError) -> OpenStore? {
        guard let key = try lock.read() else {
            close()
            return nil  // a database beside it is what a killed beginning or emptying left
        }
        if let store = state.withLock({ $0.store }), try store.isCurrent(key, in: home) { return store }
        close()
        let store = try OpenStore(key, vault: vault, in: home)
        state.withLock { $0.store = store }
        return store
    }

    /// Makes the database under a fresh key. It gets its name when it is whole and on the disk, so that an unlock after
    /// a power cut never meets half of one. The key is written last: until then there is no compartment.
    private func begin(_ lock: borrowing LockedOpenKey, _ vault: VaultID) throws(VaultError) -> OpenStore {
        removeDatabase()
        let key = try Vault.newKey()
        let keys = try RecordKeys(openKey: key, vault: vault)
        try DatabaseEnvironment.create(.newOpen, in: home)
        try Vault.writeFirstRoot(keys, .newOpen, in: home)
        guard let file = try home.openFile(OpenFiles.newDatabase, O_RDWR) else {
            throw .damaged("\(OpenFiles.newDatabase) is missing")
        }
        try file.synchronize()
        home.removeAnything(OpenFiles.newDatabase + "-lock")
        try home.putInPlace(OpenFiles.newDatabase, as: OpenFiles.database)
        try lock.write(key)
        let store = try OpenStore(key, vault: vault, in: home)
        state.withLock { $0.store = store }
        return store
    }

    /// Lets go of the database; the next call opens it again.
    package func close() {
        // Outside of the mutex: the last reference closes the environment.
        let store = state.withLock { state in
            defer { state.store = nil }
            return state.store
        }
        _ = store
    }

    func removeDatabase() {
        close()
        for name in [OpenFiles.database, OpenFiles.newDatabase] {
            home.removeAnything(name)
            home.removeAnything(name + "-lock")
        }
    }

    /// Renames what cannot be read, so that it can still be examined, and the compartment can start over. One such pair
    /// of files is kept.
    func setAside(_ lock: borrowing LockedOpenKey) throws(VaultError) {
        close()
        home.removeAnything(OpenFiles.damagedDatabase)
        try lock.copy(to: OpenFiles.damagedKey, in: home)
        try home.rename(OpenFiles.database, to: OpenFiles.damagedDatabase)
        home.removeAnything(OpenFiles.database + "-lock")
        try home.synchronize()
        try lock.erase()
    }

    /// Says which compartment is damaged, and what helps.
    private func naming<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
        do throws(VaultError) { return try body() } catch {
            switch error.code {
            case .damaged, .keysChanged:
                throw VaultError(.damaged, "the open compartment is \(error.reason)")
            default: throw error
            }
        }
    }
}
