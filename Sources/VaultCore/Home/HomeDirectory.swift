#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The folder of one vault, held open: everything in it is reached through this descriptor and never through a link.
package final class HomeDirectory: Sendable {
    /// The path as the caller gave it; used in messages and by LMDB.
    package let path: String
    /// The same from the root folder, so that a change of the working folder leads LMDB nowhere else.
    let absolutePath: String
    package let descriptor: Int32

    /// Opens an existing folder.
    /// - Throws: `noVault` when it is not there, `permissionDenied`, `inputOutput`.
    package init(path: String) throws(VaultError) {
        self.path = path
        absolutePath = HomeDirectory.absolute(path)
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let number = errno
            if number == ENOENT || number == ENOTDIR {
                throw VaultError(.noVault, "there is no vault at \(path)")
            }
            throw .system(number, "opening \(path)")
        }
    }

    deinit { close(descriptor) }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }

    /// Opens a file of the home.
    /// - Returns: Nil when the file is not there.
    func openFile(_ name: String, _ flags: Int32) throws(VaultError) -> DurableFile? {
        // Only one level lies below the home, and its folder must be no link either.
        guard let slash = name.firstIndex(of: "/") else {
            return try HomeDirectory.openFile(name, flags, below: descriptor, shown: name)
        }
        let folder = String(name[..<slash])
        let below = unsafe openat(descriptor, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard below >= 0 else {
            let number = errno
            if number == ENOENT && flags & O_CREAT == 0 { return nil }
            if number == ELOOP || number == ENOTDIR { throw .damaged("\(folder) is not a folder of its own") }
            throw .system(number, "opening \(folder)")
        }
        defer { close(below) }
        return try HomeDirectory.openFile(String(name[name.index(after: slash)...]), flags, below: below, shown: name)
    }

    private static func openFile(
        _ name: String, _ flags: Int32, below descriptor: Int32, shown: String
    ) throws(VaultError) -> DurableFile? {
        while true {
            // Non-blocking: a pipe planted under the name of a file must not hold us.
            let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
            if file >= 0 {
                let opened = DurableFile(owning: file, name: shown)
                guard try opened.isRegularFile || flags & O_DIRECTORY != 0 else {
                    throw .damaged("\(shown) is not a regular file")
                }
                return opened
            }
            switch errno {
            case EINTR: continue
            case ENOENT where flags & O_CREAT == 0: return nil
            case ENXIO: throw .damaged("\(shown) is not a regular file")
            case ELOOP: throw .damaged("\(shown) is a link")
            case let number: throw .system(number, "opening \(shown)")
            }
        }
    }

    func isSameFolder(as other: HomeDirectory) throws(VaultError) -> Bool {
        var mine = stat()
        var theirs = stat()
        try system("examining \(path)") { unsafe fstat(descriptor, &mine) }
        try system("examining \(other.path)") { unsafe fstat(other.descriptor, &theirs) }
        return FileStatus(mine).isSameFile(as: FileStatus(theirs))
    }

    func exists(_ name: String) -> Bool {
        unsafe faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Makes names created or removed in the folder (or in a folder below it) durable.
    func synchronize(_ below: String = ".") throws(VaultError) {
        let folder = try system("opening \(below)") {
            unsafe openat(descriptor, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0)
        }
        defer { close(folder) }
        try system("synchronizing \(below)") { fsync(folder) }
    }

    func makeFolder(_ name: String) throws(VaultError) {
        try system("creating \(name)") { unsafe mkdirat(descriptor, name, 0o700) }
    }

    func rename(_ old: String, to new: String) throws(VaultError) {
        try system("renaming \(old)") { unsafe renameat(descriptor, old, descriptor, new) }
    }

    /// Removes a file; one that is not there is fine.
    func remove(_ name: String) {
        unsafe unlinkat(descriptor, name, 0)
    }

    /// Removes a file, a link, or an empty folder.
    func removeAnything(_ name: String) {
        if unsafe unlinkat(descriptor, name, 0) != 0 { unsafe unlinkat(descriptor, name, AT_REMOVEDIR) }
    }

    /// Names in a folder below the home, without the two dots.
    func names(in below: String) throws(VaultError) -> [String] {
        let folder = try system("opening \(below)") {
            unsafe openat(descriptor, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0)
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
