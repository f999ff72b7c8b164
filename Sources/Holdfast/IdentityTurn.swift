internal import VaultCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The one who changes the identity now, among the processes that have this vault: of two at once each would write what
/// the other does not know. Ends with the object, and with the process.
package final class IdentityTurn: Sendable {
    private let descriptor: Int32

    /// Nil while another process has its turn. Where there is no home that can be written, what comes next says so.
    /// - Parameter home: The vault's folder.
    package init?(in home: String) {
        let file = home + "/" + Vault.identityLock
        descriptor = unsafe open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
