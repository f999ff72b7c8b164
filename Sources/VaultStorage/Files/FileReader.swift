internal import Cryptography
internal import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// Decrypts a file of `files/` chunk by chunk; each is handed out only after its tag was right.
package final class FileReader: KeyHolder, @unchecked Sendable {  // used inside the gate, by one thread at a time
    private let file: DurableFile
    /// Gone when the vault was locked on the way.
    private var cipher: AES256GCM?
    private let length: UInt64
    private var chunk: SecretBytes
    private var sealed = [UInt8](repeating: 0, count: FileFormat.chunkSize + FileFormat.tagSize)

    /// - Parameters:
    ///   - content: The content of the record: id, length and key.
    ///   - Throws: `damaged` when the file is missing, is no file of ours or has the wrong size.
    package init(_ content: RawSpan, in home: HomeDirectory, keys: EpochKeys) throws(VaultError) {
        let descriptor: FileDescriptor
        do throws(FormatError) { descriptor = try FileDescriptor(parsing: content) } catch { throw .damagedRecord }
        guard let file = try home.openFile(FileStore.path(descriptor.fileName), O_RDONLY) else {
            throw .damaged("the file of a record is missing")
        }
        guard try file.status().size == FileFormat.sizeOnDisk(length: descriptor.length) else {
            throw .damaged("the file of a record has the wrong size")
        }
        guard try file.read(FileFormat.magic.count, at: 0) == FileFormat.magic else {
            throw .damaged("the file of a record is not an encrypted file")
        }
        let contentKey = try keys.contentKey(fileKey: content.extracting(FileDescriptor.keyRange), id: descriptor.id)
        cipher = try crypto(AES256GCM(key: contentKey))
        chunk = try secretMemory(SecretBytes(zeroed: FileFormat.chunkSize))
        self.file = file
        length = descriptor.length
    }

    package func dropKeys() { cipher = nil }

    /// Lends each chunk in order, decrypted by a step of the gate and handed out outside of it: a slow consumer does
    /// not keep the vault from being locked. What was lent before an error is genuine, but not all there is.
    package func forEachChunk(_ gate: any StreamGate, _ body: (RawSpan) throws -> Void) throws {
        defer { gate.unregister(self) }
        for number in 0..<chunks { try lendChunk(number, gate, body) }
    }

    /// How many there are; at least one, which is empty for an empty file.
    package var chunks: UInt64 { FileFormat.chunks(length: length) }

    /// As ``forEachChunk(_:_:)``, for one of them.
    package func lendChunk<R>(_ number: UInt64, _ gate: any StreamGate, _ body: (RawSpan) throws -> R) throws -> R {
        let before = number * UInt64(FileFormat.chunkSize)
        let count = Int(min(UInt64(FileFormat.chunkSize), length - min(before, length)))
        try gate.step(of: self) { () throws(VaultError) in try open(number, count: count, isLast: number == chunks - 1)
        }
        return try chunk.withBytes { try body($0.extracting(0..<count)) }
    }

    /// Reads and checks everything, within one operation; ends early when the vault is being locked.
    package func checkAll(_ gate: any StreamGate) throws(VaultError) {
        let chunks = FileFormat.chunks(length: length)
        var left = length
        for number in 0..<chunks {
            let count = Int(min(UInt64(FileFormat.chunkSize), left))
            try gate.checkOpen()
            try open(number, count: count, isLast: number == chunks - 1)
            left -= UInt64(count)
        }
    }

    private func open(_ number: UInt64, count: Int, isLast: Bool) throws(VaultError) {
        switch cipher {
        case .some: break
        case .none: throw .locked
        }
        let size = count + FileFormat.tagSize
        let offset = UInt64(FileFormat.magic.count) + number * UInt64(FileFormat.chunkSize + FileFormat.tagSize)
        let got = try sealed.withMutableRawSpan { sealed throws(VaultError) in
            try sealed.withPart(0..<size) { part throws(VaultError) in try file.read(into: &part, at: offset) }
        }
        guard got == size else { throw .damaged("the file of a record ends early") }
        var nonce = [UInt8](repeating: 0, count: 12)
        nonce.withMutableRawSpan { FileFormat.writeNonce(chunk: number, isLast: isLast, into: &$0) }
        do throws(CryptographyError) {
            let empty: [UInt8] = []
            try chunk.withMutableBytes { chunk throws(CryptographyError) in
                try chunk.withPart(0..<count) { output throws(CryptographyError) in
                    try sealed.withRawSpan { sealed throws(CryptographyError) in
                        try unsafe cipher?.open(
                            sealed.extracting(0..<size), nonce: nonce.span.bytes,
                            authenticating: empty.span.bytes, into: &output)
                    }
                }
            }
        } catch .authenticationFailed {
            throw .damaged("the file of a record was changed")
        } catch { throw VaultError(error) }
    }
}

/// Something that holds a key between operations and gives it up when the vault is locked.
package protocol KeyHolder: AnyObject, Sendable {
    /// Called when the vault is being locked, after every operation that used the keys.
    func dropKeys()
}

/// Lets the steps of a stream in while the vault is unlocked.
package protocol StreamGate: AnyObject, Sendable {
    /// Ends a long operation early once the vault is being locked.
    /// - Throws: `locked`.
    func checkOpen() throws(VaultError)

    /// Runs one step of a stream.
    /// - Throws: `locked`, and what `body` throws.
    func step<R: ~Copyable>(of stream: any KeyHolder, _ body: () throws(VaultError) -> R) throws(VaultError) -> R

    /// The stream has ended; locking need not take its keys any more.
    func unregister(_ stream: any KeyHolder)
}
