internal import SystemCalls

/// The claim of a process on a database file: one server at a time, since challenges may live in its memory.
@safe final class SQLiteFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// Makes the file where it is not there, for its owner alone, and claims it.
    /// - Throws: ``StoreError/unavailable(_:)`` when another process has it.
    init(_ path: String) throws(StoreError) {
        // SQLite locks with fcntl, which knows nothing of flock. This descriptor must nevertheless outlive SQLite's
        // own: closing any descriptor of a file drops fcntl's locks on it.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unavailable("\(path): \(SystemError.last)") }
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
