internal import Cryptography
internal import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension HomeDirectory {
    /// What a name stands for; links are seen as themselves.
    enum Kind {
        case absent
        case file(links: UInt64, size: UInt64)
        /// A link, a pipe, a socket, a device: a name that can be removed and holds nothing of ours.
        case special
        case folder
    }

    func kind(of name: String) throws(VaultError) -> Kind { try HomeDirectory.kind(of: name, below: descriptor) }

    private static func kind(of name: String, below descriptor: Int32) throws(VaultError) -> Kind {
        var status = stat()
        while unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
            switch errno {
            case EINTR: continue
            case ENOENT: return .absent
            case let number: throw .system(number, "examining \(name)")
            }
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(links: UInt64(status.st_nlink), size: UInt64(max(0, status.st_size)))
        case S_IFDIR: return .folder
        default: return .special
        }
    }

    /// Removes a name; one that is not there is fine.
    func unlink(_ name: String) throws(VaultError) { try HomeDirectory.unlink(name, below: descriptor) }

    private static func unlink(_ name: String, below descriptor: Int32) throws(VaultError) {
        do throws(VaultError) {
            try system("removing \(name)") { unsafe unlinkat(descriptor, name, 0) }
        } catch {
            guard case .absent = try kind(of: name, below: descriptor) else { throw error }
        }
    }

    /// What is overwritten before it is removed; larger files were never ours.
    private static let longestOverwritten: UInt64 = 1 << 20

    /// Removes a file, after overwriting it where that is asked for.
    ///
    /// A link is removed itself. A file that has another name elsewhere is not overwritten: who planted the second name
    /// could destroy the file behind it.
    func erase(_ name: String, overwriting: Bool) throws(VaultError) -> WipeResult {
        switch try kind(of: name) {
        case .absent: return .absent
        case .folder: return .foreign
        case .special:
            try unlink(name)
            return .removed
        case .file(let links, let size):
            guard overwriting, links == 1, size <= HomeDirectory.longestOverwritten,
                let file = try? openFile(name, O_RDWR)
            else {
                try unlink(name)
                return overwriting ? .removed : .erased
            }
            // Whoever is writing is let finish, and finds the name gone when he comes again.
            try? file.lock(exclusive: true, patience: 1000, orBusy: "another process is writing to \(name)")
            // A disk that cannot take it any more may still let go of the name.
            let isOverwritten = (try? HomeDirectory.overwrite(file)) != nil
            try unlink(name)
            return isOverwritten ? .erased : .removed
        }
    }

    private static func overwrite(_ file: borrowing DurableFile) throws(VaultError) {
        let size = try file.status().size
        guard size <= longestOverwritten else { throw .damaged("\(file.name) is too large") }
        let noise = try crypto { () throws(CryptographyError) in try SecureRandom.bytes(Int(size)) }
        try file.write(noise, at: 0)
        try file.synchronize()
    }

    /// Empties a folder of ours and removes it; folders in it are not ours and stay.
    func eraseFolder(_ name: String) throws(VaultError) -> (result: WipeResult, count: UInt32) {
        switch try kind(of: name) {
        case .absent: return (.absent, 0)
        case .special, .file:
            try unlink(name)
            return (.removed, 0)
        case .folder: break
        }
        let folder = unsafe openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard folder >= 0 else {
            let number = errno
            if number == ENOTDIR || number == ELOOP { return (.foreign, 0) }
            throw .system(number, "opening \(name)")
        }
        defer { close(folder) }
        var count: UInt32 = 0
        var isForeign = false
        for entry in try names(in: name) {
            switch try HomeDirectory.kind(of: entry, below: folder) {
            case .absent: continue
            case .folder: isForeign = true
            case .file, .special:
                try HomeDirectory.unlink(entry, below: folder)
                count += 1
            }
        }
        if isForeign { return (.foreign, count) }
        // Its emptiness need not be durable by itself: the folder's own removal is.
        try system("removing \(name)") { unsafe unlinkat(descriptor, name, AT_REMOVEDIR) }
        return (.erased, count)
    }

    /// Whether nothing that a wipe would remove is under a name.
    func isErased(_ name: String) throws(VaultError) -> Bool {
        switch try kind(of: name) {
        case .absent, .folder: true
        case .file, .special: false
        }
    }

    /// Whether a folder is gone, or holds nothing that a wipe would remove.
    func isErasedFolder(_ name: String) throws(VaultError) -> Bool {
        switch try kind(of: name) {
        case .absent: return true
        case .file, .special: return false
        case .folder: break
        }
        let folder = unsafe openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard folder >= 0 else { throw .system(errno, "opening \(name)") }
        defer { close(folder) }
        let names = try names(in: name)
        for entry in names {
            guard case .folder = try HomeDirectory.kind(of: entry, below: folder) else { return false }
        }
        return !names.isEmpty
    }
}
