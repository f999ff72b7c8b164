package import BetterAuthMessages
internal import CZlib
internal import Synchronization

/// Gzip by zlib, for the tokens of Better Auth (protocol, section 6).
package struct ZlibTokenCompression: TokenCompression {
    package init() {}

    // 15 bits of window, and 16 more to say that the stream is gzip and nothing else.
    fileprivate static let gzip: Int32 = 15 + 16

    /// Decompresses one gzip member that is the whole input; output never grows beyond `limit` bytes.
    ///
    /// zlib compares the checksum and the length behind the data (RFC 1952, section 2.3.1).
    /// - Throws: ``TokenCompressionError``.
    package func inflate(_ member: RawSpan, limit: Int) throws(TokenCompressionError) -> [UInt8] {
        guard limit >= 0, limit < Int(UInt32.max), member.byteCount < Int(UInt32.max) else { throw .tooLarge }
        var stream = unsafe z_stream()
        guard unsafe czlib_inflate_init(&stream, ZlibTokenCompression.gzip) == Z_OK else { throw .unavailable }
        defer { unsafe _ = inflateEnd(&stream) }
        // One byte more than allowed, so that a full buffer tells too much from just enough.
        var output = [UInt8](repeating: 0, count: limit + 1)
        let status = unsafe member.withUnsafeBytes { source in
            unsafe output.withUnsafeMutableBytes { target in
                unsafe stream.next_in = UnsafeMutablePointer(
                    mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
                unsafe stream.avail_in = UInt32(source.count)
                unsafe stream.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
                unsafe stream.avail_out = UInt32(target.count)
                return unsafe CZlib.inflate(&stream, Z_FINISH)
            }
        }
        let written = unsafe limit + 1 - Int(stream.avail_out)
        guard written <= limit else { throw .tooLarge }
        guard unsafe status == Z_STREAM_END && stream.avail_in == 0 else {
            throw status == Z_MEM_ERROR ? .unavailable : .damaged
        }
        output.removeLast(output.count - written)
        return output
    }

    /// Compresses at level 9, which gives the bytes of the reference implementation where zlib is the same.
    /// - Throws: ``TokenCompressionError/unavailable``.
    package func deflate(_ text: RawSpan) throws(TokenCompressionError) -> [UInt8] {
        guard text.byteCount < Int(UInt32.max) else { throw .tooLarge }
        let deflater = try Deflater.take()
        defer { deflater.giveBack() }
        let room = deflater.bound(text.byteCount)
        guard room < Int(UInt32.max) else { throw .tooLarge }
        var output = [UInt8](repeating: 0, count: room)
        guard let written = deflater.deflate(text, into: &output) else { throw .unavailable }
        output.removeLast(room - written)
        return output
    }
}

/// A stream that compresses, used again and again: making one takes a quarter of a megabyte from the system and gives it
/// back, which is more work than compressing a token.
@safe private final class Deflater: @unchecked Sendable {  // one thread's at a time
    private static let idle = Mutex<[Deflater]>([])
    /// Those that are kept; threads beyond it make their own.
    private static let mostIdle = 16

    private let stream: UnsafeMutablePointer<z_stream>

    private init?() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe czlib_deflate_init(stream, Z_BEST_COMPRESSION, ZlibTokenCompression.gzip) == Z_OK else {
            // What `deinit` ends was never begun, which zlib answers with an error and nothing else.
            return nil
        }
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
    }

    static func take() throws(TokenCompressionError) -> Deflater {
        if let known = idle.withLock({ $0.popLast() }) { return known }
        guard let made = Deflater() else { throw .unavailable }
        return made
    }

    func giveBack() {
        guard unsafe deflateReset(stream) == Z_OK else { return }
        Deflater.idle.withLock { if $0.count < Deflater.mostIdle { $0.append(self) } }
    }

    func bound(_ count: Int) -> Int { unsafe Int(deflateBound(stream, UInt(count))) }

    /// Bytes that were written; nil when the text did not fit.
    func deflate(_ text: RawSpan, into output: inout [UInt8]) -> Int? {
        let room = output.count
        let status = unsafe text.withUnsafeBytes { source in
            unsafe output.withUnsafeMutableBytes { target in
                unsafe stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
                unsafe stream.pointee.avail_in = UInt32(source.count)
                unsafe stream.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
                unsafe stream.pointee.avail_out = UInt32(target.count)
                return unsafe CZlib.deflate(stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { return nil }
        return unsafe room - Int(stream.pointee.avail_out)
    }
}
