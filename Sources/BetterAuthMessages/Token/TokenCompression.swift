/// Gzip for tokens. This target has no compressor: a library does it, in a target of its own.
package protocol TokenCompression: Sendable {
    /// Decompresses one gzip member (RFC 1952) that is the whole input.
    ///
    /// - Parameter limit: Bytes of output. An implementation stops there and never holds more.
    /// - Throws: ``TokenCompressionError``; `damaged` when the checksum or the length behind the data differs, when the
    ///   data ends early, and when anything follows the member.
    func inflate(_ member: RawSpan, limit: Int) throws(TokenCompressionError) -> [UInt8]

    /// Makes one gzip member, without name and time.
    /// - Throws: ``TokenCompressionError/unavailable``.
    func deflate(_ text: RawSpan) throws(TokenCompressionError) -> [UInt8]
}

/// Why the compressed part of a token was not taken.
package enum TokenCompressionError: Error, Sendable, Hashable {
    /// Not one whole gzip member.
    case damaged
    /// The output would be larger than allowed.
    case tooLarge
    /// The library failed: no memory.
    case unavailable
}

/// The front and the end of a gzip member (RFC 1952, section 2.3), which are judged before anything is decompressed.
enum GzipMember {
    /// Header and trailer.
    static let smallest = 18

    /// Refuses what is no gzip member at all, and what says of itself that it is too large.
    static func check(_ member: [UInt8], limit: Int) throws(TokenCompressionError) {
        // No optional fields: tokens do not use them, and the signature does not cover them.
        guard member.count >= smallest, member.starts(with: [0x1F, 0x8B, 8, 0]) else { throw .damaged }
        guard size(member) <= limit else { throw .tooLarge }
    }

    /// The length of the output, as the member says.
    static func size(_ member: [UInt8]) -> Int {
        member.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
