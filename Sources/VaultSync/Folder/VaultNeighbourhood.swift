internal import SystemCalls
internal import VaultFormat
internal import VaultStorage

/// Whether a folder is a vault's, or lies in one: whoever wipes, backs up or moves the vault would take the road along,
/// and a tool that carries the road would carry the vault.
enum VaultNeighbourhood {
    /// Folders above that are looked at: more than a path has.
    private static let most = 4096
    /// `O_PATH`, which Swift does not import.
    private static let pathOnly: Int32 = 0o10000000

    /// - Parameter folder: Open; it is not read itself.
    static func isInVault(_ folder: borrowing OwnedDescriptor) throws(RoadError) -> Bool {
        var here = try parent(of: folder.number, ".")
        for _ in 0..<most {
            if isVault(here.number) { return true }
            let above = try parent(of: here.number, "..")
            let isRoot: Bool
            do throws(SystemError) { isRoot = try above.status().isSameFile(as: here.status()) } catch {
                throw RoadError(error, "..")
            }
            if isRoot { return false }
            here = above
        }
        return true
    }

    private static func parent(of folder: Int32, _ name: String) throws(RoadError) -> OwnedDescriptor {
        #if os(Linux) && !canImport(Darwin)
        // What may be passed but not read is above many a home.
        let flags = pathOnly | O_DIRECTORY | O_CLOEXEC
        #else
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        #endif
        return OwnedDescriptor(owning: try onRoad(name) { unsafe openat(folder, name, flags) })
    }

    /// A home has records, and a header that begins as one.
    private static func isVault(_ folder: Int32) -> Bool {
        if unsafe faccessat(folder, DatabaseName.protected.file, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { return true }
        guard let header = try? Beneath(folder).file("header", O_RDONLY, evenIfLinked: true) else { return false }
        let file = OwnedDescriptor(owning: header)
        return (try? file.readPrefix(Header.magic.count)) == Header.magic
    }
}
