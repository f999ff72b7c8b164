internal import SystemCalls

/// The socket through which an operator on this machine asks the running server.
enum AdminSocket {
    /// Seconds that either side waits for the other.
    private static let seconds = 30

    struct Failure: Error, CustomStringConvertible {
        let description: String
        /// Whether it is the side that asks which failed.
        var asks = false

        init(_ path: String, _ error: SystemError) { description = "\(path): \(error)" }
        init(_ description: String) { self.description = description }
    }

    /// Binds and listens, with mode 0600. A socket that nobody listens at any more is replaced.
    static func listen(_ path: String) throws(Failure) -> OwnedDescriptor {
        var status = stat()
        if unsafe lstat(path, &status) == 0 {
            guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFSOCK) else {
                throw Failure("\(path) exists and is not a socket")
            }
            guard (try? connect(path)) == nil else { throw Failure("\(path): another server listens there") }
            unsafe unlink(path)
        }
        do throws(SystemError) { return OwnedDescriptor(owning: try LocalSocket.listen(path, backlog: 16)) } catch {
            throw Failure(path, error)
        }
    }

    static func connect(_ path: String) throws(Failure) -> OwnedDescriptor {
        do throws(SystemError) {
            return OwnedDescriptor(owning: try LocalSocket.connect(path, patience: seconds))
        } catch {
            var failure = Failure(path, error)
            failure.asks = true
            throw failure
        }
    }

    /// No read or write waits for ever.
    static func limit(_ descriptor: Int32) { LocalSocket.setPatience(descriptor, seconds: seconds) }

    /// Whether the other end is this user's, or root's.
    static func isOwnUser(_ descriptor: Int32) -> Bool {
        LocalSocket.peer(descriptor).map { $0.user == geteuid() || $0.user == 0 } ?? false
    }
}
