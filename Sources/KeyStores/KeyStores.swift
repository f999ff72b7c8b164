package import VaultFormat

/// The key stores of this machine, best first.
package struct KeyStores: Sendable {
    private let stores: [any KeyStore]

    package init(_ stores: [any KeyStore]) { self.stores = stores }

    #if canImport(Security)
    /// The keychain, and nothing below it: what it cannot keep is kept nowhere.
    /// - Parameters:
    ///   - folder: Not used; the system knows where.
    ///   - group: The access group that app and extensions share; nil for the app's own.
    package init(folder: String, group: String? = nil) { self.init([KeychainStore(group: group)]) }
    #else
    /// A TPM, the session's keyring, and files in a folder of the user.
    package init(folder: String, tpm: TPMLocation? = .standard) {
        var stores: [any KeyStore] = []
        if let tpm { stores.append(TPMKeyStore(at: tpm)) }
        stores += [SecretServiceStore(), FileKeyStore(in: folder)]
        self.init(stores)
    }
    #endif

    /// The best one that works now.
    package var best: (any KeyStore)? {
        stores.first { store in
            do throws(KeyStoreError) {
                try store.probe()
                return true
            } catch { return false }
        }
    }

    /// The one that an item came from.
    package func store(of kind: KeyStoreKind) -> (any KeyStore)? { stores.first { $0.kind == kind } }
}
