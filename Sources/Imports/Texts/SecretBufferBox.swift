internal import Gzip
internal import SecretMemory

/// Bytes in locked memory, shared by reference while they grow.
final class SecretBufferBox {
    private var buffer: SecretBuffer

    init(limit: Int) { buffer = SecretBuffer(limit: limit) }

    init(_ buffer: consuming SecretBuffer) { self.buffer = buffer }

    var count: Int { buffer.count }

    func append(_ byte: UInt8) throws(ImportError) {
        do throws(SecretMemoryError) { try buffer.append(byte) } catch { throw ImportError(error) }
    }

    func append(_ bytes: RawSpan) throws(ImportError) {
        do throws(SecretMemoryError) { try buffer.append(bytes) } catch { throw ImportError(error) }
    }

    /// Appends what a compressed stream stands for, which is all of `bytes`.
    /// - Parameter place: What is said to be wrong otherwise.
    func append(inflating bytes: RawSpan, _ form: DeflateForm, _ place: String = "") throws(ImportError) {
        do throws(GzipError) { try buffer.append(inflating: bytes, form) } catch {
            switch error {
            case .damaged: throw .malformed(place, "the compressed content is damaged or cut off")
            case .trailing: throw .malformed(place, "something follows the compressed content")
            case .tooLarge: throw ImportError(SecretMemoryError.invalidSize(buffer.limit))
            case .memory(let error): throw ImportError(error)
            case .unavailable:
                throw ImportError(.outOfMemory, place, "there is no locked memory to decompress in")
            }
        }
    }

    func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try buffer.withBytes(body)
    }

    func bytes() throws(ImportError) -> SecretBytes {
        do throws(SecretMemoryError) { return try buffer.bytes() } catch { throw ImportError(error) }
    }
}

/// Gzip (RFC 1952), one member.
enum GzipFile {
    static func expand(_ bytes: RawSpan, limit: Int = ImportLimits.expanded) throws(ImportError) -> SecretBufferBox {
        let content = SecretBufferBox(limit: limit)
        try content.append(inflating: bytes, .gzip)
        return content
    }
}

extension RawSpan {
    /// 32 bits, little-endian; outside is our own mistake and traps.
    func word(_ offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32(8 * $1) }
    }

    /// 16 bits, little-endian.
    func half(_ offset: Int) -> Int { Int(self[offset]) | Int(self[offset + 1]) << 8 }
}
