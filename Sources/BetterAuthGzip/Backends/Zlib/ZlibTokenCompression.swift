package import BetterAuthMessages
internal import CZlib
internal import Synchronization

/// Gzip by zlib, for the tokens of Better Auth (protocol.md 6.4).
package struct ZlibTokenCompression: TokenCompression {
    package init() {}

    // More bits of window to say that the stream is gzip and nothing else.
    static let gzip: Int32 = 16

    /// Decompresses one gzip member that is the whole input; output never grows beyond `limit` bytes.
    ///
    /// zlib compares the checksum and the length behind the data (RFC 1952, section 2.3.1).
    /// - Throws: ``TokenCompressionError``.
    package func inflate(_ member: RawSpan, limit: Int) throws(TokenCompressionError) -> [UInt8] {
        guard limit >= 0, limit < Int(UInt32.max), member.byteCount < Int(UInt32.max) else { throw .tooLarge }
        let inflater = try Inflater.take()
        defer { inflater.giveBack() }
        // One byte more than allowed, so that a full buffer tells too much from just enough.
        return try unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: limit + 1) {
            output throws(TokenCompressionError) -> [UInt8] in
            let result = unsafe inflater.inflate(member, into: UnsafeMutableRawBufferPointer(output))
            guard result.written <= limit else { throw .tooLarge }
            guard result.isWhole else { throw result.status == Z_MEM_ERROR ? .unavailable : .damaged }
            return unsafe Array(output[..<result.written])
        }
    }

    /// Compresses at level 9, which gives the bytes of the reference implementation where zlib is the same.
    /// - Throws: ``TokenCompressionError/unavailable``.
    package func deflate(_ text: RawSpan) throws(TokenCompressionError) -> [UInt8] {
        guard text.byteCount < Int(UInt32.max) else { throw .tooLarge }
        let deflater = try Deflater.take(for: text.byteCount)
        defer { deflater.giveBack() }
        let room = deflater.bound(text.byteCount)
        guard room < Int(UInt32.max) else { throw .tooLarge }
        var output = [UInt8](repeating: 0, count: room)
        guard let written = deflater.deflate(text, into: &output) else { throw .unavailable }
        output.removeLast(room - written)
        return output
    }
}
