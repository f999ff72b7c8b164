internal import VaultFormat
internal import VaultStorage
internal import SystemCalls

extension OpenCompartment {
    /// Copies the compartment as it is into a backup. A file that Holdfast could not have written is left out: planted
    /// garbage must not prevent a backup.
    /// - Returns: Names of what was copied.
    func copy(to target: HomeDirectory) throws(VaultError) -> [String] {
        let vault = try HeaderFile.read(in: home).vault
        let lock: LockedOpenKey?
        do throws(VaultError) {
            lock = try LockedOpenKey.lock(in: home, vault: vault, creating: false)
        } catch {
            guard error.code == .damaged else { throw error }
            lock = nil
        }
        var names: [String] = []
        // Without its key a database is useless.
        if let lock, home.exists(OpenFiles.database), try copy(OpenFiles.database, to: target) {
            try lock.copy(to: OpenFiles.key, in: target)
            names += [OpenFiles.database, OpenFiles.key]
        }
        if try copy(OpenFiles.publicKey, to: target) { names.append(OpenFiles.publicKey) }
        return names
    }

    private func copy(_ name: String, to target: HomeDirectory) throws(VaultError) -> Bool {
        do throws(VaultError) {
            guard let file = try home.openFile(name, O_RDONLY),
                try file.status().size <= UInt64(DatabaseName.open.limit)
            else { return false }
        } catch {
            guard error.code == .damaged else { throw error }
            return false
        }
        return try FileCopy.copy(name, from: home, to: target, progress: { _ in }) != nil
    }
}
