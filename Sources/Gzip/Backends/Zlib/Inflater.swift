internal import CZlib
internal import Synchronization

/// A stream that decompresses, used again and again, as a ``Deflater``.
@safe package final class Inflater: @unchecked Sendable {  // one thread's at a time
    private static let idle = Mutex<[Inflater]>([])
    /// Those that are kept; threads beyond it make their own.
    private static let mostIdle = 16

    private let stream: UnsafeMutablePointer<z_stream>
    // What zlib gives back in `deinit` is this one's.
    private let memory: LockedBlocks?

    /// - Parameter memory: Where zlib's own memory comes from; nil for the system's.
    init?(windowBits: Int32, memory: LockedBlocks? = nil) {
        self.memory = memory
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        if let memory { unsafe memory.serve(stream) }
        // What `deinit` ends was never begun, which zlib answers with an error and nothing else.
        guard unsafe czlib_inflate_init(stream, windowBits) == Z_OK else { return nil }
    }

    deinit {
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses one gzip member that is the whole input; output never grows beyond `limit` bytes.
    ///
    /// zlib compares the checksum and the length behind the data (RFC 1952, section 2.3.1).
    /// - Throws: ``GzipError``; `damaged` for what follows the member, too.
    package static func inflate(_ member: RawSpan, limit: Int) throws(GzipError) -> [UInt8] {
        guard limit >= 0, limit < Int(UInt32.max), member.byteCount < Int(UInt32.max) else { throw .tooLarge }
        let inflater = try take()
        defer { inflater.giveBack() }
        // One byte more than allowed, so that a full buffer tells too much from just enough.
        return try unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: limit + 1) {
            output throws(GzipError) -> [UInt8] in
            let (written, status) = unsafe member.withUnsafeBytes { source in
                unsafe inflater.begin(source)
                return unsafe inflater.go(Z_FINISH, into: UnsafeMutableRawBufferPointer(output))
            }
            guard written <= limit else { throw .tooLarge }
            guard status == Z_STREAM_END, inflater.rest == 0 else {
                throw status == Z_MEM_ERROR ? .unavailable : .damaged
            }
            return unsafe Array(output[..<written])
        }
    }

    /// A unique one, for gzip.
    private static func take() throws(GzipError) -> Inflater {
        if let known = idle.withLock({ $0.popLast() }) { return known }
        guard let made = Inflater(windowBits: DeflateForm.gzip.windowBits) else { throw .unavailable }
        return made
    }

    private func giveBack() {
        guard unsafe inflateReset(stream) == Z_OK else { return }
        Inflater.idle.withLock { if $0.count < Inflater.mostIdle { $0.append(self) } }
    }

    /// Sets what is read, which stays where it is until the last call of `go`.
    @unsafe func begin(_ source: UnsafeRawBufferPointer) {
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
            mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe stream.pointee.avail_in = UInt32(source.count)
    }

    /// Bytes that were not read.
    var rest: Int { unsafe Int(stream.pointee.avail_in) }

    /// - Returns: Bytes that were written, and zlib's own word.
    @unsafe func go(_ flush: Int32, into output: UnsafeMutableRawBufferPointer) -> (written: Int, status: Int32) {
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(output.count)
        let status = unsafe CZlib.inflate(stream, flush)
        return (unsafe output.count - Int(stream.pointee.avail_out), status)
    }
}
