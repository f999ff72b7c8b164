internal import Holdfast
internal import SystemCalls

/// An error of a system call on a file outside of the vault.
struct SystemFailure: Error {
    let number: Int32
    static var last: SystemFailure { SystemFailure(number: errno) }
}

/// Files between the disk and the vault, piece by piece in locked memory.
enum FileTransfer {
    typealias Progress = @Sendable (_ done: UInt64, _ total: UInt64?) -> Void

    @concurrent
    static func run(
        _ vault: Vault, _ flag: CancelFlag,
        _ work: @Sendable (Vault, CancelFlag, @escaping Progress) throws -> Void, _ progress: @escaping Progress
    ) async -> VaultProblem? {
        do {
            try work(vault, flag, progress)
            return nil
        } catch { return VaultProblem(any: error) }
    }

    static func add(
        _ path: String, to vault: Vault, as id: VaultItem.ID, replacing: Bool, _ flag: CancelFlag,
        _ progress: Progress
    ) throws {
        let file = try Descriptor(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        let total = try file.size()
        var done: UInt64 = 0
        try vault.put(id.name, in: id.collection, replacing: replacing) { span in
            try flag.check()
            let count = try file.read(&span)
            done += UInt64(count)
            progress(done, total)
            return count
        }
    }

    static func save(
        _ id: VaultItem.ID, of vault: Vault, to path: String, _ flag: CancelFlag, _ progress: Progress
    ) throws {
        // Written beside its place and renamed: what is there under the name is whole at every moment.
        let partial = "\(path).\(UInt32.random(in: 0...UInt32.max)).part"
        let file = try Descriptor(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
        var done: UInt64 = 0
        do {
            try vault.read(id.name, in: id.collection) { piece in
                try flag.check()
                try file.write(piece)
                done += UInt64(piece.byteCount)
                progress(done, nil)
            }
            try file.sync()
            guard unsafe rename(partial, path) == 0 else { throw SystemFailure.last }
            // Its name is on the disk as well when it is told to be saved.
            let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            try Descriptor(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC).sync()
        } catch {
            _ = unsafe unlink(partial)
            throw error
        }
    }
}

/// A file descriptor that is closed with its owner.
private struct Descriptor: ~Copyable {
    private let number: Int32

    init(_ path: String, _ flags: Int32) throws(SystemFailure) {
        number = unsafe open(path, flags, 0o600)
        guard number >= 0 else { throw .last }
    }

    deinit { _ = close(number) }

    /// Bytes in it; nil for what is not a regular file.
    func size() throws(SystemFailure) -> UInt64? {
        var info = stat()
        guard unsafe fstat(number, &info) == 0 else { throw .last }
        guard info.st_mode & S_IFMT != S_IFDIR else { throw SystemFailure(number: EISDIR) }
        return info.st_mode & S_IFMT == S_IFREG ? UInt64(max(0, info.st_size)) : nil
    }

    func read(_ span: inout MutableRawSpan) throws(SystemFailure) -> Int {
        while true {
            let number = number
            let count = unsafe span.withUnsafeMutableBytes { unsafe Self.read(number, $0) }
            if count >= 0 { return count }
            guard errno == EINTR else { throw .last }
        }
    }

    func write(_ piece: RawSpan) throws(SystemFailure) {
        var offset = 0
        while offset < piece.byteCount {
            let rest = piece.extracting(offset..<piece.byteCount)
            let number = number
            let count = unsafe rest.withUnsafeBytes { unsafe Self.write(number, $0) }
            if count < 0 {
                guard errno == EINTR else { throw .last }
                continue
            }
            offset += count
        }
    }

    func sync() throws(SystemFailure) {
        guard fsync(number) == 0 else { throw .last }
    }

    private static func read(_ number: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
        unsafe SystemCalls.read(number, bytes.baseAddress, bytes.count)
    }

    private static func write(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        unsafe SystemCalls.write(number, bytes.baseAddress, bytes.count)
    }
}
