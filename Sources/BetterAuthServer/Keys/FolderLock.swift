package import SystemCalls

/// A folder that one process at a time changes.
package enum FolderLock {
    /// Seconds that a process waits for another one.
    private static let patience = 5.0

    /// Takes the lock, which is let go with the descriptor.
    /// - Parameter waits: Whether to wait a while for a process that has it.
    /// - Throws: `EWOULDBLOCK` when another process has it and does not let go.
    package static func acquire(_ path: String, waits: Bool = true) throws(SystemError) -> OwnedDescriptor {
        let folder = try OwnedDescriptor(path, O_RDONLY | O_DIRECTORY)
        let end = MonotonicClock.seconds + (waits ? patience : 0)
        while true {
            do throws(SystemError) {
                try uninterrupted { flock(folder.number, LOCK_EX | LOCK_NB) }
                return folder
            } catch {
                guard error.number == EWOULDBLOCK, MonotonicClock.seconds < end else { throw error }
                usleep(20_000)
            }
        }
    }
}
