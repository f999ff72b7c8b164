internal import SystemCalls
package import VaultFormat
internal import VaultHeader
package import VaultStorage

/// The folder of a backup, and the two beside it that an update uses.
package struct BackupPlace {
    /// Without links: the folder itself is renamed.
    package let path: String
    /// Where the next backup is written. These names are nobody else's: an earlier backup that a user keeps as
    /// `backup.old` stays.
    package var new: String { path + ".holdfast-new" }
    /// What the earlier backup is called while the next one takes its name.
    package var old: String { path + ".holdfast-old" }

    package init(_ path: String) {
        var real = BackupPlace.withoutSlash(path)
        if let found = unsafe realpath(real, nil) {
            self.path = unsafe String(cString: found)
            unsafe free(found)
            return
        }
        // An interrupted update took away what a link leads to: it is followed by its text, as far as the system
        // follows links.
        for _ in 0..<40 {
            guard let target = Paths.target(ofLink: real) else { break }
            real = BackupPlace.withoutSlash(target.hasPrefix("/") ? target : Paths.parent(of: real) + "/" + target)
        }
        self.path = real
    }

    private static func withoutSlash(_ path: String) -> String {
        var path = path
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// An update that was interrupted between its two renamings left the backup without its name: it gets it.
    package func bringBack(of vault: VaultID) throws(VaultError) {
        guard !BackupPlace.exists(path), let earlier = try EarlierBackup(at: old, of: vault) else { return }
        try withExtendedLifetime(earlier) { () throws(VaultError) in try rename(old, path) }
    }

    /// What interrupted updates left beside the backup goes. A backup that was only begun is taken over by the next
    /// one.
    package func clear(of vault: VaultID) throws(VaultError) {
        for left in [old, new] where BackupPlace.exists(left) {
            if let earlier = try EarlierBackup(at: left, of: vault) {
                try earlier.requireUnchanged()
                try earlier.remove()
            } else if left == old {
                try EarlierBackup.finishRemoval(at: left)
                guard !BackupPlace.exists(left) else {
                    throw VaultError(.exists, "\(left) is in the way; move it away. Nothing was changed")
                }
            }
        }
    }

    /// - Throws: `exists` for a place inside of a vault or a backup, with which it would be destroyed or replaced.
    package static func requireNoVault(above path: String) throws(VaultError) {
        var inner = stat()
        var place = Paths.parent(of: withoutSlash(path))
        // What is not there yet will be where its parent is.
        while unsafe stat(place, &inner) != 0 {
            let parent = Paths.parent(of: withoutSlash(place))
            guard parent != place else { return }
            place = parent
        }
        for _ in 0..<256 {
            if let home = try? HomeDirectory(path: place, takesLinked: true),
                (try? HeaderFile.read(in: home)) != nil || HeaderFile.newerVersion(in: home) != nil
            {
                throw VaultError(
                    .exists, "\(path) is inside of a vault or a backup; choose a folder elsewhere. Nothing was changed")
            }
            let last = inner
            place += "/.."
            guard unsafe stat(place, &inner) == 0, !inner.isSameFile(as: last) else { return }
        }
    }

    /// - Throws: `exists` for the root folder of a disk, which has no other name that it could get.
    package func requireRoomBeside() throws(VaultError) {
        let parent = try HomeDirectory(path: path + "/..", takesLinked: true)
        guard try HomeDirectory(path: path, takesLinked: true).isOnSameDisk(as: parent) else {
            throw VaultError(
                .exists,
                "\(path) is a whole disk, and a backup is brought up to date in a folder of one; nothing was changed")
        }
    }

    /// The new backup takes the place of the earlier one, which goes.
    package func swap(_ earlier: EarlierBackup) throws(VaultError) {
        do throws(VaultError) { try rename(path, old) } catch {
            // The earlier one is what there is; the next one begins anew.
            if let next = try? EarlierBackup(at: new, of: earlier.vault) { try? next.remove() }
            throw error
        }
        try rename(new, path)
        try VaultCreation.synchronizeParent(of: path)
        try earlier.remove(as: old)
    }

    private func rename(_ from: String, _ to: String) throws(VaultError) {
        try system("renaming \(from)") { unsafe SystemCalls.rename(from, to) }
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
