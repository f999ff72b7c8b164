internal import HoldfastDoctor

extension SyncedFolder {
    /// Says so where the vault's folder is in one that is kept alike.
    static func warn(_ home: String) {
        guard let folder = SyncedFolder(above: home) else { return }
        Output.note(
            "WARNING: \(folder.program) syncs \(Escaping.name(folder.path)), where the vault is. A sync damages vaults: move the vault out of "
                + "it, and put backups there (holdfast backup)")
    }
}
