internal import Cryptography
package import SecretMemory
package import VaultFormat
internal import VaultHeader
package import VaultStorage
internal import SystemCalls

/// `open.key` under its exclusive lock: the holder of this value has exclusive use of the open compartment.
///
/// Until key stores come the key rests in this file in clear. It is made anew whenever the compartment is begun anew,
/// and is overwritten in the same moment that its items are gone: that one write empties the compartment, whatever is
/// left of the database's file.
package struct LockedOpenKey: ~Copyable {
    private let file: DurableFile
    private let home: HomeDirectory
    private let vault: VaultID

    /// The end of every operation on the compartment.
    deinit { WorkingMemory.wipe() }

    /// - Returns: Nil when there is no such file and none is to be made.
    /// - Throws: `busy` when another holds the lock for longer than `patience` milliseconds, `damaged` when something
    ///   else lies under the name.
    package static func lock(
        in home: HomeDirectory, vault: VaultID, creating: Bool, patience: Int = 30_000
    ) throws(VaultError) -> LockedOpenKey? {
        while true {
            let flags = creating ? O_RDWR | O_CREAT : O_RDONLY
            guard let file = try home.openFile(OpenFiles.key, flags) else { return nil }
            try file.lock(
                exclusive: true, patience: patience,
                orBusy: "another process has been using the open compartment for a long time")
            // It may have been set aside while we waited: the lock must be on what the name means now.
            guard let current = try home.openFile(OpenFiles.key, O_RDONLY) else { continue }
            if try current.status().isSameFile(as: file.status()) {
                return LockedOpenKey(file: file, home: home, vault: vault)
            }
        }
    }

    /// The key, 32 bytes; nil where there is none: nothing in a database beside it can be read, or ever was.
    /// - Throws: `damaged` when the key is gone and items may lie under it, `newerVersion`.
    package borrowing func read() throws(VaultError) -> SecretBytes? {
        let size = try file.status().size
        var bytes = try LockedOpenKey.buffer()
        let got = try bytes.withMutableBytes { bytes throws(VaultError) in try file.read(into: &bytes, at: 0) }
        let checked = bytes.withBytes { bytes in
            Result { () throws(FormatError) in
                guard size == UInt64(OpenKeyFile.size) else { throw .wrongSize }
                return try OpenKeyFile.check(bytes, vault: vault, checksum: HeaderFile.checksum)
            }
        }
        switch checked {
        case .success(false): return nil
        case .success(true):
            return try secretMemory(bytes.copy(OpenKeyFile.keyRange, lifetime: .longLived))
        case .failure(let error):
            if case .newerVersion = error { throw VaultError(error, in: OpenFiles.key) }
            // A write that was cut short: of a beginning, with no item yet, or of an emptying, with the key gone
            // already.
            let isErased = bytes.withBytes { bytes in
                OpenKeyFile.keyRange.allSatisfy { bytes.integer(at: $0, as: UInt8.self) == 0 }
            }
            if got == OpenKeyFile.size && isErased { return nil }
            guard try mayHoldItems(ifUnreadable: got == OpenKeyFile.size) else { return nil }
            throw VaultError(error, in: OpenFiles.key)
        }
    }

    private borrowing func mayHoldItems(ifUnreadable: Bool) throws(VaultError) -> Bool {
        guard home.exists(OpenFiles.database) else { return false }
        guard let database = (try? home.openFile(OpenFiles.database, O_RDONLY)) ?? nil,
            var pages = try? DatabasePages(database, limit: UInt64(DatabaseName.open.limit)),
            let holds = try? pages.mayHoldRecords()
        else { return ifUnreadable }
        return holds
    }

    /// Puts a key into the file, durably.
    package borrowing func write(_ key: borrowing SecretBytes) throws(VaultError) {
        var bytes = try LockedOpenKey.buffer()
        bytes.withMutableBytes { bytes in
            key.withBytes { key in
                bytes.store(
                    copying: key.extracting(0..<OpenKeyFile.keyRange.count), at: OpenKeyFile.keyRange.lowerBound)
            }
        }
        try write(&bytes, hasKey: true)
    }

    /// Overwrites the key, durably: the compartment is empty from then on.
    package borrowing func erase() throws(VaultError) {
        var bytes = try LockedOpenKey.buffer()
        try write(&bytes, hasKey: false)
    }

    private borrowing func write(_ bytes: inout SecretBytes, hasKey: Bool) throws(VaultError) {
        guard let file = try home.openFile(OpenFiles.key, O_RDWR | O_CREAT) else { return }
        try system("protecting \(OpenFiles.key)") { fchmod(file.descriptor, 0o600) }
        bytes.withMutableBytes {
            OpenKeyFile.write(vault: vault, hasKey: hasKey, into: &$0, checksum: HeaderFile.checksum)
        }
        try bytes.withBytes { bytes throws(VaultError) in try file.write(bytes, at: 0) }
        if try file.status().size != UInt64(OpenKeyFile.size) {
            try system("writing \(OpenFiles.key)") { ftruncate(file.descriptor, off_t(OpenKeyFile.size)) }
        }
        try file.synchronize()
    }

    /// Copies the file's bytes as they are, durably.
    package borrowing func copy(to name: String, in target: HomeDirectory) throws(VaultError) {
        var bytes = try LockedOpenKey.buffer()
        let got = try bytes.withMutableBytes { bytes throws(VaultError) in try file.read(into: &bytes, at: 0) }
        target.remove(name)
        guard let copy = try target.openFile(name, O_RDWR | O_CREAT | O_EXCL) else { return }
        try bytes.withBytes { bytes throws(VaultError) in try copy.write(bytes.extracting(0..<got), at: 0) }
        try copy.synchronize()
    }

    private static func buffer() throws(VaultError) -> SecretBytes {
        try secretMemory(SecretBytes(zeroed: OpenKeyFile.size))
    }
}

extension RecordKeys {
    /// The keys of the open compartment: all from the one key in its file.
    package convenience init(openKey key: borrowing SecretBytes, vault: VaultID) throws(VaultError) {
        let keys = try EpochKeys(
            epoch: 1, records: RecordKeys.derive("holdfast/1/open-records", key),
            names: RecordKeys.derive("holdfast/1/open-names", key),
            files: RecordKeys.derive("holdfast/1/open-files", key)
        )
        // Stands for the vault's id in the authenticated data, so that no record opens in the other compartment.
        let input = Array("holdfast/1/open".utf8) + vault.bytes
        let digest = unsafe BLAKE3.hash(input.span.bytes).bytes
        guard let domain = VaultID(bytes: Array(digest[..<16])) else { throw VaultError(.cryptography, "no domain") }
        // What it takes is decided before it is written; what is there is there.
        self.init(domain: domain, admission: Admission(.none, policy: [:], settings: [:]), newest: keys)
    }

    private static func derive(
        _ context: String, _ key: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        try crypto(BLAKE3.deriveKey(context: context, material: key, lifetime: .longLived))
    }
}
