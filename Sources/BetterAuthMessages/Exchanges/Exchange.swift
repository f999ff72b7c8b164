/// One exchange of the protocol: a request, and what the response to it holds (protocol.md 4.1).
package protocol Exchange: Sendable {
    /// The payload of the request.
    associatedtype Request: RequestPayload
    /// What stands in `response`.
    associatedtype ResponseBody: MemberValue = EmptyBody
}

/// An exchange with a path of its own; that of an access request is the application's.
package protocol RoutedExchange: Exchange {
    /// Where the request is posted.
    static var path: String { get }
}

/// The payload of a request.
package protocol RequestPayload: MessagePayload {
    /// The client's challenge to the server, which the response repeats.
    var nonce: NonceText { get }
}

/// How far a request has been read: `{"access":{"nonce":"…"},"request":{`, then its members.
struct RequestProgress {
    let nonce: NonceText
    var members: ObjectProgress
    private var payload: ObjectProgress

    init(reading reader: inout MessageReader, _ shape: ObjectShape) throws(MessageError) {
        payload = try reader.open(RequestShapes.payload)
        nonce = try reader.object(RequestShapes.access, in: &payload)
        try reader.member(&payload)
        members = try reader.open(shape)
    }

    func close(_ reader: inout MessageReader) throws(MessageError) {
        try reader.close(members)
        try reader.close(payload)
    }
}

extension RequestPayload {
    /// The nonce, then the values of a request that holds nothing else.
    static func read<each T: MemberValue>(
        _ reader: inout MessageReader, _ shape: ObjectShape
    ) throws(MessageError) -> (NonceText, repeat each T) {
        var request = try RequestProgress(reading: &reader, shape)
        let values = (repeat try (each T)(reading: &reader, &request.members))
        try request.close(&reader)
        return (request.nonce, repeat each values)
    }

    /// A request that holds nothing but values.
    func write<each T: MemberValue>(_ shape: ObjectShape, _ values: repeat each T, to writer: inout MessageWriter) {
        writeHead(&writer)
        writer.object(shape, repeat each values)
        writer.literal("}")
    }

    /// `{"access":{"nonce":"…"},"request":`, up to the request itself.
    func writeHead(_ writer: inout MessageWriter) {
        writer.literal(#"{"access":"#)
        writer.object(RequestShapes.access, nonce)
        writer.literal(#","request":"#)
    }
}

enum RequestShapes {
    static let payload = ObjectShape("payload", ["access", "request"])
    static let access = ObjectShape("payload.access", ["nonce"])
    static let request = ObjectShape("payload.request", ["authentication"])
    static let linkRequest = ObjectShape("payload.request", ["authentication", "link"])
    static let sessionRequest = ObjectShape("payload.request", ["access", "authentication"])
    static let refreshRequest = ObjectShape("payload.request", ["access"])
}
