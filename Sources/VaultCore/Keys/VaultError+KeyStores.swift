package import KeyStores
package import VaultStorage

extension VaultError {
    /// A key store's failure is never a wrong secret.
    package init(_ error: KeyStoreError) {
        switch error.code.kind {
        case .outOfMemory: self.init(.outOfMemory, error.reason)
        case .hardLinked: self.init(.hardLinked, error.reason)
        case .damaged: self = .damaged(error.reason)
        case .unexpected: self.init(.unexpected, error.reason)
        case .unavailable, .busy, .lockedOut, .unanswered, .wrongSecret, .foreign, .notFound, .unsupported,
            .ownedByAnother, .cancelled, .failure:
            self.init(.hardwareUnavailable, error.reason)
        }
    }
}

/// A key store's failure is never a wrong passcode, and nothing was counted for it.
func keyStore<R: ~Copyable>(_ body: () throws(KeyStoreError) -> R) throws(VaultError) -> R {
    do throws(KeyStoreError) {
        return try body()
    } catch {
        throw VaultError(error)
    }
}
