internal import VaultCore
internal import VaultStorage

/// Lets only one process at a time change the identity of a vault: two at once would overwrite each other's changes.
/// Ends with the object, and with the process.
package final class IdentityTurn: Sendable {
    private let lock: FileLock?

    /// Nil while another process has its turn. Where there is no home that can be written, what comes next says so.
    /// - Parameter home: The vault's folder.
    /// - Throws: `damaged` and `hardLinked` if something else is in the place of the lock file, which would then
    ///   exclude no one.
    package init?(in home: String) throws(VaultError) {
        do throws(VaultError) {
            guard let lock = try HomeDirectory(path: home).lock(Vault.identityLock) else { return nil }
            self.lock = lock
        } catch {
            if error.code == .damaged || error.code == .hardLinked { throw error }
            lock = nil
        }
    }
}
