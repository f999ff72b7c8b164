internal import VaultCore
internal import VaultStorage
internal import SystemCalls

/// The folder that the sockets lie in, held open: what was checked is what is used, whatever happens to its path.
///
/// It belongs to the user, and no other user may enter it; a link in its place is refused.
struct SocketFolder: ~Copyable {
    /// Of the folder.
    let descriptor: Int32
    /// For messages.
    let shown: String

    private static let name = "holdfast"
    private static let nameInHome = "agent"

    /// Where an agent's socket belongs: in `holdfast` of the runtime folder where there is one, else in `agent` of the
    /// home. The folder is made where it is not there yet.
    /// - Throws: `agentUnavailable` when it cannot be made or is not safe.
    static func make(runtime: String?, home: Int32) throws(VaultError) -> SocketFolder {
        if let runtime, let parent = try openRuntime(runtime) {
            defer { close(parent) }
            return try make(name, in: parent, shown: "\(runtime)/\(name)")
        }
        return try make(nameInHome, in: home, shown: "the home's folder \(nameInHome)")
    }

    /// The places where an agent's socket can be, in the order in which they are looked at; without those that are not
    /// there.
    /// - Throws: `agentUnavailable` when one is not safe.
    static func find(
        runtime: String?, home: Int32, _ body: (borrowing SocketFolder) throws(VaultError) -> Bool
    ) throws(VaultError) {
        if let runtime, let parent = try openRuntime(runtime) {
            defer { close(parent) }
            if let folder = try openFolder(name, in: parent, shown: "\(runtime)/\(name)"), try body(folder) { return }
        }
        if let folder = try openFolder(nameInHome, in: home, shown: "the home's folder \(nameInHome)") {
            _ = try body(folder)
        }
    }

    /// Nil if it does not exist or belongs to another user, as after `su`: then it is not this user's runtime folder.
    private static func openRuntime(_ path: String) throws(VaultError) -> Int32? {
        guard path.hasPrefix("/") else { return nil }
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
            close(descriptor)
            return nil
        }
        guard status.st_mode & 0o022 == 0 else {
            close(descriptor)
            throw .unavailable("\(path) can be changed by other users; a runtime folder must have mode 0700")
        }
        return descriptor
    }

    private static func make(_ name: String, in parent: Int32, shown: String) throws(VaultError) -> SocketFolder {
        if unsafe mkdirat(parent, name, 0o700) != 0, errno != EEXIST { throw .system("making \(shown)") }
        guard let folder = try openFolder(name, in: parent, shown: shown) else {
            throw .unavailable("\(shown) does not exist")
        }
        return folder
    }

    private static func openFolder(_ name: String, in parent: Int32, shown: String) throws(VaultError) -> SocketFolder?
    {
        let descriptor = unsafe openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP, ENOTDIR: throw .unavailable("\(shown) is not a folder, or is a link")
            default: throw .system("opening \(shown)")
            }
        }
        let folder = SocketFolder(descriptor: descriptor, shown: shown)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system("examining \(shown)") }
        guard status.st_uid == geteuid() else { throw .unavailable("\(shown) belongs to another user") }
        guard status.st_mode & 0o077 == 0 else {
            throw .unavailable("\(shown) can be entered by other users; its mode must be 0700")
        }
        return folder
    }

    private init(descriptor: Int32, shown: String) {
        self.descriptor = descriptor
        self.shown = shown
    }

    deinit { close(descriptor) }

    /// Whether a socket of ours that only we can use lies there.
    /// - Throws: `agentUnavailable` for anything else under this name.
    borrowing func holds(_ name: String) throws(VaultError) -> Bool {
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return false }
            throw .system("examining \(shown)/\(name)")
        }
        guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw .unavailable("\(shown)/\(name) is not a socket that only this user can use")
        }
        return true
    }

    /// Removes what a dead agent left, or what this one made.
    borrowing func remove(_ name: String) { unsafe unlinkat(descriptor, name, 0) }

    /// Leaves no folder in a home where there was none. One that others use is not empty.
    borrowing func removeIfEmptyInHome(_ home: Int32) {
        unsafe unlinkat(home, SocketFolder.nameInHome, AT_REMOVEDIR)
    }

    /// A listening socket that only its user can open.
    borrowing func listen(_ name: String) throws(VaultError) -> Int32 {
        do throws(SystemError) {
            let listener = try LocalSocket.listen(address(name), backlog: 128)
            LocalSocket.setNonBlocking(listener)
            return listener
        } catch { throw .system("making a socket in \(shown)", error.number) }
    }

    /// Nil if nothing listens there.
    /// - Parameter patience: Seconds that a call may wait for the other side.
    borrowing func connect(_ name: String, patience: Int) throws(VaultError) -> Int32? {
        do throws(SystemError) { return try LocalSocket.connect(address(name), patience: patience) } catch {
            switch error.number {
            case ECONNREFUSED, ENOENT: return nil
            case EAGAIN, EINTR: throw .unavailable("the agent does not accept connections")
            default: throw .system("connecting to the agent", error.number)
            }
        }
    }

    /// A path of the socket that fits into an address, whatever the folder's own length: 108 bytes are all there is.
    private borrowing func address(_ name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }
}
