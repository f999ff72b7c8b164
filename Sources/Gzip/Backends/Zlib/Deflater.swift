internal import CZlib
internal import Synchronization

/// A stream that compresses, used again and again: making one takes memory from the system and gives it back, which is
/// more work than compressing a token.
@safe package final class Deflater: @unchecked Sendable {  // one thread's at a time
    /// What a stream is made for. The output is the same: a short text never reaches the bounds of the smaller tables,
    /// but clearing the larger ones before each text drives everything else out of the processor's cache.
    private enum Size: Int, CaseIterable {
        case short, any

        /// Bytes of text.
        static let longestShort = 1536

        var windowBits: Int32 { self == .short ? 12 : 15 }
        var memoryLevel: Int32 { self == .short ? 5 : 8 }
    }

    private static let idle = Mutex<[[Deflater]]>(Size.allCases.map { _ in [] })
    /// Those of each size that are kept; threads beyond it make their own.
    private static let mostIdle = 16

    private let stream: UnsafeMutablePointer<z_stream>
    private let size: Size

    private init?(_ size: Size) {
        self.size = size
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 16 more for a stream that is gzip.
        let status = unsafe czlib_deflate_init(
            stream, Z_BEST_COMPRESSION, size.windowBits + 16, size.memoryLevel)
        // What `deinit` ends was never begun, which zlib answers with an error and nothing else.
        guard status == Z_OK else { return nil }
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Makes one gzip member, without name and time, at level 9.
    /// - Throws: ``GzipError/unavailable``; `tooLarge` from 4 GiB on.
    package static func deflate(_ text: RawSpan) throws(GzipError) -> [UInt8] {
        guard text.byteCount < Int(UInt32.max) else { throw .tooLarge }
        let deflater = try take(for: text.byteCount)
        defer { deflater.giveBack() }
        let room = deflater.bound(text.byteCount)
        guard room < Int(UInt32.max) else { throw .tooLarge }
        var output = [UInt8](repeating: 0, count: room)
        guard let written = deflater.deflate(text, into: &output) else { throw .unavailable }
        output.removeLast(room - written)
        return output
    }

    /// A unique one.
    /// - Parameter count: Bytes of the text.
    private static func take(for count: Int) throws(GzipError) -> Deflater {
        let size: Size = count <= Size.longestShort ? .short : .any
        if let known = idle.withLock({ $0[size.rawValue].popLast() }) { return known }
        guard let made = Deflater(size) else { throw .unavailable }
        return made
    }

    private func giveBack() {
        guard unsafe deflateReset(stream) == Z_OK else { return }
        Deflater.idle.withLock { if $0[size.rawValue].count < Deflater.mostIdle { $0[size.rawValue].append(self) } }
    }

    /// Bytes that the output has at most.
    private func bound(_ count: Int) -> Int { unsafe Int(deflateBound(stream, UInt(count))) }

    /// Bytes that were written; nil when the text did not fit.
    private func deflate(_ text: RawSpan, into output: inout [UInt8]) -> Int? {
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
