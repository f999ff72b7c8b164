internal import Holdfast
internal import SystemCalls

/// A small file that the command line names; no secret.
enum TextFile {
    /// - Throws: A failure when it cannot be read or has more than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(CommandError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw .failure("input", "\(Escaping.sentence(path)) cannot be read: \(Descriptors.words(errno))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count <= limit {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe SystemCalls.read(descriptor, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
            }
            if got == 0 { return Array(bytes[..<count]) }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else {
                throw .failure("input", "\(Escaping.sentence(path)) cannot be read: \(Descriptors.words(errno))")
            }
            count += got
        }
        throw .failure("input", "\(Escaping.sentence(path)) has more than \(limit) bytes")
    }
}
