package import SecretMemory
package import VaultFormat
package import VaultStorage
internal import SystemCalls

extension DatabaseName {
    /// Twice the largest quota: LMDB copies on write.
    package static let open = DatabaseName(file: OpenFiles.database, limit: 64 << 20, room: 64 << 20)
    /// The same until it is whole.
    package static let newOpen = DatabaseName(file: OpenFiles.newDatabase, limit: open.limit, room: open.room)
}

/// The open compartment's database, open. Used under the compartment's lock.
package final class OpenStore: Sendable {
    package let database: DatabaseLease
    package let reader: RecordReader
    package let writer: WriterState
    private let key: SecretBytes
    private let identity: FileStatus

    /// - Throws: `damaged` when the file cannot be trusted; LMDB never sees it then.
    package init(_ key: consuming SecretBytes, vault: VaultID, in home: HomeDirectory) throws(VaultError) {
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
    package func isCurrent(_ key: borrowing SecretBytes, in home: HomeDirectory) throws(VaultError) -> Bool {
        guard let file = try home.openFile(OpenFiles.database, O_RDONLY) else { return false }
        return try file.status().isSameFile(as: identity) && self.key.isEqual(to: key)
    }

    /// Bytes of the pages in use.
    package func usedBytes() throws(VaultError) -> Int { try ReadTransaction(database).usedBytes() }

    package func value(collection: String, name: String) throws(VaultError) -> SecretBytes {
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

extension VaultError {
    static let sealedToVault = VaultError(
        .locked, "this entry is sealed to the vault, which is locked")
}
