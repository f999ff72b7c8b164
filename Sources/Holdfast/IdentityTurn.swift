internal import VaultCore

/// The one who changes the identity now, among the processes that have this vault: of two at once each would write what
/// the other does not know. Ends with the object, and with the process.
package final class IdentityTurn: Sendable {
    private let lock: FileLock?

    /// Nil while another process has its turn. Where there is no home that can be written, what comes next says so.
    /// - Parameter home: The vault's folder.
    /// - Throws: `damaged` and `hardLinked` for what somebody put in the place of the lock: nobody would wait for anybody.
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
