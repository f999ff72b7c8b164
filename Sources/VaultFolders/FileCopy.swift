internal import Cryptography
internal import SystemCalls
package import VaultFormat
internal import VaultHeader
package import VaultStorage

/// Copies files with bounded memory and hashes what passes.
package enum FileCopy {
    private static let blockSize = 256 * 1024

    /// Copies one file durably; nil when it is not there.
    /// - Parameters:
    ///   - name: What the copy is called; nil for the same.
    ///   - progress: Called with the bytes copied so far; what it throws ends the copy.
    package static func copy(
        _ path: String, from source: HomeDirectory, to target: HomeDirectory, as name: String? = nil,
        limit: UInt64 = .max, progress: (UInt64) throws(VaultError) -> Void
    ) throws(VaultError) -> BackupManifest.Entry? {
        guard let input = try source.openFile(path, O_RDONLY) else { return nil }
        guard let output = try target.openFile(name ?? path, O_RDWR | O_CREAT | O_EXCL) else {
            throw .damaged("\(path) cannot be created")
        }
        let entry = try pass(input, path, limit: limit) { block, offset throws(VaultError) in
            try output.write(block, at: offset)
            try progress(offset)
        }
        try output.synchronize()
        return entry
    }

    /// Size and BLAKE3 of a file.
    /// - Parameter name: What the entry is called; nil for the same.
    package static func digest(
        _ path: String, in home: HomeDirectory, as name: String? = nil
    ) throws(VaultError) -> BackupManifest.Entry {
        guard let input = try home.openFile(path, O_RDONLY) else { throw .damaged("\(path) is missing") }
        return try pass(input, name ?? path, limit: .max) { _, _ throws(VaultError) in }
    }

    private static func pass(
        _ input: borrowing DurableFile, _ path: String, limit: UInt64,
        _ body: ([UInt8], UInt64) throws(VaultError) -> Void
    ) throws(VaultError) -> BackupManifest.Entry {
        var hasher = BLAKE3()
        var size: UInt64 = 0
        while true {
            let block = try input.read(blockSize, at: Int(size))
            if block.isEmpty { break }
            unsafe hasher.update(block.span.bytes)
            try body(block, size)
            size += UInt64(block.count)
            // One byte too many is enough to know that it is not the file that was written.
            if size > limit { break }
        }
        return BackupManifest.Entry(path: path, size: size, digest: hasher.finalize().bytes)
    }
}

extension BackupManifest {
    /// Reads the list of a backup; nil where a folder is none.
    package static func read(in backup: HomeDirectory) throws(VaultError) -> BackupManifest? {
        guard let file = try backup.openFile(BackupManifest.fileName, O_RDONLY) else { return nil }
        let size = try file.status().size
        guard try size <= largestManifest(of: backup) else {
            throw .damaged("\(BackupManifest.fileName) is too large for the files that are here, or files are missing")
        }
        let bytes = try file.read(Int(size), at: 0)
        return try format(fileName, BackupManifest(parsing: bytes, checksum: HeaderFile.checksum))
    }

    /// A manifest names each file once, so what lies there bounds it.
    private static func largestManifest(of backup: HomeDirectory) throws(VaultError) -> UInt64 {
        guard try backup.openFolder(FileStore.folder) != nil else { return BackupManifest.largestSize(files: 0) }
        return BackupManifest.largestSize(files: try backup.names(in: FileStore.folder).count(where: FileStore.isName))
    }
}
