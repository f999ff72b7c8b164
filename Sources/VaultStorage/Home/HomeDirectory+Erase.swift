internal import Cryptography
package import VaultFormat
internal import SystemCalls

extension HomeDirectory {
    /// What a name stands for; links are seen as themselves.
    package enum Kind {
        case absent
        case file(links: UInt64, size: UInt64)
        /// A link, a pipe, a socket, a device: a name that can be removed and holds nothing of ours.
        case special
        case folder
    }

    package func kind(of name: String) throws(VaultError) -> Kind {
        try HomeDirectory.kind(of: name, below: descriptor)
    }

    private static func kind(of name: String, below folder: Int32) throws(VaultError) -> Kind {
        var status = stat()
        while unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
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

    /// Removes a name; succeeds if it does not exist.
    package func unlink(_ name: String) throws(VaultError) { try HomeDirectory.unlink(name, below: descriptor) }

    private static func unlink(_ name: String, below folder: Int32) throws(VaultError) {
        do throws(VaultError) {
            try system("removing \(name)") { unsafe unlinkat(folder, name, 0) }
        } catch {
            guard case .absent = try kind(of: name, below: folder) else { throw error }
        }
    }

    /// What is overwritten before it is removed; larger files were never ours.
    private static let longestOverwritten: UInt64 = 1 << 20

    /// Removes a file, after overwriting it where that is asked for.
    ///
    /// A link is removed itself. A file with another name elsewhere is not overwritten: an attacker who planted the
    /// second name could otherwise destroy the file behind it.
    /// - Returns: `removed` for what was to be overwritten and was not; `foreign` for a folder, which is left alone.
    package func erase(_ name: String, overwriting: Bool) throws(VaultError) -> WipeResult {
        try HomeDirectory.erase(name, overwriting: overwriting, below: descriptor)
    }

    private static func erase(
        _ name: String, overwriting: Bool, below folder: Int32
    ) throws(VaultError) -> WipeResult {
        switch try kind(of: name, below: folder) {
        case .absent: return .absent
        case .folder: return .foreign
        case .special:
            try unlink(name, below: folder)
            return .removed
        case .file:
            let isOverwritten = overwriting && overwrite(name, below: folder)
            try unlink(name, below: folder)
            return isOverwritten || !overwriting ? .erased : .removed
        }
    }

    /// - Returns: Whether it is done. A disk that cannot take it any more may still let go of the name.
    private static func overwrite(_ name: String, below folder: Int32) -> Bool {
        guard let opened = try? Beneath(folder).file(name, O_RDWR) else { return false }
        let file = DurableFile(owning: opened, name: name)
        // A writer may finish, and finds the name gone next time.
        try? file.lock(exclusive: true, patience: 1000, orBusy: "another process is writing to \(name)")
        return (try? overwrite(file)) != nil
    }

    private static func overwrite(_ file: borrowing DurableFile) throws(VaultError) {
        let size = try file.status().size
        guard size <= longestOverwritten else { throw .damaged("\(file.name) is too large") }
        let noise = try crypto(SecureRandom.bytes(Int(size)))
        try file.write(noise, at: 0)
        try file.synchronize()
    }

    /// Empties a folder of ours and removes it; folders in it are not ours and stay.
    /// - Parameter overwriting: Whether its files are overwritten before.
    package func eraseFolder(_ name: String, overwriting: Bool) throws(VaultError) -> (
        result: WipeResult, count: UInt32
    ) {
        switch try kind(of: name) {
        case .absent: return (.absent, 0)
        case .special, .file:
            try unlink(name)
            return (.removed, 0)
        case .folder: break
        }
        guard let folder = try openFolder(name) else { return (.absent, 0) }
        var results: [WipeResult] = []
        for entry in try names(in: name) {
            results.append(try HomeDirectory.erase(entry, overwriting: overwriting, below: folder.descriptor))
        }
        let count = UInt32(results.count { $0 == .erased || $0 == .removed })
        if results.contains(.foreign) { return (.foreign, count) }
        // Its emptiness need not be durable: the folder's own removal is.
        try system("removing \(name)") { unsafe unlinkat(descriptor, name, AT_REMOVEDIR) }
        return (overwriting && results.contains(.removed) ? .removed : .erased, count)
    }

    /// Whether nothing that a wipe would remove is under a name.
    package func isErased(_ name: String) throws(VaultError) -> Bool {
        switch try kind(of: name) {
        case .absent, .folder: true
        case .file, .special: false
        }
    }

    /// Whether a folder is gone, or holds nothing that a wipe would remove.
    package func isErasedFolder(_ name: String) throws(VaultError) -> Bool {
        switch try kind(of: name) {
        case .absent: return true
        case .file, .special: return false
        case .folder: break
        }
        guard let folder = try openFolder(name) else { return true }
        let names = try names(in: name)
        for entry in names {
            guard case .folder = try HomeDirectory.kind(of: entry, below: folder.descriptor) else { return false }
        }
        return !names.isEmpty
    }

    /// Frees a name for a file of ours: a file or a link under it goes, and a planted folder, with its content, gets
    /// another name.
    package func clear(_ name: String) throws(VaultError) {
        guard try erase(name, overwriting: true) == .foreign else { return }
        if unsafe unlinkat(descriptor, name, AT_REMOVEDIR) == 0 { return }
        let number = try crypto(SecureRandom.bytes(8))
        try rename(name, to: "\(name).\(Hexadecimal.encode(number))")
    }
}
