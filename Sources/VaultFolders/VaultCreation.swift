internal import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage
internal import VaultWipe
internal import SystemCalls

/// Prepares a folder for a new home. The header gets its name last, once everything is on the disk: from then on the
/// folder is a vault. A marker without a header is a creation that was cut short, which can be started over; beside a
/// header it means nothing, so that no one who lays one there makes anything of a vault go away.
package struct VaultCreation: ~Copyable {
    package static let marker = HeaderFile.creationMark
    /// What a creation may have left behind. The header's own name is not among them.
    static let ownNames = Set(SecurityLog.fileNames + OpenFiles.all + WipeKeyFile.names + HardwareNote.names).union([
        marker, HeaderFile.part, AttemptLedger.name, DatabaseName.protected.file,
        DatabaseName.protected.file + "-lock", FileStore.folder, BackupManifest.fileName,
    ])

    package let home: HomeDirectory
    /// Folders that were not there before, the innermost last.
    private let madeFolders: [String]
    private let markerFile: DurableFile

    /// - Throws: `exists` when the folder holds anything but an unfinished creation; nothing is touched then. `wiped`
    ///   when it held a vault whose destruction had to be finished first; the folder is free the next time.
    /// - Parameter sweep: Takes away what an unfinished creation left outside of the folder, before the folder is
    ///   emptied.
    package init(
        at path: String, sweeping sweep: (HomeDirectory) throws(VaultError) -> Void = { _ in }
    ) throws(VaultError) {
        try VaultCreation.finishWipe(at: path)
        let madeFolders = try VaultCreation.makeFolders(path)
        do throws(VaultError) {
            let home = try HomeDirectory(path: path)
            let file = try VaultCreation.claimMarker(home)
            try sweep(home)
            do throws(VaultError) {
                VaultCreation.removeContents(of: home)
                try system("protecting \(path)") { fchmod(home.descriptor, 0o700) }
                #if canImport(Darwin)
                FileProtection.set(on: home.descriptor)
                #endif
                try home.makeFolder(FileStore.folder)
            } catch {
                VaultCreation.removeContents(of: home)
                home.remove(VaultCreation.marker)
                throw error
            }
            self.home = home
            markerFile = file
        } catch {
            VaultCreation.remove(madeFolders)
            throw error
        }
        self.madeFolders = madeFolders
    }

    private static func finishWipe(at path: String) throws(VaultError) {
        do throws(VaultError) {
            try Wipe.finish(at: path)
        } catch  where error.code == .wiped {
            throw error
        } catch {}  // whatever lies there is no vault of ours, and not touched
    }

    /// Lays the marker into an empty folder, or takes over one that was left behind. A folder with a header is a vault,
    /// whatever else lies there.
    /// - Throws: `exists`, `busy` while another process holds it.
    private static func claimMarker(_ home: HomeDirectory) throws(VaultError) -> DurableFile {
        let names = try VaultCreation.names(in: home)
        let isEmpty = names.isEmpty
        guard isEmpty || isUnfinished(home) else { throw exists(home, names) }
        // A marker that is gone, or there, by now was taken away or laid by another process that was quicker.
        guard let file = try home.openFile(marker, isEmpty ? O_RDWR | O_CREAT | O_EXCL : O_RDWR),
            try file.tryLock(exclusive: true), let current = try home.openFile(marker, O_RDONLY),
            try current.status().isSameFile(as: file.status())
        else { throw busy(home) }
        // Ours from here on. The other one may have finished between the look into the folder and our marker.
        let namesNow = try VaultCreation.names(in: home)
        guard isEmpty ? namesNow == [marker] : !namesNow.contains(HeaderFile.name) else {
            home.remove(marker)
            throw exists(home, namesNow)
        }
        return file
    }

    /// The receipt of a vault that was here before is no obstacle; it stays.
    private static func names(in home: HomeDirectory) throws(VaultError) -> [String] {
        try home.names(in: ".").filter { $0 != WipeReceipt.fileName }
    }

    private static func exists(_ home: HomeDirectory, _ names: [String]) -> VaultError {
        let what = names.contains(HeaderFile.name) ? "there is a vault at" : "there are other files in"
        return VaultError(.exists, "\(what) \(home.path); nothing was changed")
    }

    private static func busy(_ home: HomeDirectory) -> VaultError {
        VaultError(.busy, "another process is creating a vault at \(home.path)")
    }

    /// Makes the new home durable and gives the header its name: from now on it is a vault. What goes wrong with the
    /// marker after that is done at the first start.
    package func finish() throws(VaultError) {
        try home.synchronize(FileStore.folder)
        try home.synchronize()
        for folder in madeFolders { try VaultCreation.synchronizeParent(of: folder) }
        guard !home.exists(HeaderFile.name) else { throw VaultCreation.exists(home, [HeaderFile.name]) }
        try home.rename(HeaderFile.part, to: HeaderFile.name)
        do throws(VaultError) { try home.synchronize() } catch {
            // While the marker is held nobody opens it. On a full disk a name can be taken away, but not always given.
            home.remove(HeaderFile.name)
            throw error
        }
        home.remove(VaultCreation.marker)
    }

    /// Takes away a marker that lies beside a header.
    /// - Throws: `busy` while the process that makes the vault has not finished.
    package static func removeLeftover(in home: HomeDirectory) throws(VaultError) {
        // What is no file was laid there by no creation. In a home of a newer program nothing is tidied up.
        guard home.exists(marker), HeaderFile.newerVersion(in: home) == nil,
            let file = try? home.openFile(marker, O_RDONLY)
        else { return }
        guard try file.tryLock(exclusive: true) else { throw busy(home) }
        home.remove(marker)
    }

    /// Whether nothing lies there but what a creation leaves that was cut short.
    package static func isUnfinished(_ home: HomeDirectory) -> Bool {
        guard let names = try? names(in: home) else { return false }
        return names.contains(marker) && stranger(in: home, beside: []) == nil
    }

    /// Something in a folder that no vault and no backup puts there: its owner's.
    /// - Parameter known: What may be there too.
    static func stranger(in home: HomeDirectory, beside known: [String]) -> String? {
        let names = (try? names(in: home)) ?? []
        if let found = names.first(where: { !ownNames.contains($0) && !known.contains($0) }) { return found }
        let files = (try? home.names(in: FileStore.folder)) ?? []
        return files.first { !FileStore.isOwn($0) }.map(FileStore.path)
    }

    /// Undoes everything after a failure. Where the header could not be taken back the folder stays a vault.
    package func abandon() {
        guard !home.exists(HeaderFile.name) else { return }
        VaultCreation.removeContents(of: home)
        home.remove(VaultCreation.marker)
        VaultCreation.remove(madeFolders)
    }

    static func removeContents(of home: HomeDirectory) {
        // What somebody else has put there is not ours to remove.
        for name in (try? home.names(in: FileStore.folder)) ?? [] where FileStore.isOwn(name) {
            home.remove(FileStore.path(name))
        }
        unsafe unlinkat(home.descriptor, FileStore.folder, AT_REMOVEDIR)
        for name in VaultCreation.ownNames where name != VaultCreation.marker { home.remove(name) }
    }

    private static func remove(_ folders: [String]) {
        for folder in folders.reversed() { unsafe rmdir(folder) }
    }

    /// Creates the folder and those above it.
    /// - Returns: Those that are new.
    private static func makeFolders(_ path: String) throws(VaultError) -> [String] {
        guard !path.isEmpty else { throw VaultError(.noVault, "the path of the vault is empty") }
        if let error = HomeDirectory.linksNowhere(path, .exists) { throw error }
        var made: [String] = []
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            let part = String(path[..<end])
            if unsafe mkdir(part, 0o700) == 0 {
                made.append(part)
                continue
            }
            let number = errno
            if number != EEXIST && end == path.endIndex {
                remove(made)
                throw .system(number, "creating \(path)")
            }
        }
        return made
    }

    /// A new folder's name lies in the one above it.
    static func synchronizeParent(of path: String) throws(VaultError) {
        var parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if parent.isEmpty { parent = "/" }
        let folder = try system("opening \(parent)") { unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(folder) }
        try system("synchronizing \(parent)") { fsync(folder) }
    }
}
