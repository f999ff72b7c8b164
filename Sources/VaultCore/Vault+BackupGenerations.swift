internal import VaultFolders
internal import VaultFormat
internal import VaultHeader
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
        /// Names of those of a time after tomorrow, which are not counted and stay.
        package let ahead: [String]
    }

    /// Writes a backup of its own into a folder of backups, named by the time, and takes away the oldest ones of this
    /// vault once it is whole and on the disk. Anything else in the folder stays.
    ///
    /// The order is that of the names. A clock that was put back would make the newest one the oldest, so a name is
    /// always later than those that are there, but for those of a time after tomorrow: a wrong clock made them, or
    /// nobody knows who.
    /// - Parameters:
    ///   - path: The folder; it need not exist.
    ///   - limit: How many backups of this vault stay, the new one among them; at least 1.
    ///   - time: Now, in seconds since 1970.
    /// - Throws: `exists` when the folder is a vault or a backup itself; what ``backup(to:updating:progress:)`` throws.
    ///   Nothing was taken away then.
    package func backup(
        generationsIn path: String, keeping limit: Int, time: Int64, progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(VaultError) -> GenerationReport {
        let folder = try BackupGenerations(in: path, of: id, at: time)
        let name = try folder.nextName(at: time)
        let copy = try backup(to: path + "/" + name, progress: progress)
        let (removed, left) = folder.remove(folder.names.dropLast(max(0, limit - 1)))
        return GenerationReport(path: path + "/" + name, copy: copy, removed: removed, left: left, ahead: folder.ahead)
    }

    /// The newest backup in a folder of backups; nil where none is.
    /// - Parameter time: Now, in seconds since 1970: one of a time after tomorrow is only named where there is no
    ///   other.
    package static func newestGeneration(in path: String, at time: Int64) -> String? {
        let names = (try? HomeDirectory(path: path, takesLinked: true).names(in: ".")) ?? []
        let sorted = names.filter { BackupGenerations.time($0) != nil }.sorted().reversed()
        let known = sorted.filter { !BackupGenerations.isAhead($0, of: time) }
        return (known + sorted.filter { BackupGenerations.isAhead($0, of: time) })
            .map { path + "/" + $0 }.first { BackupGenerations.vault(at: $0) != nil }
    }
}
