internal import BetterAuthMessages
internal import CZlib
internal import Synchronization

/// A stream that decompresses, used again and again, as a ``Deflater``.
@safe final class Inflater: @unchecked Sendable {  // one thread's at a time
    private static let idle = Mutex<[Inflater]>([])
    /// Those that are kept; threads beyond it make their own.
    private static let mostIdle = 16

    private let stream: UnsafeMutablePointer<z_stream>

    private init?() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // What `deinit` ends was never begun, which zlib answers with an error and nothing else.
        guard unsafe czlib_inflate_init(stream, 15 + ZlibTokenCompression.gzip) == Z_OK else { return nil }
    }

    deinit {
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// A unique one.
    static func take() throws(TokenCompressionError) -> Inflater {
        if let known = idle.withLock({ $0.popLast() }) { return known }
        guard let made = Inflater() else { throw .unavailable }
        return made
    }

    func giveBack() {
        guard unsafe inflateReset(stream) == Z_OK else { return }
        Inflater.idle.withLock { if $0.count < Inflater.mostIdle { $0.append(self) } }
    }

    /// - Returns: Bytes that were written, whether that was one whole member and nothing behind it, and zlib's own word.
    @unsafe func inflate(
        _ member: RawSpan, into output: UnsafeMutableRawBufferPointer
    ) -> (written: Int, isWhole: Bool, status: Int32) {
        let status = unsafe member.withUnsafeBytes { source in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(
                mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
            unsafe stream.pointee.avail_in = UInt32(source.count)
            unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe stream.pointee.avail_out = UInt32(output.count)
            return unsafe CZlib.inflate(stream, Z_FINISH)
        }
        let written = unsafe output.count - Int(stream.pointee.avail_out)
        return (written, unsafe status == Z_STREAM_END && stream.pointee.avail_in == 0, status)
    }
}
