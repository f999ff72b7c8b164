/// What stands before every message: bytes of the body (32 bits, little-endian), version, kind.
package struct Frame: Sendable, Hashable {
    /// The version that this program speaks. There is no other yet.
    package static let version: UInt8 = 1
    /// Bytes of the frame itself.
    package static let size = 6
    /// Bytes of a piece of a value.
    package static let longestPiece = 65_536
    /// Bytes of a body that is no piece of a value.
    package static let longestBody = 65_536
    /// Bytes of a request's body that is no piece of a value: names, and a secret of at most 1,024 bytes.
    package static let longestRequest = 4096

    /// Requests with what an app server is asked, with a token, with a key.
    private static let withMuch = [
        IdentityCall.Kind.identity.rawValue, ProgramRequest.Kind.credential.rawValue,
        ProgramRequest.Kind.importSSH.rawValue,
    ]

    /// Which message it is.
    package let kind: UInt8
    /// Bytes that follow.
    package let bodySize: Int

    /// Reads the six bytes; limits are checked by ``expectRequest()`` and ``expectReply()``.
    /// - Throws: `truncated`, `otherVersion`.
    package init(parsing bytes: RawSpan) throws(MessageError) {
        var cursor = Cursor(bytes)
        let count = try cursor.integer(bytes, UInt32.self)
        let version = try cursor.integer(bytes, UInt8.self)
        kind = try cursor.integer(bytes, UInt8.self)
        guard version == Frame.version else { throw .otherVersion(version) }
        try cursor.expectEnd()
        bodySize = Int(count)
    }

    /// The six bytes of a message.
    package static func bytes(kind: UInt8, bodySize: Int) -> [UInt8] {
        var writer = Writer()
        writer.integer(UInt32(clamping: bodySize))
        writer.integer(version)
        writer.integer(kind)
        return writer.bytes
    }

    /// Makes sure that this begins a request of an allowed length, before memory is set aside for it.
    /// - Throws: `unknownKind`, `tooLong`.
    package func expectRequest() throws(MessageError) {
        guard Request.numbers.contains(kind) else { throw .unknownKind(kind) }
        let most =
            if kind == TransferRequest.Kind.data.rawValue {
                Frame.longestPiece
            } else {
                Frame.withMuch.contains(kind) ? Frame.longestBody : Frame.longestRequest
            }
        guard bodySize <= most else { throw .tooLong(bodySize) }
    }

    /// As ``expectRequest()``, for an answer.
    /// - Throws: `unknownKind`, `tooLong`.
    package func expectReply() throws(MessageError) {
        guard Reply.Kind(rawValue: kind) != nil else { throw .unknownKind(kind) }
        guard bodySize <= max(Frame.longestBody, Frame.longestPiece) else { throw .tooLong(bodySize) }
    }
}
