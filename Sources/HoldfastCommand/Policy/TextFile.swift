internal import Holdfast
internal import SystemCalls

/// A small file that the command line names; no secret.
enum TextFile {
    /// - Throws: A failure when it cannot be read or has more than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(CommandError) -> [UInt8] {
        do throws(SystemError) {
            if let bytes = try OwnedDescriptor(path, O_RDONLY | O_NOCTTY).readAll(limit: limit) { return bytes }
        } catch { throw .failure(.input, "\(Escaping.sentence(path)) cannot be read: \(error)") }
        throw .failure(.input, "\(Escaping.sentence(path)) has more than \(limit) bytes")
    }
}
