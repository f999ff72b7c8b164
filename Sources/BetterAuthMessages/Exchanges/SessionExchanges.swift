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
            let (payload, nonce) = try Self.readHead(&reader)
            self.nonce = nonce
            var request = try reader.open(RequestShapes.request)
            try reader.member(&request)
            var authentication = try reader.open(SessionShapes.identity)
            identity = try reader.read(IdentityID.self, &authentication)
            try reader.close(authentication)
            try reader.close(request)
            try reader.close(payload)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"authentication":{"identity":"#)
            writer.quoted(identity)
            writer.literal("}}}")
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
            let (payload, nonce) = try Self.readHead(&reader)
            self.nonce = nonce
            var request = try reader.open(RequestShapes.sessionRequest)
            try reader.member(&request)
            var access = try reader.open(SessionShapes.access)
            publicKey = try reader.read(PublicKeyText.self, &access)
            rotationHash = try reader.read(RotationHash.self, &access)
            try reader.close(access)
            try reader.member(&request)
            var authentication = try reader.open(SessionShapes.answer)
            device = try reader.read(DeviceID.self, &authentication)
            challenge = try reader.read(NonceText.self, &authentication)
            try reader.close(authentication)
            try reader.close(request)
            try reader.close(payload)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"access":{"publicKey":"#)
            writer.quoted(publicKey)
            writer.literal(#","rotationHash":"#)
            writer.quoted(rotationHash)
            writer.literal(#"},"authentication":{"device":"#)
            writer.quoted(device)
            writer.literal(#","nonce":"#)
            writer.quoted(challenge)
            writer.literal("}}}")
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
            let (payload, nonce) = try Self.readHead(&reader)
            self.nonce = nonce
            var request = try reader.open(RequestShapes.refreshRequest)
            try reader.member(&request)
            var access = try reader.open(SessionShapes.refresh)
            publicKey = try reader.read(PublicKeyText.self, &access)
            rotationHash = try reader.read(RotationHash.self, &access)
            token = try reader.readToken(&access)
            try reader.close(access)
            try reader.close(request)
            try reader.close(payload)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"access":{"publicKey":"#)
            writer.quoted(publicKey)
            writer.literal(#","rotationHash":"#)
            writer.quoted(rotationHash)
            writer.literal(#","token":"#)
            writer.quoted(token.bytes)
            writer.literal("}}}")
        }
    }
}

enum SessionShapes {
    static let identity = ObjectShape(AuthenticationShapes.place, ["identity"])
    static let answer = ObjectShape(AuthenticationShapes.place, ["device", "nonce"])
    static let access = ObjectShape("payload.request.access", ["publicKey", "rotationHash"])
    static let refresh = ObjectShape("payload.request.access", ["publicKey", "rotationHash", "token"])
}
