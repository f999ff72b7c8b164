internal import SystemCalls

/// Files that processes which were killed while they wrote keys have left beside them: `NAME.PROCESS.NUMBER`. They have keys in
/// them, which must not outlive those of the file.
enum KeyLeftovers {
    /// Seconds after which nobody is writing any more, also one in another container, whose processes are not seen.
    private static let age: Int64 = 60

    static func remove(beside path: String) {
        let folder = Paths.parent(of: path)
        let prefix = (path.split(separator: "/").last.map(String.init) ?? path) + "."
        guard let entries = unsafe opendir(folder) else { return }
        defer { unsafe closedir(entries) }
        while let entry = unsafe readdir(entries) {
            let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            let name = String(decoding: bytes, as: UTF8.self)
            guard name.hasPrefix(prefix) else { continue }
            let parts = name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let process = pid_t(parts[0]), process > 0, UInt64(parts[1]) != nil else {
                continue
            }
            if isLeft("\(folder)/\(name)", by: process) { unsafe unlink("\(folder)/\(name)") }
        }
    }

    private static func isLeft(_ path: String, by process: pid_t) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) else { return false }
        #if canImport(Glibc) && !canImport(Darwin)
        let changed = status.st_mtim.tv_sec
        #else
        let changed = status.st_mtimespec.tv_sec
        #endif
        let isGone = process != getpid() && kill(process, 0) != 0 && errno == ESRCH
        return isGone && WallClock.milliseconds / 1000 - Int64(changed) > age
    }
}
