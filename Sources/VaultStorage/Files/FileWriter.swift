internal import Cryptography
package import SecretMemory
internal import VaultFormat
internal import SystemCalls

/// Names of the folder that holds large values.
package enum FileStore {
    package static let folder = "files"
    static let partPrefix = ".part-"

    /// Whether a name is one that a record can have; anything else in the folder is not ours or not finished.
    package static func isName(_ name: String) -> Bool { Hexadecimal.decode(name)?.count == 16 }

    /// Whether a name is one that writing a record gives, if only for a while.
    package static func isOwn(_ name: String) -> Bool { isName(name) || name.hasPrefix(partPrefix) }

    package static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Removes files that no record names any more. While a backup copies the folder they stay, and `verify` finds
    /// them.
    package static func remove(_ names: [String], in home: HomeDirectory) {
        guard !names.isEmpty, let folder = try? home.openFolder(folder),
            (try? folder.tryLock(exclusive: true)) == true
        else { return }
        for name in names { home.remove(path(name)) }
    }
}

/// Encrypts a stream of unknown length into `files/`, one 64 KiB chunk in memory at a time.
///
/// The file has a temporary name until ``finish()``. Its `flock` is held until the writer goes, so that a clean-up can
/// tell a file in the making from a leftover.
package final class FileWriter: KeyHolder, @unchecked Sendable {  // used inside the gate, by one thread at a time
    private let home: HomeDirectory
    private let file: DurableFile
    private let id: [UInt8]
    /// The file's own key, which the record will hold.
    private let fileKey: SecretBytes
    /// Gone when the vault was locked on the way.
    private var cipher: AES256GCM?
    private var chunk: SecretBytes
    private var filled = 0
    private var chunkNumber: UInt64 = 0
    private var length: UInt64 = 0
    private var sealed = [UInt8](repeating: 0, count: FileFormat.chunkSize + FileFormat.tagSize)
    private var isFinished = false

    package init(in home: HomeDirectory, keys: EpochKeys) throws(VaultError) {
        self.home = home
        id = try crypto(SecureRandom.bytes(16))
        fileKey = try crypto(SecureRandom.secret(32))
        let contentKey = try FileWriter.contentKey(fileKey, id, keys)
        cipher = try crypto(AES256GCM(key: contentKey))
        chunk = try secretMemory(SecretBytes(zeroed: FileFormat.chunkSize))
        let name = FileStore.path(FileStore.partPrefix + Hexadecimal.encode(id))
        guard let file = try home.openFile(name, O_RDWR | O_CREAT | O_EXCL) else {
            throw .damaged("the files folder is missing")
        }
        self.file = file
        // All is set from here on, so that an error takes the file away again.
        guard try self.file.tryLock(exclusive: true) else {
            throw VaultError(.busy, "the new file is held by another process")
        }
        try self.file.write(FileFormat.magic, at: 0)
    }

    private static func contentKey(
        _ fileKey: borrowing SecretBytes, _ id: [UInt8], _ keys: EpochKeys
    ) throws(VaultError) -> SecretBytes {
        try fileKey.withBytes { key throws(VaultError) in try keys.contentKey(fileKey: key, id: id) }
    }

    package func dropKeys() { cipher = nil }

    deinit {
        if !isFinished { home.remove(FileStore.path(FileStore.partPrefix + Hexadecimal.encode(id))) }
    }

    /// Adds bytes. A full chunk is written only when more follows: the last one is sealed differently.
    package func append(_ bytes: RawSpan) throws(VaultError) {
        var position = 0
        while position < bytes.byteCount {
            if filled == FileFormat.chunkSize { try flush(isLast: false) }
            let count = min(FileFormat.chunkSize - filled, bytes.byteCount - position)
            let start = filled
            chunk.withMutableBytes { chunk in
                unsafe chunk.withUnsafeMutableBytes { chunk in
                    unsafe bytes.extracting(position..<position + count).withUnsafeBytes { source in
                        unsafe UnsafeMutableRawBufferPointer(rebasing: chunk[start..<start + count])
                            .copyMemory(from: source)
                    }
                }
            }
            filled += count
            position += count
        }
    }

    /// Seals the last chunk, makes file and name durable, and gives the content of the record that will name it.
    package func finish() throws(VaultError) -> SecretBytes {
        try flush(isLast: true)
        try file.synchronize()
        let name = Hexadecimal.encode(id)
        try home.rename(FileStore.path(FileStore.partPrefix + name), to: FileStore.path(name))
        isFinished = true
        try home.synchronize(FileStore.folder)
        var content = try secretMemory(SecretBytes(zeroed: FileDescriptor.size))
        let descriptor = FileDescriptor(id: id, length: length)
        content.withMutableBytes { content in
            descriptor.write(into: &content)
            fileKey.withBytes { content.store(copying: $0, at: FileDescriptor.keyRange.lowerBound) }
        }
        return content
    }

    /// Name of the finished file.
    package var name: String { Hexadecimal.encode(id) }

    private func flush(isLast: Bool) throws(VaultError) {
        switch cipher {
        case .some: break
        case .none: throw .locked
        }
        var nonceBytes = [UInt8](repeating: 0, count: 12)
        nonceBytes.withMutableRawSpan { FileFormat.writeNonce(chunk: chunkNumber, isLast: isLast, into: &$0) }
        let count = filled
        let size = count + FileFormat.tagSize
        do throws(CryptographyError) {
            guard let nonce = unsafe Nonce96(copying: nonceBytes.span.bytes) else { throw .invalidSize }
            let empty: [UInt8] = []
            try sealed.withMutableRawSpan { sealed throws(CryptographyError) in
                try sealed.withPart(0..<size) { output throws(CryptographyError) in
                    try chunk.withBytes { chunk throws(CryptographyError) in
                        try unsafe cipher?.seal(
                            chunk.extracting(0..<count), empty.span.bytes, nonce: nonce,
                            authenticating: empty.span.bytes, into: &output)
                    }
                }
            }
        } catch { throw VaultError(error) }
        let stride = UInt64(FileFormat.chunkSize + FileFormat.tagSize)
        let offset = UInt64(FileFormat.magic.count) + chunkNumber * stride
        try sealed.withRawSpan { sealed throws(VaultError) in
            try file.write(sealed.extracting(0..<size), at: offset)
        }
        length += UInt64(count)
        chunkNumber += 1
        filled = 0
    }
}
