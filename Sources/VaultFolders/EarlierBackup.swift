internal import SystemCalls
package import VaultFormat
internal import VaultHeader
package import VaultStorage

/// A backup of a vault that was written before, of which the next one takes what did not change. Nobody else updates it
/// meanwhile.
package struct EarlierBackup {
    private let path: String
    private let home: HomeDirectory
    private let lock: FileLock
    private let manifest: BackupManifest
    /// Whose it is.
    var vault: VaultID { manifest.vault }
    private let files: [String: BackupManifest.Entry]

    /// Nil where no backup is.
    /// - Throws: `exists` for another vault's; `newerVersion`; `busy` while another process updates it.
    package init?(at path: String, of vault: VaultID) throws(VaultError) {
        guard unsafe access(path, F_OK) == 0 else { return nil }
        guard EarlierBackup.isFolder(path) else { throw EarlierBackup.linked(path) }
        home = try HomeDirectory(path: path, takesLinked: true)
        lock = try EarlierBackup.lock(home)
        try EarlierBackup.requireKnown(home)
        guard home.exists(HeaderFile.name), let manifest = try BackupManifest.read(in: home) else { return nil }
        guard manifest.vault == vault else {
            throw VaultError(.exists, "there is a backup of another vault at \(path); nothing was changed")
        }
        self.path = path
        self.manifest = manifest
        // The manifest names each file once.
        files = Dictionary(manifest.entries.filter(EarlierBackup.isFile).map { ($0.path, $0) }) { first, _ in first }
    }

    /// - Throws: `newerVersion` for a backup of a newer program: it may be all that is left of a newer vault.
    package static func requireKnown(_ backup: HomeDirectory) throws(VaultError) {
        guard let version = HeaderFile.newerVersion(in: backup) else { return }
        throw VaultError(.newerVersion(version), in: "the backup at \(backup.path)")
    }

    /// - Throws: `exists` for a backup that was changed since, as by opening it, and for one with something else in its
    ///   folder: it may have what nothing else has.
    package func requireUnchanged() throws(VaultError) {
        try requireSame(manifest.entries.filter { !EarlierBackup.isFile($0) })
    }

    /// As ``requireUnchanged()``, for every byte of it.
    func requireWhole() throws(VaultError) { try requireSame(manifest.entries) }

    private func requireSame(_ entries: [BackupManifest.Entry]) throws(VaultError) {
        if let stranger = VaultCreation.stranger(in: home, beside: [HeaderFile.name]) {
            let name = stranger.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? stranger : "with an unusual name"
            throw VaultError(
                .exists, "\(path) has something that is not of the backup (\(name)); move it away. Nothing was changed")
        }
        for entry in entries {
            guard (try? FileCopy.digest(entry.path, in: home)) != entry else { continue }
            throw VaultError(
                .exists,
                "the backup at \(path) was changed after it was written, or is damaged: \(entry.path); nothing was changed"
            )
        }
    }

    /// Gives a file another name in the next backup, if it is the vault's, byte by byte, here too.
    /// - Returns: Nil where it has to be copied.
    package func lend(
        _ path: String, from vault: HomeDirectory, to target: HomeDirectory
    ) throws(VaultError) -> BackupManifest.Entry? {
        guard let entry = files[path], try FileCopy.digest(path, in: vault) == entry,
            (try? FileCopy.digest(path, in: home)) == entry,
            // Some file systems have no second names.
            unsafe linkat(home.descriptor, path, target.descriptor, path, 0) == 0
        else { return nil }
        return entry
    }

    /// Takes the backup away: first what makes it one, so that what an interruption leaves is known for it.
    /// - Parameter name: Its path, if it is another by now.
    package func remove(as name: String? = nil) throws(VaultError) {
        guard try home.openFile(VaultCreation.marker, O_RDWR | O_CREAT) != nil else { return }
        try home.synchronize()
        home.remove(HeaderFile.name)
        try home.synchronize()
        EarlierBackup.removeRest(of: home, at: name ?? path)
    }

    /// Ends a removal that was interrupted; what is none is left alone.
    static func finishRemoval(at path: String) throws(VaultError) {
        guard isFolder(path) else { throw linked(path) }
        let home = try HomeDirectory(path: path, takesLinked: true)
        let lock = try lock(home)
        withExtendedLifetime(lock) {
            if VaultCreation.isUnfinished(home) { removeRest(of: home, at: path) }
        }
    }

    /// Whether it is a folder itself: what a link leads to is somebody's, and not this backup.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func linked(_ path: String) -> VaultError {
        VaultError(.exists, "\(path) is no folder but a link or a file; move it away. Nothing was changed")
    }

    /// Only what a backup can have; a folder with anything else in it stays.
    private static func removeRest(of home: HomeDirectory, at path: String) {
        VaultCreation.removeContents(of: home)
        home.remove(VaultCreation.marker)
        unsafe rmdir(path)
    }

    private static func lock(_ home: HomeDirectory) throws(VaultError) -> FileLock {
        let lock = try home.lockFolder()
        // The folder that was opened may have been replaced before its lock was taken.
        guard let lock, (try? HomeDirectory(path: home.path, takesLinked: true).isSameFolder(as: home)) == true else {
            throw VaultError(.busy, "another process updates the backup at \(home.path)")
        }
        return lock
    }

    private static func isFile(_ entry: BackupManifest.Entry) -> Bool { entry.path.hasPrefix(FileStore.folder + "/") }
}
