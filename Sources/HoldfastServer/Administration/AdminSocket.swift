internal import BetterAuthServer
internal import SystemCalls

/// The socket through which an operator on this machine asks the running server.
enum AdminSocket {
    /// Seconds for which an operator's command waits for the server.
    private static let seconds = 30

    struct Failure: Error, CustomStringConvertible {
        let description: String
        /// What can be done about it.
        var advice = "name a file with --admin-socket in a folder that this user may write to"

        init(_ path: String, _ error: SystemError) { description = "\(path): \(error)" }
        init(_ description: String) { self.description = description }

        /// Of the side that asks, when it was connected.
        static func ended(_ error: SystemError? = nil) -> Failure {
            var failure = Failure("the server ended the connection" + (error.map { ": \($0)" } ?? ""))
            failure.advice = "whether it was done is not known: its log and accounts show tell"
            return failure
        }

        static func served(_ path: String) -> Failure { Failure("\(path): another server listens there") }
    }

    /// A socket that listens under a name.
    struct Listener: ~Copyable {
        let descriptor: OwnedDescriptor
        let name: Name
    }

    /// A name in a folder, and which socket it was given to: by now it may be a successor's.
    struct Name: Sendable {
        fileprivate let path: String
        fileprivate let socket: (device: UInt64, inode: UInt64)

        /// Removes the name, if it is still of that socket.
        func remove() {
            guard let lock = try? AdminSocket.lock(path) else { return }
            defer { flock(lock.number, LOCK_UN) }
            guard let status = AdminSocket.status(path), socket == AdminSocket.place(status) else { return }
            unsafe unlink(path)
        }
    }

    /// Binds and listens, with mode 0600. The name is never without a socket: it goes over at once from one that nobody
    /// listens at any more.
    /// - Parameter takesOver: Whether from one that somebody listens at, too: a server that this one replaces, which
    ///   continues to answer those who are connected to it.
    static func listen(_ path: String, takesOver: Bool) throws(Failure) -> Listener {
        let lock = try lock(path)
        defer { flock(lock.number, LOCK_UN) }
        if let status = status(path) {
            guard isSocket(status) else { throw Failure("\(path) exists and is not a socket") }
            guard takesOver || !isServed(path) else {
                throw Failure.served(path)
            }
        }
        // What a killed one has left there is nobody's.
        let temporary = temporary(path)
        if let status = status(temporary) {
            guard isSocket(status), !isServed(temporary) else {
                throw Failure("\(temporary) is in the way; move it away first")
            }
            unsafe unlink(temporary)
        }
        do throws(SystemError) {
            let descriptor = OwnedDescriptor(owning: try LocalSocket.listen(temporary, backlog: 16))
            guard let made = status(temporary) else { throw .last }
            do throws(SystemError) { try uninterrupted { unsafe rename(temporary, path) } } catch {
                unsafe unlink(temporary)
                throw error
            }
            return Listener(descriptor: descriptor, name: Name(path: path, socket: place(made)))
        } catch { throw Failure(path, error) }
    }

    /// What a socket is called before it gets its name.
    static func temporary(_ path: String) -> String { path + ".new" }

    /// Whether somebody listens there, or may do so.
    static func isServed(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = OwnedDescriptor(owning: try LocalSocket.connect(path, patience: seconds))
            return true
        } catch { return error.number != ECONNREFUSED && error.number != ENOENT }
    }

    /// Servers that start or stop at one time do it one after the other.
    private static func lock(_ path: String) throws(Failure) -> OwnedDescriptor {
        do throws(SystemError) { return try FolderLock.acquire(Paths.parent(of: path)) } catch {
            guard error.number == EWOULDBLOCK else { throw Failure(path, error) }
            throw Failure("\(Paths.parent(of: path)) is in use by another process")
        }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    private static func isSocket(_ status: stat) -> Bool { status.st_mode & mode_t(S_IFMT) == mode_t(S_IFSOCK) }

    private static func place(_ status: stat) -> (UInt64, UInt64) { (UInt64(status.st_dev), UInt64(status.st_ino)) }

    static func connect(_ path: String) throws(Failure) -> OwnedDescriptor {
        do throws(SystemError) {
            return OwnedDescriptor(owning: try LocalSocket.connect(path, patience: seconds))
        } catch {
            var failure = Failure(path, error)
            failure.advice = "check that serve runs with this --admin-socket"
            throw failure
        }
    }

    /// Whether the other end is this user's, or root's.
    static func isOwnUser(_ descriptor: Int32) -> Bool {
        LocalSocket.peer(descriptor).map { $0.user == geteuid() || $0.user == 0 } ?? false
    }
}
