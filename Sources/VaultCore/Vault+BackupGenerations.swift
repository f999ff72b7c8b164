internal import VaultFormat
package import VaultStorage
internal import SystemCalls

extension Vault {
    /// What ``backup(generationsIn:keeping:time:progress:)`` did.
    package struct GenerationReport: Sendable {
        /// The new backup.
        package let path: String
        package let copy: CopyReport
        /// Earlier backups that were taken away.
        package let removed: Int
        /// Names of those that should have gone and stay, because they are not what was written.
        package let left: [String]
    }

    /// Writes a backup of its own into a folder of backups, named by the time, and takes away the oldest ones of this vault once it is
    /// whole and on the disk. Anything else in the folder stays.
    ///
    /// The order is that of the names. A clock that was put back would make the newest one the oldest, so a name is always later than
    /// those that are there.
    /// - Parameters:
    ///   - path: The folder; it need not exist.
    ///   - limit: How many backups of this vault stay, the new one among them; at least 1.
    ///   - time: Now, in seconds since 1970.
    /// - Throws: `exists` when the folder is a vault or a backup itself; what ``backup(to:updating:progress:)`` throws. Nothing was taken
    ///   away then.
    package func backup(
        generationsIn path: String, keeping limit: Int, time: Int64, progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(VaultError) -> GenerationReport {
        let folder = try BackupGenerations(in: path, of: id)
        let name = try folder.nextName(at: time)
        let copy = try backup(to: path + "/" + name, progress: progress)
        let (removed, left) = folder.remove(folder.names.dropLast(max(0, limit - 1)))
        return GenerationReport(path: path + "/" + name, copy: copy, removed: removed, left: left)
    }

    /// The newest backup in a folder of backups; nil where none is.
    package static func newestGeneration(in path: String) -> String? {
        let names = (try? HomeDirectory(path: path, takesLinked: true).names(in: ".")) ?? []
        return names.filter { BackupGenerations.time($0) != nil }.sorted().reversed()
            .map { path + "/" + $0 }.first { BackupGenerations.vault(at: $0) != nil }
    }
}

/// A folder with backups of a vault, each named by its time in UTC: `2026-11-26T17-04-05Z`.
private struct BackupGenerations {
    let path: String
    let vault: VaultID
    /// Those of this vault, the oldest first.
    let names: [String]
    /// Nobody else writes or removes backups here meanwhile; nil where the folder is not there yet.
    private let lock: FileLock?

    private static let latest: Int64 = 253_402_300_799  // the last second of the year 9999

    init(in path: String, of vault: VaultID) throws(VaultError) {
        self.path = path
        self.vault = vault
        guard unsafe access(path, F_OK) == 0 else {
            (names, lock) = ([], nil)
            return
        }
        let home = try HomeDirectory(path: path, takesLinked: true)
        guard !home.exists(HeaderFile.name), !home.exists(BackupManifest.fileName) else {
            throw VaultError(
                .exists, "\(path) is a vault or a backup itself, and not a folder for several; nothing was changed")
        }
        guard let lock = try home.lockFolder() else {
            throw VaultError(.busy, "another process writes a backup in \(path)")
        }
        self.lock = lock
        var own: [String] = []
        for name in try home.names(in: ".").sorted() where BackupGenerations.time(name) != nil {
            // What an interrupted backup or removal left is nobody's.
            try? EarlierBackup.finishRemoval(at: path + "/" + name)
            if BackupGenerations.vault(at: path + "/" + name) == vault { own.append(name) }
        }
        names = own
    }

    /// Later than those that are there, whatever the clock says.
    func nextName(at time: Int64) throws(VaultError) -> String {
        var time = max(time, 0, (names.last.flatMap(BackupGenerations.time) ?? -1) + 1)
        while time <= BackupGenerations.latest {
            if let name = BackupGenerations.name(time), unsafe access(path + "/" + name, F_OK) != 0 { return name }
            time += 1
        }
        throw VaultError(.exists, "no later date can be written than that of the newest backup in \(path)")
    }

    /// - Returns: How many went, and the names of those that are not what was written: they may have what nothing else has.
    func remove(_ names: some Sequence<String>) -> (removed: Int, left: [String]) {
        var removed = 0
        var left: [String] = []
        for name in names {
            do throws(VaultError) {
                guard let earlier = try EarlierBackup(at: path + "/" + name, of: vault) else { continue }
                try earlier.requireWhole()
                try earlier.remove()
                removed += 1
            } catch { left.append(name) }
        }
        return (removed, left)
    }

    /// The vault that a folder is a backup of.
    static func vault(at path: String) -> VaultID? {
        guard let home = try? HomeDirectory(path: path, takesLinked: true), home.exists(HeaderFile.name) else {
            return nil
        }
        return (try? Vault.manifest(of: home))??.vault
    }

    private static func name(_ time: Int64) -> String? {
        var seconds = time_t(time)
        var fields = unsafe tm()
        guard unsafe gmtime_r(&seconds, &fields) != nil else { return nil }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            guard let base = buffer.baseAddress, unsafe strftime(base, 32, "%Y-%m-%dT%H-%M-%SZ", &fields) > 0 else {
                return nil
            }
            return unsafe String(validatingCString: base)
        }
    }

    /// Nil for what is no such name.
    static func time(_ name: String) -> Int64? {
        let parts = name.split { !$0.isASCII || !$0.isNumber }.compactMap { Int32($0) }
        guard name.utf8.count == 20, parts.count == 6, (1970...9999).contains(parts[0]) else { return nil }
        var fields = unsafe tm()
        unsafe fields.tm_year = parts[0] - 1900
        unsafe fields.tm_mon = parts[1] - 1
        unsafe fields.tm_mday = parts[2]
        unsafe fields.tm_hour = parts[3]
        unsafe fields.tm_min = parts[4]
        unsafe fields.tm_sec = parts[5]
        let time = Int64(unsafe timegm(&fields))
        // A date that there is, written as we write it.
        return self.name(time) == name ? time : nil
    }
}
