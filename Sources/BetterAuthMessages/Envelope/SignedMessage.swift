/// A payload and the signature over its bytes: `{"payload":…,"signature":"…"}` (protocol.md 3.1).
///
/// A received message keeps the bytes it came as, and a verifier takes those: writing the payload anew is what makes
/// the published peers disagree. Nothing here verifies; a message that was parsed is well-formed, not authentic.
package struct SignedMessage<Payload: MessagePayload>: Sendable, Hashable {
    package let payload: Payload
    package let signature: SignatureText
    /// The whole message as it is sent.
    package let bytes: [UInt8]
    private let payloadRange: Range<Int>

    /// Signs a payload.
    /// - Parameter sign: Takes the bytes that the signature covers.
    /// - Throws: What `sign` throws.
    package init<E: Error>(_ payload: Payload, sign: (RawSpan) throws(E) -> SignatureText) throws(E) {
        var writer = MessageWriter()
        writer.literal("{\"")
        writer.literal(Payload.envelope.names[0])
        writer.literal("\":")
        let start = writer.bytes.count
        payload.write(to: &writer)
        let range = start..<writer.bytes.count
        let signature = try unsafe sign(writer.bytes.span.bytes.extracting(range))
        writer.literal(Envelope.signature)
        writer.quoted(signature)
        writer.literal("}")
        self.init(payload, signature, writer.bytes, range)
    }

    /// Joins a payload and the signature that was made over its bytes.
    package init(_ payload: Payload, signature: SignatureText) {
        self.init(payload) { _ in signature }
    }

    private init(_ payload: Payload, _ signature: SignatureText, _ bytes: [UInt8], _ range: Range<Int>) {
        self.payload = payload
        self.signature = signature
        self.bytes = bytes
        payloadRange = range
    }

    /// Reads a message.
    /// - Parameter limit: Bytes; more are refused before anything is read.
    /// - Throws: ``MessageError``, which names the member.
    package init(parsing bytes: RawSpan, limit: Int = MessageLimits.message) throws(MessageError) {
        var reader = try MessageReader(copying: bytes, limit: limit, "message")
        let parts = try Self.parts(&reader, Payload.envelope)
        try reader.expectEnd("message")
        self.init(parts.payload, parts.signature, reader.bytes, parts.range)
    }

    /// Reads a message.
    /// - Throws: ``MessageError``, which names the member.
    package init(parsing bytes: [UInt8], limit: Int = MessageLimits.message) throws(MessageError) {
        try unsafe self.init(parsing: bytes.span.bytes, limit: limit)
    }

    /// Reads a message that stands inside another one.
    init(reading reader: inout MessageReader, _ shape: ObjectShape) throws(MessageError) {
        let start = reader.position
        let parts = try Self.parts(&reader, shape)
        self.init(
            parts.payload, parts.signature, Array(reader.bytes[start..<reader.position]),
            parts.range.lowerBound - start..<parts.range.upperBound - start)
    }

    private static func parts(
        _ reader: inout MessageReader, _ shape: ObjectShape
    ) throws(MessageError) -> (payload: Payload, signature: SignatureText, range: Range<Int>) {
        var object = try reader.open(shape)
        try reader.member(&object)
        let start = reader.position
        let payload = try Payload(reading: &reader)
        let range = start..<reader.position
        let signature = try SignatureText(reading: &reader, &object)
        try reader.close(object)
        return (payload, signature, range)
    }

    /// Lends what the signature covers: the bytes of the payload as they came.
    package func withSignedBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(bytes.span.bytes.extracting(payloadRange))
    }
}

enum Envelope {
    static let start: StaticString = #"{"payload":"#
    static let signature: StaticString = #","signature":"#
    static let shape = ObjectShape("", ["payload", "signature"])
    static let unsignedShape = ObjectShape("", ["payload"])
}

/// The signed part of one kind of message.
package protocol MessagePayload: Sendable, Hashable {
    /// The member that holds the payload, and the signature after it.
    static var envelope: ObjectShape { get }
    /// Reads the payload from its opening to its closing brace.
    init(reading reader: inout MessageReader) throws(MessageError)
    /// Writes the payload's one spelling.
    func write(to writer: inout MessageWriter)
}

extension MessagePayload {
    package static var envelope: ObjectShape { Envelope.shape }

    /// The payload's one spelling: what is to be signed.
    package var encoded: [UInt8] {
        var writer = MessageWriter()
        write(to: &writer)
        return writer.bytes
    }
}

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

/// What comes back from a server: the signed response to an operation, or its word that there is none.
///
/// The HTTP status does not tell the two apart; the body does (protocol.md 9.4).
package enum Reply<Kind: Exchange>: Sendable, Hashable {
    /// Still to be verified with the key of `payload.serverIdentity`, and its nonce compared.
    case response(SignedMessage<Response<Kind>>)
    case failure(ServerFailure)

    /// Reads a body.
    /// - Throws: ``MessageError`` when it is neither.
    package init(parsing bytes: RawSpan) throws(MessageError) {
        do throws(MessageError) {
            self = .response(try SignedMessage(parsing: bytes))
        } catch {
            guard error.reason != .tooLarge, let failure = ServerFailure(parsing: bytes) else { throw error }
            self = .failure(failure)
        }
    }

    /// Reads a body.
    /// - Throws: ``MessageError`` when it is neither.
    package init(parsing bytes: [UInt8]) throws(MessageError) {
        try unsafe self.init(parsing: bytes.span.bytes)
    }
}
