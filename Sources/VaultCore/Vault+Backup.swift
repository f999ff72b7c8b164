internal import Cryptography
internal import VaultFolders
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
public import VaultStorage
internal import SystemCalls

extension Vault {
    /// What a backup or a restore copied.
    public struct CopyReport: Sendable, Hashable {
        /// Number of files.
        public let files: Int
        /// Bytes in all.
        public let bytes: UInt64
    }

    /// Copies the vault into a new folder while it is in use; it need not be unlocked, everything stays encrypted.
    ///
    /// The folder is a home of its own with a manifest of BLAKE3 digests, of all but the security log and the ledger;
    /// passcode and phrase are those of now.
    /// - Parameters:
    ///   - path: The new folder; it does not exist or is empty.
    ///   - updating: Whether the folder may have an earlier backup of this vault, which this one replaces when it is
    ///     whole: files that are there already, and still what was written, are not copied again.
    ///   - progress: Called with bytes copied and the bytes there are.
    /// - Throws: `exists` when the folder is not empty or is inside of a vault, or its backup is another vault's, was
    ///   changed or has something else in it; `busy` while another process updates it; `newerVersion`, `damaged`,
    ///   `diskFull`, `readOnly`, `notRecoverable`. A failed backup is removed, and an earlier one stays.
    public func backup(
        to path: String, updating: Bool = false, progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(VaultError) -> CopyReport {
        try backup(to: path, updating: updating, watching: progress)
    }

    /// As ``backup(to:updating:progress:)``, which its caller can stop.
    /// - Parameter watch: Called as progress is, and once before anything is copied; what it throws ends the backup, of
    ///   which nothing is left.
    package func backup(
        to path: String, updating: Bool, watching watch: (UInt64, UInt64) throws(VaultError) -> Void
    ) throws(VaultError) -> CopyReport {
        let slots = try HeaderFile.read(in: home).slots
        guard slots.contains(where: { $0.kind == .passcode || $0.kind == .recoveryPhrase }) else {
            throw VaultError(
                .notRecoverable,
                "a copy of this vault would open nowhere: it has neither a passcode nor a recovery phrase; nothing was written"
            )
        }
        // A copy beside the original is lost with it, and destroyed with it.
        try BackupPlace.requireNoVault(above: path)
        let report: CopyReport
        if updating, let updated = try update(BackupPlace(path), progress: watch) {
            report = updated
        } else {
            report = try backup(into: path, reusing: nil, progress: watch)
        }
        // Now it is there, whatever happens.
        log.append(.backedUp)
        return report
    }

    /// Writes a whole backup; what an earlier one has of it gets another name there in place of a copy.
    func backup(
        into path: String, reusing earlier: EarlierBackup?, progress: (UInt64, UInt64) throws(VaultError) -> Void
    ) throws(VaultError) -> CopyReport {
        let creation = try VaultCreation(at: path)
        do throws(VaultError) {
            let report = try copy(to: creation.home, reusing: earlier, progress: progress)
            try creation.finish()
            return report
        } catch {
            creation.abandon()
            throw error
        }
    }

    private func copy(
        to target: HomeDirectory, reusing earlier: EarlierBackup?,
        progress: (UInt64, UInt64) throws(VaultError) -> Void
    ) throws(VaultError) -> CopyReport {
        // While this is held, files that are replaced are left in place, so all that the snapshot names is there.
        guard let folder = try home.openFolder(FileStore.folder) else {
            throw .damaged("the files folder is missing")
        }
        try folder.lock(exclusive: false, orBusy: "another process is tidying up the vault's files")
        let header = try snapshot(to: target)
        try AttemptLedger.copy(from: home, to: target, vault: header.vault, now: settings.clock.now())
        try SecurityLog.copy(from: home, to: target, vault: header.vault, as: .backup)
        // A key of its own: what the header names in hardware stays with the home that it is copied from.
        _ = try WipeKeyFile.make(in: target, vault: header.vault)
        let names = try home.names(in: FileStore.folder).filter(FileStore.isName)
        var paths: [(String, UInt64)] = []
        for name in names {
            guard let file = try home.openFile(FileStore.path(name), O_RDONLY) else {
                throw .wentAway(FileStore.path(name))
            }
            paths.append((FileStore.path(name), try file.status().size))
        }
        let total = paths.reduce(0) { $0 + $1.1 }
        try progress(0, total)
        var done: UInt64 = 0
        var entries: [BackupManifest.Entry] = []
        let openFiles = try open.copy(to: target)
        entries.append(try FileCopy.digest(HeaderFile.part, in: target, as: HeaderFile.name))
        for name in [DatabaseName.protected.file] + openFiles {
            entries.append(try FileCopy.digest(name, in: target))
        }
        for (path, _) in paths {
            if let entry = try earlier?.lend(path, from: home, to: target) {
                done += entry.size
                try progress(done, total)
                entries.append(entry)
                continue
            }
            let entry = try FileCopy.copy(path, from: home, to: target) { part throws(VaultError) in
                try progress(done + part, total)
            }
            guard let entry else { throw .wentAway(path) }
            done += entry.size
            entries.append(entry)
        }
        let manifest = BackupManifest(vault: header.vault, entries: entries)
        guard let file = try target.openFile(BackupManifest.fileName, O_RDWR | O_CREAT | O_EXCL) else {
            throw .damaged("the manifest cannot be created")
        }
        try file.write(manifest.encoded(checksum: HeaderFile.checksum), at: 0)
        try file.synchronize()
        return CopyReport(files: entries.count, bytes: entries.reduce(0) { $0 + $1.size })
    }

    /// Copies header and database so that the header has the keys of every record: the keybag must be the same before
    /// and after.
    private func snapshot(to target: HomeDirectory) throws(VaultError) -> Header {
        let database = try DatabaseEnvironment.acquire(.protected, in: home)
        try database.checkPages()
        for _ in 0..<5 {
            let before = try HeaderFile.read(in: home)
            target.remove(DatabaseName.protected.file)
            guard let file = try target.openFile(DatabaseName.protected.file, O_RDWR | O_CREAT | O_EXCL) else {
                throw .damaged("the copy cannot be created")
            }
            try database.copy(to: file.descriptor)
            try file.synchronize()
            let after = try HeaderFile.read(in: home)
            guard before.sealedKeybag == after.sealedKeybag else { continue }
            try HeaderFile.create(after, in: target)
            return after
        }
        throw VaultError(.busy, "the vault's keys are being changed")
    }

    /// Restores a backup into a folder that does not exist or is empty, after every byte of header, records and files
    /// matched the manifest. The security log and the attempt ledger change in a backup that is opened, so they are in
    /// no manifest: a usable ledger and the log's entries are copied as they are.
    ///
    /// - Parameters:
    ///   - source: The folder that ``backup(to:updating:progress:)`` wrote.
    ///   - path: The new home.
    ///   - progress: Called with bytes copied and the bytes there are.
    /// - Throws: `exists`, `damaged` when the backup is not what was written, `newerVersion`, `noBackup` when it is no
    ///   backup.
    public static func restore(
        from source: String, to path: String, progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(VaultError) -> CopyReport {
        let backup: HomeDirectory
        do throws(VaultError) {
            backup = try HomeDirectory(path: source, takesLinked: true)
        } catch {
            switch error.code {
            case .noVault: throw VaultError(.noBackup, "there is no backup at \(source)")
            case .vaultMissing: throw VaultError(.noBackup, error.reason)
            default: throw error
            }
        }
        try EarlierBackup.requireKnown(backup)
        guard let manifest = try BackupManifest.read(in: backup) else {
            throw VaultError(.noBackup, "there is no backup at \(source)")
        }
        // The next backup would replace one that is inside of a backup.
        try BackupPlace.requireNoVault(above: path)
        let creation = try VaultCreation(at: path)
        do throws(VaultError) {
            try fill(creation.home, from: backup, manifest, progress)
            try creation.finish()
        } catch {
            creation.abandon()
            throw error
        }
        return CopyReport(files: manifest.entries.count, bytes: manifest.entries.reduce(0) { $0 &+ $1.size })
    }

    private static func fill(
        _ home: HomeDirectory, from backup: HomeDirectory, _ manifest: BackupManifest,
        _ progress: (UInt64, UInt64) -> Void
    ) throws(VaultError) {
        let total = manifest.entries.reduce(0) { $0 &+ $1.size }
        var done: UInt64 = 0
        for expected in manifest.entries {
            // The header gets its name once the rest is there.
            let entry = try FileCopy.copy(
                expected.path, from: backup, to: home,
                as: expected.path == HeaderFile.name ? HeaderFile.part : expected.path, limit: expected.size,
                progress: { progress(done + $0, total) })
            guard let entry else { throw .damaged("\(expected.path) is missing from the backup") }
            guard entry == expected else { throw .damaged("\(expected.path) in the backup is not what was written") }
            done += entry.size
        }
        let header = try HeaderFile.unfinished(in: home)
        guard header.vault == manifest.vault else { throw .damaged("the backup's header is of another vault") }
        try AttemptLedger.copy(from: backup, to: home, vault: header.vault, now: SystemBootClock().now())
        try SecurityLog.copy(from: backup, to: home, vault: header.vault, as: .restored)
        _ = try WipeKeyFile.make(in: home, vault: header.vault)
        // The manifest is not keyed: someone who altered the database could have updated it.
        guard let database = try home.openFile(DatabaseName.protected.file, O_RDONLY) else {
            throw .damaged("\(DatabaseName.protected.file) is missing from the backup")
        }
        var pages = try DatabasePages(database, limit: UInt64(DatabaseName.protected.limit))
        try pages.check(ownEntriesOnly: false)
        // LMDB reads it once before it is relied on.
        _ = try DatabaseEnvironment.acquire(.protected, in: home)
    }
}

extension VaultError {
    fileprivate static func wentAway(_ path: String) -> VaultError {
        VaultError(.busy, "another process removed \(path) while it was to be copied")
    }
}
