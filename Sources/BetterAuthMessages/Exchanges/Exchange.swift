/// One exchange of the protocol: a request, and what the response to it holds (protocol.md 4.1).
package protocol Exchange: Sendable {
    /// The payload of the request.
    associatedtype Request: RequestPayload
    /// What stands in `response`.
    associatedtype ResponseBody: ResponsePart
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

extension RequestPayload {
    /// `{"access":{"nonce":"…"},"request":`, up to the request itself.
    static func readHead(_ reader: inout MessageReader) throws(MessageError) -> (ObjectProgress, NonceText) {
        var payload = try reader.open(RequestShapes.payload)
        try reader.member(&payload)
        var access = try reader.open(RequestShapes.access)
        let nonce = try reader.read(NonceText.self, &access)
        try reader.close(access)
        try reader.member(&payload)
        return (payload, nonce)
    }

    func writeHead(_ writer: inout MessageWriter) {
        writer.literal(#"{"access":{"nonce":"#)
        writer.quoted(nonce)
        writer.literal(#"},"request":"#)
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
