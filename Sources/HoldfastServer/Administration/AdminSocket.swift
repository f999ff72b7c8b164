internal import BetterAuthServer
internal import SystemCalls

/// The socket through which an operator on this machine asks the running server.
enum AdminSocket {
    /// Bytes of an answer.
    static let largest = 1 << 20

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

        /// Whether it is that the name is another server's.
        private(set) var isServed = false

        static func served(_ path: String) -> Failure {
            var failure = Failure("\(path): another server listens there")
            failure.isServed = true
            return failure
        }
    }

    /// A socket that listens under a name.
    struct Listener: ~Copyable {
        let descriptor: OwnedDescriptor
        let name: Name
    }

    /// A name in a folder, and which socket it was given to: by now it may be another one's.
    struct Name: Sendable {
        fileprivate let path: String
        fileprivate let socket: stat

        /// Whether it leads to that socket.
        var isOwn: Bool { AdminSocket.status(path)?.isSameFile(as: socket) ?? false }

        /// Removes the name, if it is still of that socket.
        func remove() {
            guard let lock = try? AdminSocket.lock(path) else { return }
            defer { flock(lock.number, LOCK_UN) }
            if isOwn { unsafe unlink(path) }
        }
    }

    /// Binds and listens, with mode 0600. The name is never without a socket: it goes over at once from one that nobody
    /// listens at any more.
    /// - Parameter predecessor: The socket of a server that this one replaces, which continues to answer those who are
    ///   connected to it: its name goes over although it listens.
    static func listen(_ path: String, replacing predecessor: stat? = nil) throws(Failure) -> Listener {
        let lock = try lock(path)
        defer { flock(lock.number, LOCK_UN) }
        if let status = status(path) {
            guard isSocket(status) else { throw Failure("\(path) exists and is not a socket") }
            guard predecessor?.isSameFile(as: status) == true || !LocalSocket.isServed(path) else {
                throw Failure.served(path)
            }
        }
        // What a killed one has left there is nobody's.
        let temporary = temporary(path)
        if let status = status(temporary) {
            guard isSocket(status), !LocalSocket.isServed(temporary) else {
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
            return Listener(descriptor: descriptor, name: Name(path: path, socket: made))
        } catch { throw Failure(path, error) }
    }

    /// What a socket is called before it gets its name.
    static func temporary(_ path: String) -> String { path + ".new" }

    /// The socket of the server that a server over this store replaces; nil when nobody has the name.
    /// - Throws: ``Failure/served(_:)`` when it serves another database, or does not say.
    static func predecessor(_ path: String, over store: any ServerStore) throws -> stat? {
        var (isLeft, silences) = (false, 0)
        while silences < 5 {
            guard let status = status(path), isSocket(status), LocalSocket.isServed(path) else { return nil }
            if !isLeft { isLeft = try DatabaseWord.leave(in: store) }
            guard isLeft else { break }
            // That of a server that starts as well is as good: it was left after the one of here.
            guard let word = try DatabaseWord.last(in: store) else { break }
            // It ends, or is busy with somebody.
            guard let answer = try? ask(path, word.question, patience: 5) else {
                silences += 1
                continue
            }
            if answer == DatabaseWord.found { return status }
            guard answer == DatabaseWord.notFound, try DatabaseWord.last(in: store) != word else { break }
        }
        var failure = Failure.served(path)
        failure.advice = "it does not say that it has the same database; give each server a name of its own"
        throw failure
    }

    /// Whether who listens there serves the database of this store, as a successor does.
    static func isSuccessor(_ path: String, over store: any ServerStore) -> Bool {
        guard let word = try? DatabaseWord.last(in: store) else { return false }
        return (try? ask(path, word.question, patience: 1)) == DatabaseWord.found
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

    /// Asks the server that listens there.
    /// - Parameter patience: Seconds for which it is waited for.
    /// - Returns: One line, without its end.
    static func ask(_ path: String, _ line: String, patience: Int = 30) throws(Failure) -> String {
        let socket: OwnedDescriptor
        do throws(SystemError) {
            socket = OwnedDescriptor(owning: try LocalSocket.connect(path, patience: patience))
        } catch {
            var failure = Failure(path, error)
            failure.advice = "check that serve runs with this --admin-socket"
            throw failure
        }
        guard isOwner(of: path, socket.number) else {
            var failure = Failure("\(path): the program that listens there belongs to another user than its folder")
            failure.advice = "see who it is; keep the socket in a folder that only the server's user may write to"
            throw failure
        }
        let bytes: [UInt8]?
        do throws(SystemError) {
            try unsafe socket.write(Array((line + "\n").utf8).span.bytes)
            bytes = try socket.readAll(limit: largest)
        } catch { throw .ended(error) }
        guard let bytes, bytes.last == UInt8(ascii: "\n") else { throw .ended() }
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    /// Whether who listens may: this user, root, or whose folder it is.
    private static func isOwner(of path: String, _ descriptor: Int32) -> Bool {
        var folder = stat()
        guard !isOwnUser(descriptor) else { return true }
        return unsafe stat(Paths.parent(of: path), &folder) == 0 && LocalSocket.peer(descriptor)?.user == folder.st_uid
    }

    /// Whether the other end is this user's, or root's.
    static func isOwnUser(_ descriptor: Int32) -> Bool {
        LocalSocket.peer(descriptor).map { $0.user == geteuid() || $0.user == 0 } ?? false
    }
}
