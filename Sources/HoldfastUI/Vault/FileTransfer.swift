internal import Holdfast
internal import SystemCalls

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
        let file = try OwnedDescriptor(path, O_RDONLY | O_NOCTTY)
        let total = try size(of: file)
        var done: UInt64 = 0
        try vault.put(id.name, in: id.collection, replacing: replacing) { span in
            try flag.check()
            let count = try file.read(into: &span)
            done += UInt64(count)
            progress(done, total)
            return count
        }
    }

    static func save(
        _ id: VaultItem.ID, of vault: Vault, to path: String, _ flag: CancelFlag, _ progress: Progress
    ) throws {
        var done: UInt64 = 0
        try write(to: path) { write in
            try vault.read(id.name, in: id.collection) { piece in
                try flag.check()
                try write(piece)
                done += UInt64(piece.byteCount)
                progress(done, nil)
            }
        }
    }

    /// Writes what lies in locked memory, piece by piece, so that it can be stopped.
    static func save(_ content: RawSpan, to path: String, _ flag: CancelFlag, _ progress: Progress) throws {
        try write(to: path) { write in
            var done = 0
            while done < content.byteCount {
                try flag.check()
                let end = min(content.byteCount, done + (64 << 10))
                try write(content.extracting(done..<end))
                done = end
                progress(UInt64(done), UInt64(content.byteCount))
            }
        }
    }

    /// Reads a whole file into locked memory; of what is no regular file nothing, because a pipe could wait for ever.
    static func content(of path: String, limit: Int) throws -> SecretBytes {
        let file = try OwnedDescriptor(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
        }
        var buffer = SecretBuffer(limit: limit)
        var piece = try SecretBytes(zeroed: 64 << 10)
        while true {
            let got = try piece.withMutableBytes { bytes throws(SystemError) in try file.read(into: &bytes) }
            do throws(SecretMemoryError) {
                if got == 0 { return try buffer.bytes() }
                try piece.withBytes { bytes throws(SecretMemoryError) in try buffer.append(bytes.extracting(0..<got)) }
            } catch {
                if case .invalidSize = error { throw VaultError(.tooLarge, "the file is larger than an item may be") }
                throw error
            }
        }
    }

    /// Writes a file beside its place and renames it: what is there under the name is whole at every moment.
    static func write(to path: String, _ content: ((RawSpan) throws -> Void) throws -> Void) throws {
        let partial = "\(path).\(UInt32.random(in: 0...UInt32.max)).part"
        let file = try OwnedDescriptor(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        do {
            try content { piece in try file.write(piece) }
            try file.synchronize()
            // Its name is on the disk as well when it is told to be saved.
            try renameDurably(partial, to: path)
        } catch {
            _ = unsafe unlink(partial)
            throw error
        }
    }

    /// Bytes in it; nil for what is not a regular file.
    private static func size(of file: borrowing OwnedDescriptor) throws(SystemError) -> UInt64? {
        let info = try file.status()
        guard info.st_mode & S_IFMT != S_IFDIR else { throw SystemError(EISDIR) }
        return info.st_mode & S_IFMT == S_IFREG ? UInt64(max(0, info.st_size)) : nil
    }
}
