/// The application's own exchange, at a path of its own. Signed by the session's current key, which the token names.
///
/// Path, method and host are not signed: where they matter, the application puts them into the body.
package enum Access: Exchange {
    package typealias ResponseBody = ApplicationData

    package struct Request: RequestPayload {
        /// Also the key against replay; to be reserved for as long as `timestamp` can be valid.
        package let nonce: NonceText
        package let timestamp: Timestamp
        package let token: TokenText
        package let body: ApplicationData

        package init(nonce: NonceText, timestamp: Timestamp, token: TokenText, body: ApplicationData) {
            self.nonce = nonce
            self.timestamp = timestamp
            self.token = token
            self.body = body
        }

        package init(reading reader: inout MessageReader) throws(MessageError) {
            var payload = try reader.open(RequestShapes.payload)
            (nonce, timestamp, token) = try reader.object(AccessShapes.access, in: &payload)
            body = try reader.read(&payload)
            try reader.close(payload)
        }

        package func write(to writer: inout MessageWriter) {
            writer.literal(#"{"access":"#)
            writer.object(AccessShapes.access, nonce, timestamp, token)
            writer.literal(#","request":"#)
            body.write(to: &writer)
            writer.literal("}")
        }

        /// Judges the age of the request (protocol.md 7.13, steps 7 and 8).
        ///
        /// - Parameters:
        ///   - window: Milliseconds; a request is valid for so long, the last one included.
        ///   - tolerance: Milliseconds that the client's clock may be ahead. The nonce must then be reserved for
        ///     `window` and `tolerance` together.
        /// - Throws: ``ProtocolError/staleRequest(timestamp:now:window:)`` (BA501) or
        ///   ``ProtocolError/futureRequest(timestamp:now:)`` (BA502).
        package func checkAge(now: Timestamp, window: Int64 = 30_000, tolerance: Int64 = 0) throws(ProtocolError) {
            let age = now.milliseconds - timestamp.milliseconds
            guard age <= window else { throw .staleRequest(timestamp: timestamp, now: now, window: window) }
            guard age >= -tolerance else { throw .futureRequest(timestamp: timestamp, now: now) }
        }
    }
}

enum AccessShapes {
    static let access = ObjectShape("payload.access", ["nonce", "timestamp", "token"])
}
