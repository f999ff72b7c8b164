internal import Holdfast
internal import SystemCalls

/// The file beside the home that a receipt is also written to. Made before anything is erased, so that a place that
/// cannot be written is found in time; taken away again when nothing was written.
final class ReceiptCopy {
    private let path: String
    private let descriptor: Int32
    private var isWritten = false

    /// - Throws: A usage error for a place in the vault's own folder; a failure where no new file can be made.
    init(_ path: String, home: Vault) throws(CommandError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard !home.contains(folder: folder) else {
            throw .usage("--receipt names a file in the vault's own folder, where a receipt is always left")
        }
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .failure(.output, "\(path): \(SystemError.last); nothing was erased")
        }
        self.path = path
    }

    func write(_ receipt: WipeReceipt) throws(CommandError) {
        do throws(CommandError) {
            try receipt.bytes.withRawSpan { bytes throws(CommandError) in
                try Descriptors.write(bytes, to: descriptor)
            }
        } catch { throw .failure(.output, "\(error.what); the vault is destroyed, its receipt is in its folder") }
        fsync(descriptor)
        isWritten = true
    }

    deinit {
        close(descriptor)
        if !isWritten { unsafe unlink(path) }
    }
}
