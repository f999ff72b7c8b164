import Foundation

/// A file that is written and flushed with nothing around it: what a promise to be on the disk costs here.
final class RawFile {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError("no file at \(path)") }
    }

    /// A folder, to be flushed.
    init(folder path: String) throws {
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BenchmarkError("no folder at \(path)") }
    }

    deinit { close(descriptor) }

    /// Writes without a flush.
    func write(_ bytes: [UInt8], at offset: Int = 0) throws {
        guard unsafe pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else {
            throw BenchmarkError("a raw file cannot be written")
        }
    }

    func flush() throws {
        guard fdatasync(descriptor) == 0 else { throw BenchmarkError("a raw file cannot be flushed") }
    }
}
