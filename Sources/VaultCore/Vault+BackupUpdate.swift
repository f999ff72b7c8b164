internal import VaultFormat
internal import VaultHeader
internal import VaultStorage
internal import SystemCalls

extension Vault {
    /// Writes the next backup beside the earlier one, then has it take its place. Whoever looks finds one or the other.
    /// - Returns: Nil where no earlier backup is.
    func update(_ place: BackupPlace, progress: (UInt64, UInt64) -> Void) throws(VaultError) -> CopyReport? {
        try place.bringBack(of: id)
        guard let earlier = try EarlierBackup(at: place.path, of: id) else { return nil }
        try earlier.requireUnchanged()
        try place.requireRoomBeside()
        try place.clear(of: id)
        let report = try backup(into: place.new, reusing: earlier, progress: progress)
        try place.swap(earlier)
        return report
    }
}

/// The folder of a backup, and the two beside it that an update uses.
struct BackupPlace {
    /// Without links: the folder itself is renamed.
    let path: String
    /// Where the next backup is written. These names are nobody else's: an earlier backup that a user keeps as
    /// `backup.old` stays.
    var new: String { path + ".holdfast-new" }
    /// What the earlier backup is called while the next one takes its name.
    var old: String { path + ".holdfast-old" }

    init(_ path: String) {
        var real = BackupPlace.withoutSlash(path)
        if let found = unsafe realpath(real, nil) {
            self.path = unsafe String(cString: found)
            unsafe free(found)
            return
        }
        // An interrupted update took away what a link leads to: it is followed by its text, as far as the system
        // follows links.
        for _ in 0..<40 {
            guard let target = Paths.target(ofLink: real) else { break }
            real = BackupPlace.withoutSlash(target.hasPrefix("/") ? target : Paths.parent(of: real) + "/" + target)
        }
        self.path = real
    }

    private static func withoutSlash(_ path: String) -> String {
        var path = path
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// An update that was interrupted between its two renamings left the backup without its name: it gets it.
    func bringBack(of vault: VaultID) throws(VaultError) {
        guard !BackupPlace.exists(path), let earlier = try EarlierBackup(at: old, of: vault) else { return }
        try withExtendedLifetime(earlier) { () throws(VaultError) in try rename(old, path) }
    }

    /// What interrupted updates left beside the backup goes. A backup that was only begun is taken over by the next
    /// one.
    func clear(of vault: VaultID) throws(VaultError) {
        for left in [old, new] where BackupPlace.exists(left) {
            if let earlier = try EarlierBackup(at: left, of: vault) {
                try earlier.requireUnchanged()
                try earlier.remove()
            } else if left == old {
                try EarlierBackup.finishRemoval(at: left)
            }
        }
    }

    /// - Throws: `exists` for the root folder of a disk, which has no other name that it could get.
    func requireRoomBeside() throws(VaultError) {
        let parent = try HomeDirectory(path: path + "/..", takesLinked: true)
        guard try HomeDirectory(path: path, takesLinked: true).isOnSameDisk(as: parent) else {
            throw VaultError(
                .exists,
                "\(path) is a whole disk, and a backup is brought up to date in a folder of one; nothing was changed")
        }
    }

    /// The new backup takes the place of the earlier one, which goes.
    func swap(_ earlier: EarlierBackup) throws(VaultError) {
        try rename(path, old)
        try rename(new, path)
        try VaultCreation.synchronizeParent(of: path)
        try earlier.remove(as: old)
    }

    private func rename(_ from: String, _ to: String) throws(VaultError) {
        try system("renaming \(from)") { unsafe SystemCalls.rename(from, to) }
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}

/// A backup of a vault that was written before, of which the next one takes what did not change. Nobody else updates it
/// meanwhile.
struct EarlierBackup {
    private let path: String
    private let home: HomeDirectory
    private let lock: FileLock
    private let manifest: BackupManifest
    private let files: [String: BackupManifest.Entry]

    /// Nil where no backup is.
    /// - Throws: `exists` for another vault's; `busy` while another process updates it.
    init?(at path: String, of vault: VaultID) throws(VaultError) {
        guard unsafe access(path, F_OK) == 0 else { return nil }
        guard EarlierBackup.isFolder(path) else { throw EarlierBackup.linked(path) }
        home = try HomeDirectory(path: path, takesLinked: true)
        lock = try EarlierBackup.lock(home)
        guard home.exists(HeaderFile.name), let manifest = try Vault.manifest(of: home) else { return nil }
        guard manifest.vault == vault else {
            throw VaultError(.exists, "there is a backup of another vault at \(path); nothing was changed")
        }
        self.path = path
        self.manifest = manifest
        // The manifest names each file once.
        files = Dictionary(manifest.entries.filter(EarlierBackup.isFile).map { ($0.path, $0) }) { first, _ in first }
    }

    /// - Throws: `exists` for a backup that was changed since, as by opening it: it may have what nothing else has.
    func requireUnchanged() throws(VaultError) {
        try requireSame(manifest.entries.filter { !EarlierBackup.isFile($0) })
    }

    /// As ``requireUnchanged()``, for every byte of it.
    func requireWhole() throws(VaultError) { try requireSame(manifest.entries) }

    private func requireSame(_ entries: [BackupManifest.Entry]) throws(VaultError) {
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
    func lend(
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
    func remove(as name: String? = nil) throws(VaultError) {
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
    static func isFolder(_ path: String) -> Bool {
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
