internal import Holdfast
internal import SystemCalls

/// A file with secrets: mode 0600, without a name until it is complete, in memory unless a disk is allowed.
final class ResultFile {
    private static let unnamed: Int32 = 0o20_200_000  // O_TMPFILE, which does not import

    private let folder: Int32
    private let descriptor: Int32
    private let name: String
    private let path: String
    private let replaces: Bool

    /// - Throws: A usage error for a folder on a disk; a failure when no file can be made or one is there already.
    init(_ path: String, allowsDisk: Bool, replaces: Bool) throws(CommandError) {
        let shown = Escaping.name(path)
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        self.path = shown
        self.replaces = replaces
        guard !name.isEmpty, name != ".", name != ".." else { throw .usage("--out \(shown) does not name a file") }
        folder = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            descriptor = -1
            throw .failure(.output, "\(Escaping.name(parent)): \(SystemError.last)")
        }
        guard allowsDisk || MemoryFiles.contains(folder) else {
            descriptor = -1
            throw .usage("--out \(shown) is on a disk; choose a folder in memory ($XDG_RUNTIME_DIR), or add --on-disk")
        }
        descriptor = unsafe openat(folder, ".", ResultFile.unnamed | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failure(.output, "\(shown): \(SystemError.last)") }
        var status = stat()
        if !replaces, unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
            throw .failure(.output, "\(shown) exists; --replace replaces it")
        }
    }

    func write(_ bytes: RawSpan) throws(CommandError) {
        do throws(CommandError) { try Descriptors.write(bytes, to: descriptor) } catch {
            throw .failure(.output, "\(path): \(error.what); no file was left")
        }
    }

    /// Gives it its name.
    func finish() throws(CommandError) {
        guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else {
            throw .failure(.output, "\(path): \(SystemError.last)")
        }
        // Between two names, the first one could be left.
        try HeldSignals.during { () throws(CommandError) in try giveName() }
        fsync(folder)
    }

    private func giveName() throws(CommandError) {
        let own = "/proc/self/fd/\(descriptor)"
        let first = ".\(name.utf8.count < 200 ? name : "result").holdfast-"
        let target = replaces ? "\(first)\(getpid())" : name
        if replaces { removeLeftovers(first) }
        guard unsafe linkat(AT_FDCWD, own, folder, target, AT_SYMLINK_FOLLOW) == 0 else {
            throw .failure(
                .output, errno == EEXIST ? "\(path) exists; --replace replaces it" : "\(path): \(SystemError.last)")
        }
        if replaces, unsafe renameat(folder, target, folder, name) != 0 {
            let problem = SystemError.last
            unsafe unlinkat(folder, target, 0)
            throw .failure(.output, "\(path): \(problem)")
        }
    }

    /// The first names that commands left which were killed, behind them the number of their process.
    private func removeLeftovers(_ first: String) {
        for left in Folder.names("/proc/self/fd/\(folder)") where left.utf8.starts(with: first.utf8) {
            guard let process = pid_t(left.dropFirst(first.count)), process > 0 else { continue }
            let isRunning = process != getpid() && (kill(process, 0) == 0 || errno != ESRCH)
            if !isRunning { unsafe unlinkat(folder, left, 0) }
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if folder >= 0 { close(folder) }
    }
}
