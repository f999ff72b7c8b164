internal import CommandLineArguments
internal import SystemCalls

/// Root that works in the folders of another user is that user from then on.
///
/// The owner of a folder can put a link, a journal or another file in the place of what root is about to read, write or
/// remove there. So root's rights must not be used in it; and what is made belongs to the user who needs it.
enum FolderOwner {
    /// To be called before anything there is opened. It cannot be taken back.
    /// - Parameter places: Files that the command reads and writes.
    /// - Throws: ``UsageError`` where folders on their ways belong to several users, or root may become no other.
    static func become(_ places: String...) throws(UsageError) {
        guard geteuid() == 0 else { return }
        var owners: [uid_t: (folder: String, group: gid_t)] = [:]
        for place in places { collect(place, &owners) }
        guard let (user, found) = owners.first else { return }
        if owners.count > 1 {
            let folders = owners.values.map(\.folder).sorted().joined(separator: ", ")
            throw UsageError("\(folders) belong to several users; run this as the one who may use all of them")
        }
        let entry = unsafe getpwuid(user)
        let group = unsafe entry?.pointee.pw_gid ?? found.group
        let hasGroups =
            unsafe entry.map { unsafe initgroups($0.pointee.pw_name, $0.pointee.pw_gid) } ?? setgroups(0, nil)
        guard hasGroups == 0, setgid(group) == 0, setuid(user) == 0, geteuid() == user else {
            throw UsageError("\(found.folder) belongs to user \(user); run this as that user")
        }
    }

    /// Follows links as the system does, since who owns one decides where it leads.
    private static func collect(_ place: String, _ owners: inout [uid_t: (folder: String, group: gid_t)]) {
        var (done, links) = ("", 0)
        // The file itself is whoever's it is.
        var folder = Paths.parent(of: place)
        if !folder.hasPrefix("/"), let here = unsafe getcwd(nil, 0) {
            folder = unsafe String(cString: here) + "/" + folder
            unsafe free(here)
        }
        var parts = Array(folder.split(separator: "/").map(String.init).reversed())
        while let part = parts.popLast() {
            let next = done + "/" + part
            var status = stat()
            guard unsafe lstat(next, &status) == 0 else { return }
            if status.st_uid != 0 { owners[status.st_uid] = (next, status.st_gid) }
            guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFLNK) else {
                done = next
                continue
            }
            links += 1
            guard links <= 40, let target = Paths.target(ofLink: next) else { return }
            if target.hasPrefix("/") { done = "" }
            parts += target.split(separator: "/").map(String.init).reversed()
        }
    }
}
