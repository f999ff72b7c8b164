internal import VaultFormat

extension ShareItem {
    /// Whether it was made for this vault, in this kind of store.
    func isOf(_ kind: KeyStoreKind, _ vault: VaultID) -> Bool { store == kind && name.vault == vault }

    /// - Throws: ``ShareFailure`` (`damaged`) unless ``isOf(_:_:)``.
    func check(_ kind: KeyStoreKind, of vault: VaultID) throws(ShareFailure) {
        guard isOf(kind, vault) else { throw .damaged }
    }
}
