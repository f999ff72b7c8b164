internal import BetterAuthMessages
internal import CZlib
internal import Synchronization

/// A stream that compresses, used again and again: making one takes memory from the system and gives it back, which is
/// more work than compressing a token.
@safe final class Deflater: @unchecked Sendable {  // one thread's at a time
    /// What a stream is made for. Of the two that compress the output is the same: a short text never reaches the bounds of
    /// the smaller tables, but clearing the larger ones before each text drives everything else out of the processor's cache.
    enum Purpose: Int, CaseIterable {
        case storing, short, any

        /// Bytes of text.
        static let longestShort = 1536

        /// For a text of so many bytes that is to be compressed.
        init(compressing count: Int) { self = count <= Purpose.longestShort ? .short : .any }

        fileprivate var level: Int32 { self == .storing ? Z_NO_COMPRESSION : Z_BEST_COMPRESSION }
        fileprivate var windowBits: Int32 { self == .any ? 15 : 12 }
        fileprivate var memoryLevel: Int32 { self == .any ? 8 : 5 }
    }

    private static let idle = Mutex<[[Deflater]]>(Purpose.allCases.map { _ in [] })
    /// Those for each purpose that are kept; threads beyond it make their own.
    private static let mostIdle = 16

    private let stream: UnsafeMutablePointer<z_stream>
    private let purpose: Purpose

    private init?(_ purpose: Purpose) {
        self.purpose = purpose
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe czlib_deflate_init(
            stream, purpose.level, purpose.windowBits + ZlibTokenCompression.gzip, purpose.memoryLevel)
        // What `deinit` ends was never begun, which zlib answers with an error and nothing else.
        guard status == Z_OK else { return nil }
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// One that nobody else has.
    static func take(for purpose: Purpose) throws(TokenCompressionError) -> Deflater {
        if let known = idle.withLock({ $0[purpose.rawValue].popLast() }) { return known }
        guard let made = Deflater(purpose) else { throw .unavailable }
        return made
    }

    func giveBack() {
        guard unsafe deflateReset(stream) == Z_OK else { return }
        Deflater.idle.withLock { idle in
            if idle[purpose.rawValue].count < Deflater.mostIdle { idle[purpose.rawValue].append(self) }
        }
    }

    /// Bytes that the output has at most. For texts of less than eight bytes that are stored zlib counts one too few.
    func bound(_ count: Int) -> Int { unsafe Int(deflateBound(stream, UInt(count))) + 8 }

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
