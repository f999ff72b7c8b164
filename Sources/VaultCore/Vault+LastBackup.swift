internal import VaultFolders
internal import VaultFormat
internal import VaultLog
package import VaultStorage

/// How old the last backup of a vault may be before its user is reminded.
package enum BackupRule {
    /// Two weeks: what changes in a vault changes daily, and a reminder that comes more often is not read.
    package static let days: Int64 = 14

    /// Whether it is time for another backup.
    /// - Parameters:
    ///   - last: When the last one was made, in milliseconds since 1970; nil where none was.
    ///   - now: The present time, in milliseconds since 1970. A backup that is dated after it is new: the clock was put
    ///     back.
    package static func isDue(last: Int64?, at now: Int64) -> Bool {
        guard let last else { return true }
        let (age, overflows) = now.subtractingReportingOverflow(last)
        return !overflows && age > days * 86_400_000
    }
}

extension Vault {
    /// When the last backup of this vault was made, in milliseconds since 1970; nil where the log knows of none.
    ///
    /// The security log is the one place that knows it of every backup, whoever made it. Of a run of more than 16
    /// backups without an unlock, those that have no entry count as made at the last entry before.
    /// - Throws: `locked`, `damaged`.
    package func lastBackup() throws(VaultError) -> Int64? {
        let entries = try securityLog().entries
        return entries.last { if case .unproven(.backedUp, _) = $0.event { true } else { false } }?.moment.time
    }
}

extension Vault {
    /// Whether a folder is a backup itself, of whatever vault, as far as its manifest says.
    package static func isBackup(_ path: String) -> Bool { BackupGenerations.vault(at: path) != nil }
}
