internal import SystemCalls

/// The claim of a process on a database file: one server at a time, since challenges are in its memory.
@safe final class SQLiteFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// Claims the file.
    /// - Parameter creates: Whether it is made where it is not there, for its owner alone.
    /// - Throws: ``StoreError/missing(_:)``, and ``StoreError/unavailable(_:)`` when another process has it.
    init(_ path: String, creates: Bool) throws(StoreError) {
        // SQLite locks with fcntl, which knows nothing of flock. This descriptor must nevertheless outlive SQLite's
        // own: closing any descriptor of a file drops fcntl's locks on it.
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0)
        let descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw errno == ENOENT && !creates ? .missing(path) : .unavailable("\(path): \(SystemError.last)")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .unavailable("\(path) is in use by another process")
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        // A process that is being started has a copy of every descriptor for a moment: closing alone would not let go.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
