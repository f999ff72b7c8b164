#if canImport(Security)
internal import Foundation

/// Whether the system's backups have a vault's folder.
enum SystemBackups {
    /// - Returns: Whether the system takes it so. A vault stays encrypted in a backup, too.
    @discardableResult
    static func include(_ path: String, _ isIncluded: Bool) -> Bool {
        var url = URL(fileURLWithPath: path, isDirectory: true)
        var values = URLResourceValues()
        values.isExcludedFromBackup = !isIncluded
        do { try url.setResourceValues(values) } catch { return false }
        return true
    }
}
#endif
