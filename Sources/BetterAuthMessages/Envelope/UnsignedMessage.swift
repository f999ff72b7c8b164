/// A payload that is not signed: `{"payload":…}`. Only the request for a session is one (protocol.md 3.1).
package struct UnsignedMessage<Payload: MessagePayload>: Sendable, Hashable {
    package let payload: Payload

    /// Wraps a payload.
    package init(_ payload: Payload) { self.payload = payload }

    /// Reads a message.
    /// - Parameter limit: Bytes; more are refused before anything is read.
    /// - Throws: ``MessageError``, which names the member.
    package init(parsing bytes: RawSpan, limit: Int = MessageLimits.message) throws(MessageError) {
        var reader = try MessageReader(copying: bytes, limit: limit, "message")
        var object = try reader.open(Envelope.unsignedShape)
        try reader.member(&object)
        payload = try Payload(reading: &reader)
        try reader.close(object)
        try reader.expectEnd("message")
    }

    /// Reads a message.
    /// - Throws: ``MessageError``, which names the member.
    package init(parsing bytes: [UInt8], limit: Int = MessageLimits.message) throws(MessageError) {
        try unsafe self.init(parsing: bytes.span.bytes, limit: limit)
    }

    /// The message as it is sent.
    package var bytes: [UInt8] {
        var writer = MessageWriter()
        writer.literal(Envelope.start)
        payload.write(to: &writer)
        writer.literal("}")
        return writer.bytes
    }
}
