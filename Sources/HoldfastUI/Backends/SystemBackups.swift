#if canImport(Security)
internal import Foundation

/// Whether the system's backups have a vault's folder.
enum SystemBackups {
    /// Hands it to the system. Tests look on: Foundation on Linux takes it and keeps nothing.
    @TaskLocal static var write: @Sendable (inout URL, URLResourceValues) throws -> Void = {
        try $0.setResourceValues($1)
    }

    /// - Returns: Whether the system takes it so. A vault stays encrypted in a backup, too.
    @discardableResult
    static func include(_ path: String, _ isIncluded: Bool) -> Bool {
        var url = URL(fileURLWithPath: path, isDirectory: true)
        var values = URLResourceValues()
        values.isExcludedFromBackup = !isIncluded
        do { try write(&url, values) } catch { return false }
        return true
    }
}
#endif
