package import BetterAuthMessages
internal import Gzip

/// Gzip by zlib, for the tokens of Better Auth (protocol.md 6.4).
package struct ZlibTokenCompression: TokenCompression {
    package init() {}

    /// Decompresses one gzip member that is the whole input; output never grows beyond `limit` bytes.
    ///
    /// zlib compares the checksum and the length behind the data (RFC 1952, section 2.3.1).
    /// - Throws: ``TokenCompressionError``.
    package func inflate(_ member: RawSpan, limit: Int) throws(TokenCompressionError) -> [UInt8] {
        do throws(GzipError) { return try Inflater.inflate(member, limit: limit) } catch {
            throw TokenCompressionError(error)
        }
    }

    /// Compresses at level 9, which gives the bytes of the reference implementation where zlib is the same.
    /// - Throws: ``TokenCompressionError/unavailable``.
    package func deflate(_ text: RawSpan) throws(TokenCompressionError) -> [UInt8] {
        do throws(GzipError) { return try Deflater.deflate(text) } catch { throw TokenCompressionError(error) }
    }
}

extension TokenCompressionError {
    fileprivate init(_ error: GzipError) {
        switch error {
        case .damaged, .trailing: self = .damaged
        case .tooLarge: self = .tooLarge
        case .memory, .unavailable: self = .unavailable
        }
    }
}
