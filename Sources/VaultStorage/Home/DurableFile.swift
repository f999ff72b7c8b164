internal import Cryptography
internal import SystemCalls

/// One open file: whole reads and writes at an offset, and a flush that reaches the disk.
package struct DurableFile: ~Copyable, Sendable {
    package let descriptor: Int32
    let name: String

    package init(owning descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    deinit { close(descriptor) }

    /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
    package func read(_ count: Int, at offset: Int) throws(VaultError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = try system("reading \(name)") {
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe pread(descriptor, buffer.baseAddress! + done, count - done, off_t(offset + done))
                }
            }
            if got == 0 { break }
            done += got
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Reads into `bytes`, filling it unless the file ends.
    /// - Returns: The number of bytes read.
    package func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(VaultError) -> Int {
        try unsafe bytes.withUnsafeMutableBytes { buffer throws(VaultError) in
            var done = 0
            while done < buffer.count {
                let got = try system("reading \(name)") {
                    unsafe pread(
                        descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
                }
                if got == 0 { break }
                done += got
            }
            return done
        }
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: RawSpan, at offset: UInt64) throws(VaultError) {
        try unsafe bytes.withUnsafeBytes { buffer throws(VaultError) in
            var done = 0
            while done < buffer.count {
                done += try system("writing \(name)") {
                    unsafe pwrite(
                        descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
                }
            }
        }
    }

    package func write(_ bytes: [UInt8], at offset: UInt64) throws(VaultError) {
        try unsafe write(bytes.span.bytes, at: offset)
    }

    /// Takes away what lies behind `size`.
    package func truncate(to size: UInt64) throws(VaultError) {
        try system("shortening \(name)") { ftruncate(descriptor, off_t(size)) }
    }

    /// Returns when the contents are on the disk.
    package func synchronize() throws(VaultError) {
        #if os(Linux) && !canImport(Darwin)
        try system("synchronizing \(name)") { fdatasync(descriptor) }
        #else
        try system("synchronizing \(name)") { fcntl(descriptor, F_FULLFSYNC) }
        #endif
    }

    /// Size in bytes and the inode's identity.
    package func status() throws(VaultError) -> FileStatus {
        var status = stat()
        try system("examining \(name)") { unsafe fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// The number of names that the file has.
    package func links() throws(VaultError) -> UInt64 {
        var status = stat()
        try system("examining \(name)") { unsafe fstat(descriptor, &status) }
        return UInt64(status.st_nlink)
    }

    /// Waits for the file's `flock`, but not for ever: a holder that was stopped would stop everybody.
    /// - Throws: `busy` with this reason.
    package func lock(exclusive: Bool, patience: Int = 30_000, orBusy reason: String) throws(VaultError) {
        var waited = 0
        var pause = 1
        while try !tryLock(exclusive: exclusive) {
            guard waited < patience else { throw VaultError(.busy, reason) }
            usleep(UInt32(pause) * 1000)
            waited += pause
            pause = min(pause * 2, 8)
        }
    }

    func unlock() { flock(descriptor, LOCK_UN) }

    /// Takes the file's `flock`, exclusive or shared; false when another holds it.
    package func tryLock(exclusive: Bool) throws(VaultError) -> Bool {
        while flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return false
            case let number: throw .system(number, "locking \(name)")
            }
        }
        return true
    }
}

/// A file's lock, held until the object goes.
package final class FileLock: Sendable {
    private let file: DurableFile
    init(_ file: consuming DurableFile) { self.file = file }
}

/// What `fstat` tells that we use.
package struct FileStatus: Hashable {
    package let size: UInt64
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) {
        size = UInt64(status.st_size)
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// Whether both name the same file.
    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// What the small files of a home are checked by for damage; it proves nothing about who wrote them.
package enum FileChecksum {
    package static func of(_ bytes: RawSpan) -> [UInt8] { BLAKE3.hash(bytes).bytes }
}
