internal import Cryptography
internal import SecretMemory
internal import Synchronization
internal import OpenStorage
internal import VaultFormat
internal import VaultHeader
internal import VaultStorage
internal import SystemCalls

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
