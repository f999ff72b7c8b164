internal import BetterAuthServer
internal import CommandLineArguments
internal import Synchronization
internal import SystemCalls

/// A folder of things that are not whole yet, beside the place that they are for. Whatever ends the process, nothing of
/// it is where it is looked for; what a killed one has left, the next one with the same place removes.
final class UnfinishedFolder: Sendable {
    let path: String
    private let lock: OwnedDescriptor
    private let isOver = Mutex(false)

    /// Makes it. A signal that asks the process to stop ends it with nothing left.
    /// - Parameter recover: Called with the folder that a killed process has left, before its contents are removed.
    /// - Throws: ``UsageError``, also while another process has it.
    init(_ path: String, recover: (String) -> Void = { _ in }) throws(UsageError) {
        Signals.hold()
        let isNew = unsafe mkdir(path, 0o700) == 0
        var status = stat()
        guard isNew || errno == EEXIST, unsafe lstat(path, &status) == 0 else {
            throw UsageError("\(Paths.parent(of: path)): \(SystemError.last)", mayPass: true)
        }
        guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR), status.st_uid == geteuid() else {
            throw UsageError("\(path) is in the way; move it away first")
        }
        do throws(SystemError) { lock = try FolderLock.acquire(path, waits: false) } catch {
            guard error.number == EWOULDBLOCK else { throw UsageError("\(path): \(error)", mayPass: true) }
            throw UsageError("\(path): another process is at it", mayPass: true)
        }
        self.path = path
        if !isNew {
            recover(path)
            UnfinishedFolder.empty(path)
        }
        _ = DetachedThread.start { [self] in stopWhenAsked() }
    }

    /// Does what makes it whole, as one step for signals.
    func finish<Failure: Error>(_ body: (String) throws(Failure) -> Void) throws(Failure) {
        try isOver.withLock { isOver throws(Failure) in
            try body(path)
            isOver = true
        }
    }

    /// Removes what is left of it.
    func remove() {
        // When a signal ends it, the work may make another file meanwhile.
        for _ in 0..<1000 {
            UnfinishedFolder.empty(path)
            if unsafe rmdir(path) == 0 || errno == ENOENT { return }
        }
    }

    private func stopWhenAsked() {
        while !Signals.stops(within: 3600) {}
        isOver.withLock { isOver in
            guard !isOver else { return }
            remove()
            ServerOutput.complain("holdfast-server: stopped; nothing was left\n")
            _exit(ServerExit.failure.rawValue)
        }
    }

    /// It has files only.
    private static func empty(_ path: String) {
        guard let entries = unsafe opendir(path) else { return }
        defer { unsafe closedir(entries) }
        while let entry = unsafe readdir(entries) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            unsafe unlink("\(path)/\(String(decoding: name, as: UTF8.self))")
        }
    }
}
