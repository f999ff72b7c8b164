internal import SystemCalls

/// A folder that a program keeps alike on several machines. Such programs replace the vault's files one by one, at any
/// moment: that damages it or brings old ones back (architecture.md 9).
package struct SyncedFolder: Sendable, Hashable {
    /// The folder with the program's mark, without links.
    package let path: String
    /// What the program is called.
    package let program: String

    /// What such programs leave in the folder that they keep.
    private static let marks: [(name: String, program: String)] = [
        (".stfolder", "Syncthing"), (".dropbox", "Dropbox"), (".dropbox.cache", "Dropbox"),
        (".owncloudsync.log", "ownCloud or Nextcloud"), (".nextcloudsync.log", "Nextcloud"),
        (".tmp.drivedownload", "Google Drive"), (".pcloud", "pCloud"),
    ]

    /// The nearest folder above a path, or the path itself, that such a program keeps; nil where there is none.
    package init?(above path: String) {
        var folder = path
        if let real = unsafe realpath(path, nil) {
            folder = unsafe String(cString: real)
            unsafe free(real)
        }
        // A vault that is to be made: its folder need not be there.
        while folder.hasPrefix("/"), folder.utf8.count > 1 {
            if let mark = SyncedFolder.marks.first(where: { unsafe access("\(folder)/\($0.name)", F_OK) == 0 }) {
                self.path = folder
                program = mark.program
                return
            }
            guard let slash = folder.lastIndex(of: "/") else { return nil }
            folder = String(folder[..<slash])
        }
        return nil
    }
}
