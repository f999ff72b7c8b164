/// The server's challenge for a session. The request is an ``UnsignedMessage``.
package enum RequestSession: RoutedExchange {
    package typealias ResponseBody = ChallengeBody
    package static let path = "/session/request"

    package struct Request: RequestPayload {
        package let nonce: NonceText
        package let identity: IdentityID

        package init(nonce: NonceText, identity: IdentityID) {
            self.nonce = nonce
            self.identity = identity
        }

        package init(reading reader: inout MessageReader) throws(MessageError) {
            var request = try RequestProgress(reading: &reader, RequestShapes.request)
            nonce = request.nonce
            identity = try reader.object(SessionShapes.identity, in: &request.members)
            try request.close(&reader)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"authentication":"#)
            writer.object(SessionShapes.identity, identity)
            writer.literal("}}")
        }
    }
}

/// A session opens: the device answers the challenge. Signed by the device's *current* key, which the server has.
package enum CreateSession: RoutedExchange {
    package typealias ResponseBody = TokenBody
    package static let path = "/session/create"

    package struct Request: RequestPayload {
        package let nonce: NonceText
        /// The first key of the session's chain.
        package let publicKey: PublicKeyText
        /// Commits to the key after it.
        package let rotationHash: RotationHash
        package let device: DeviceID
        /// The challenge that is answered; it names the identity.
        package let challenge: NonceText

        package init(
            nonce: NonceText, publicKey: PublicKeyText, rotationHash: RotationHash, device: DeviceID,
            challenge: NonceText
        ) {
            self.nonce = nonce
            self.publicKey = publicKey
            self.rotationHash = rotationHash
            self.device = device
            self.challenge = challenge
        }

        package init(reading reader: inout MessageReader) throws(MessageError) {
            var request = try RequestProgress(reading: &reader, RequestShapes.sessionRequest)
            nonce = request.nonce
            (publicKey, rotationHash) = try reader.object(SessionShapes.access, in: &request.members)
            (device, challenge) = try reader.object(SessionShapes.answer, in: &request.members)
            try request.close(&reader)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"access":"#)
            writer.object(SessionShapes.access, publicKey, rotationHash)
            writer.literal(#","authentication":"#)
            writer.object(SessionShapes.answer, device, challenge)
            writer.literal("}}")
        }
    }
}

/// A session continues with its next key. Signed by `publicKey`, that key.
package enum RefreshSession: RoutedExchange {
    package typealias ResponseBody = TokenBody
    package static let path = "/session/refresh"

    package struct Request: RequestPayload {
        package let nonce: NonceText
        package let publicKey: PublicKeyText
        package let rotationHash: RotationHash
        /// The session's token so far.
        package let token: TokenText

        package init(nonce: NonceText, publicKey: PublicKeyText, rotationHash: RotationHash, token: TokenText) {
            self.nonce = nonce
            self.publicKey = publicKey
            self.rotationHash = rotationHash
            self.token = token
        }

        package init(reading reader: inout MessageReader) throws(MessageError) {
            var request = try RequestProgress(reading: &reader, RequestShapes.refreshRequest)
            nonce = request.nonce
            (publicKey, rotationHash, token) = try reader.object(SessionShapes.refresh, in: &request.members)
            try request.close(&reader)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"access":"#)
            writer.object(SessionShapes.refresh, publicKey, rotationHash, token)
            writer.literal("}}")
        }
    }
}

enum SessionShapes {
    static let identity = ObjectShape(AuthenticationShapes.place, ["identity"])
    static let answer = ObjectShape(AuthenticationShapes.place, ["device", "nonce"])
    static let access = ObjectShape("payload.request.access", ["publicKey", "rotationHash"])
    static let refresh = ObjectShape("payload.request.access", ["publicKey", "rotationHash", "token"])
}
