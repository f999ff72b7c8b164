package import SystemCalls

/// New files, for their owner alone.
///
/// What root makes in a folder of its own belongs to the owner of the file that it takes the place of. A server that
/// runs as its own user would otherwise lose what root runs a command on.
package enum NewFile {
    /// Makes a file that was not there, for its owner alone, whatever the umask.
    /// - Parameters:
    ///   - flags: As for `open`, beside those that make it.
    ///   - place: The path that it will have; nil for the one it has.
    package static func make(
        _ path: String, _ flags: Int32, for place: String? = nil
    ) throws(SystemError) -> OwnedDescriptor {
        let owner = owner(of: place ?? path)
        let file = try OwnedDescriptor(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW)
        do throws(SystemError) {
            try uninterrupted { fchmod(file.number, 0o600) }
            try give(file, to: owner)
        } catch {
            unsafe unlink(path)
            throw error
        }
        return file
    }

    /// Whom a file at this path is for; nil where that is the user of this process.
    private static func owner(of place: String) -> stat? {
        var (status, folder) = (stat(), stat())
        // In a folder of somebody else's the file could be anybody's.
        guard geteuid() == 0, unsafe stat(Paths.parent(of: place), &folder) == 0, folder.st_uid == 0,
            folder.st_mode & 0o022 == 0,
            unsafe lstat(place, &status) == 0, status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
        else { return nil }
        return status
    }

    private static func give(_ file: borrowing OwnedDescriptor, to owner: stat?) throws(SystemError) {
        guard let owner else { return }
        let made = try file.status()
        guard made.st_uid != owner.st_uid || made.st_gid != owner.st_gid else { return }
        do throws(SystemError) { try uninterrupted { fchown(file.number, owner.st_uid, owner.st_gid) } } catch {
            // The group may do nothing with it, and a root without capabilities may not change it.
            guard made.st_uid == owner.st_uid else { throw error }
        }
    }
}
