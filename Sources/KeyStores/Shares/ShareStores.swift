package import VaultFormat

/// The stores that a caller lets shares rest in, best first.
package struct ShareStores: Sendable {
    private let stores: [any ShareStore]

    /// - Parameter stores: Best first.
    package init(_ stores: [any ShareStore]) { self.stores = stores }

    /// The best one in which a share could be kept now.
    /// - Throws: ``ShareFailure`` of the best one that is not merely absent, or of the last one.
    package func best() throws(ShareFailure) -> any ShareStore {
        var why: ShareFailure?
        for store in stores {
            do throws(ShareFailure) {
                try store.probe()
                return store
            } catch {
                if case .unavailable(.absent) = why ?? .unavailable(.absent(store.kind, "")) { why = error }
            }
        }
        throw why ?? .failed(KeyStoreError(.unavailable, "no key store may be used"))
    }

    /// The one that an item came from; nil where the caller does not let it be used.
    package func store(of kind: KeyStoreKind) -> (any ShareStore)? { stores.first { $0.kind == kind } }
}
