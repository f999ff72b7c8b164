internal import SecretMemory
internal import SystemCalls

#if DEBUG
package import Synchronization
#endif

/// The folder of one vault, held open: everything in it is reached through this descriptor and never through a link.
package final class HomeDirectory: Sendable {
    /// The path as the caller gave it; used in messages.
    package let path: String
    /// The same from the root folder, so that a change of the working folder leads nowhere else.
    private let absolutePath: String
    package let descriptor: Int32
    /// Whether files that have other names elsewhere are taken: of a backup that is only read, and each byte of it
    /// compared with its manifest. Programs that keep many backups give equal files of them several names.
    private let takesLinked: Bool
    #if DEBUG
    /// How often each file was opened here: tests count it.
    package let opened = Mutex<[String: Int]>([:])
    #endif

    /// Opens an existing folder.
    /// - Throws: `noVault` when it is not there, `vaultMissing` when a link leads there, `permissionDenied`,
    ///   `inputOutput`.
    package convenience init(path: String) throws(VaultError) { try self.init(path: path, takesLinked: false) }

    /// As ``init(path:)``, for one that may share its files with others.
    package init(path: String, takesLinked: Bool) throws(VaultError) {
        self.path = path
        self.takesLinked = takesLinked
        absolutePath = HomeDirectory.absolute(path)
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let number = errno
            if number == ENOENT {
                throw HomeDirectory.linksNowhere(path, .vaultMissing)
                    ?? VaultError(.noVault, "there is no vault at \(path)")
            }
            if number == ENOTDIR { throw VaultError(.noVault, "there is no vault at \(path), which is no folder") }
            throw .system(number, "opening \(path)")
        }
        // Whatever is done in a home begins here: a library that is missing ends it before anything is written.
        CLibraries.load()
    }

    deinit { close(descriptor) }

    /// The error for a path that leads through a link to what is not there; nil for any other.
    package static func linksNowhere(_ path: String, _ code: VaultError.Code) -> VaultError? {
        Paths.danglingLink(in: path).map {
            VaultError(code, "\($0.link) is a link to \($0.target), which is not there; nothing was changed")
        }
    }

    /// A path of a file for a library that opens files by their paths: it leads through the folder that is open here,
    /// whatever lies under the folder's own path by now, where the system can say that. The caller checks its last part
    /// before and after use.
    func pathForLibraries(_ name: String) -> String {
        #if os(Linux) && !canImport(Darwin)
        let folder = "/proc/self/fd/\(descriptor)"
        if unsafe access(folder, F_OK) == 0 { return "\(folder)/\(name)" }
        #endif
        return "\(absolutePath)/\(name)"
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }

    /// Opens a file of the home: a regular one that has this one name, through no link, without waiting for anybody.
    /// - Parameter evenIfLinked: See ``takesLinked``.
    /// - Returns: Nil when the file is not there.
    /// - Throws: `damaged` for what is no file, `hardLinked`, and what the system says.
    package func openFile(_ name: String, _ flags: Int32, evenIfLinked: Bool = false) throws(VaultError) -> DurableFile?
    {
        #if DEBUG
        opened.withLock { $0[name, default: 0] += 1 }
        #endif
        do throws(BeneathError) {
            let file = try Beneath(descriptor).file(name, flags, evenIfLinked: evenIfLinked || takesLinked)
            return DurableFile(owning: file, name: name)
        } catch {
            if error == .notThere && flags & O_CREAT == 0 { return nil }
            throw VaultError(opening: name, error)
        }
    }

    /// Opens a folder of the home, to lock it or to look at it.
    /// - Returns: Nil when it is not there.
    /// - Throws: `damaged` for what is no folder, and what the system says.
    package func openFolder(_ name: String) throws(VaultError) -> DurableFile? {
        do throws(BeneathError) {
            return DurableFile(owning: try Beneath(descriptor).folder(name), name: name)
        } catch {
            if error == .notThere { return nil }
            throw VaultError(opening: name, error)
        }
    }

    /// Takes the lock of a file that is made for nothing else.
    /// - Returns: Nil while another has it.
    /// - Throws: As ``openFile(_:_:evenIfLinked:)``.
    package func lock(_ name: String) throws(VaultError) -> FileLock? {
        guard let file = try openFile(name, O_RDWR | O_CREAT), try file.tryLock(exclusive: true) else { return nil }
        return FileLock(file)
    }

    /// Takes the lock of the folder itself.
    /// - Returns: Nil while another has it.
    package func lockFolder() throws(VaultError) -> FileLock? {
        guard let folder = try openFolder("."), try folder.tryLock(exclusive: true) else { return nil }
        return FileLock(folder)
    }

    /// Whether files of one can be renamed into the other.
    package func isOnSameDisk(as other: HomeDirectory) throws(VaultError) -> Bool {
        try status().device == other.status().device
    }

    package func isSameFolder(as other: HomeDirectory) throws(VaultError) -> Bool {
        try status().isSameFile(as: other.status())
    }

    private func status() throws(VaultError) -> FileStatus {
        var status = stat()
        try system("examining \(path)") { unsafe fstat(descriptor, &status) }
        return FileStatus(status)
    }

    package func exists(_ name: String) -> Bool {
        unsafe faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Makes names created or removed in the folder (or in a folder below it) durable.
    package func synchronize(_ below: String = ".") throws(VaultError) {
        guard let folder = try openFolder(below) else { throw .system(ENOENT, "opening \(below)") }
        try system("synchronizing \(below)") { fsync(folder.descriptor) }
    }

    package func makeFolder(_ name: String) throws(VaultError) {
        try system("creating \(name)") { unsafe mkdirat(descriptor, name, 0o700) }
    }

    package func rename(_ old: String, to new: String) throws(VaultError) {
        try system("renaming \(old)") { unsafe renameat(descriptor, old, descriptor, new) }
    }

    /// Removes a file; succeeds if it does not exist.
    package func remove(_ name: String) {
        unsafe unlinkat(descriptor, name, 0)
    }

    /// Removes a file, a link, or an empty folder.
    package func removeAnything(_ name: String) {
        if unsafe unlinkat(descriptor, name, 0) != 0 { unsafe unlinkat(descriptor, name, AT_REMOVEDIR) }
    }

    /// Names in a folder below the home, without the two dots.
    package func names(in below: String) throws(VaultError) -> [String] {
        let folder: Int32
        do throws(BeneathError) { folder = try Beneath(descriptor).folder(below) } catch {
            throw VaultError(opening: below, error)
        }
        guard let stream = unsafe fdopendir(folder) else {
            let number = errno
            close(folder)
            throw .system(number, "reading \(below)")
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

extension HomeDirectory {
    /// The name that a file has until it is whole.
    package static func part(of name: String) -> String { ".\(name).part" }

    /// Puts a file under its name, in place of an older one. It is written under another name, flushed, and renamed: at
    /// no moment, power cuts included, is there half a file under its own. Durable when it returns.
    package func publish(
        _ name: String, _ write: (borrowing DurableFile) throws(VaultError) -> Void
    ) throws(VaultError) {
        let part = HomeDirectory.part(of: name)
        try clear(part)
        guard let file = try openFile(part, O_RDWR | O_CREAT | O_EXCL) else {
            throw .damaged("\(part) cannot be created")
        }
        do throws(VaultError) {
            try write(file)
            try file.synchronize()
            try putInPlace(part, as: name)
        } catch {
            _ = try? erase(part, overwriting: true)
            throw error
        }
    }

    /// Gives a file that is whole and on the disk its name, durably.
    package func putInPlace(_ part: String, as name: String) throws(VaultError) {
        if case .folder = try kind(of: name) { try clear(name) }
        try rename(part, to: name)
        try synchronize()
    }
}
