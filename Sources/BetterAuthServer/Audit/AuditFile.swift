package import SystemCalls

extension AuditLog {
    /// Why a file that is there is not written to; nil when it can be.
    package static func refusal(of status: stat, _ path: String) -> Failure? {
        guard status.st_mode & S_IFMT == S_IFREG else { return Failure(path, "it is no ordinary file") }
        // What others may write proves nothing.
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            return Failure(path, "it belongs to another user, or others may write it")
        }
        return nil
    }
}

/// The file that lines are added to. Several processes of one user on one machine may share it: each adds whole lines
/// while it has the file's lock.
struct AuditFile: ~Copyable {
    /// Milliseconds for which the lock is waited for: a process adds its lines and lets go.
    private static let patience = 2000
    private static let tail = 8192

    private let file: OwnedDescriptor

    /// Opens or makes it.
    /// - Throws: ``SystemError``, ``AuditLog/Failure``.
    init(_ path: String) throws {
        // O_RDWR: a pipe does not make it wait.
        let file = try OwnedDescriptor(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW)
        let status = try file.status()
        if let refusal = AuditLog.refusal(of: status, path) { throw refusal }
        try OwnedDescriptor(Paths.parent(of: path), O_RDONLY | O_DIRECTORY).synchronize()
        self.file = file
    }

    /// Adds lines, and returns when they are on the disk.
    /// - Parameters:
    ///   - chain: Advanced by what makes the lines.
    ///   - lines: Given the file's last whole line.
    /// - Throws: ``SystemError``: the lines are not there, unless taking them away failed too. Also what `lines`
    ///   throws.
    borrowing func append(
        _ chain: inout AuditChain, _ lines: (_ last: AuditLine?, inout AuditChain) throws -> [UInt8]
    ) throws {
        try lock()
        let (start, end): (Int, Int)
        do {
            defer { flock(file.number, LOCK_UN) }
            let status = try file.status()
            // Somebody took the file away: nobody would find the lines.
            guard status.st_nlink > 0 else { throw SystemError(ENOENT) }
            start = Int(status.st_size)
            let tail = try lastBytes(of: start)
            // A process that was killed, or a full disk, left a part of a line: it stays, as a line that proves
            // nothing.
            let isWhole = tail.isEmpty || tail.last == 0x0A
            let bytes = (isWhole ? [] : [0x0A]) + (try lines(AuditFile.lastLine(tail), &chain))
            end = start + bytes.count
            do throws(SystemError) { try unsafe file.write(bytes.span.bytes) } catch {
                ftruncate(file.number, off_t(start))
                throw error
            }
        }
        do throws(SystemError) { try file.synchronize() } catch {
            withdraw(start..<end)
            throw error
        }
    }

    /// Takes lines away that may not have reached the disk, unless another process has added its own since.
    private borrowing func withdraw(_ range: Range<Int>) {
        guard (try? lock()) != nil else { return }
        defer { flock(file.number, LOCK_UN) }
        guard let status = try? file.status(), Int(status.st_size) == range.upperBound else { return }
        ftruncate(file.number, off_t(range.lowerBound))
    }

    private borrowing func lock() throws(SystemError) {
        for _ in 0..<AuditFile.patience {
            if flock(file.number, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .last }
            usleep(1000)
        }
        throw SystemError(EWOULDBLOCK)
    }

    private borrowing func lastBytes(of size: Int) throws(SystemError) -> [UInt8] {
        let count = min(size, AuditFile.tail)
        var bytes = [UInt8](repeating: 0, count: count)
        let number = file.number
        let got = try uninterrupted {
            unsafe bytes.withUnsafeMutableBytes { unsafe pread(number, $0.baseAddress, count, off_t(size - count)) }
        }
        return Array(bytes[..<got])
    }

    /// The last line that is one.
    private static func lastLine(_ tail: [UInt8]) -> AuditLine? {
        var end = tail.endIndex
        while end > tail.startIndex {
            let start = tail[..<end].lastIndex(of: 0x0A).map { $0 + 1 } ?? tail.startIndex
            if let line = AuditLine(tail[start..<end]) { return line }
            guard start > tail.startIndex else { return nil }
            end = start - 1
        }
        return nil
    }
}
