/// What a new device shows to one that belongs to the account already (protocol.md 4.3). Signed by its own key.
///
/// It has neither nonce nor expiry: anyone who has one can submit it again, so a server must never register a device
/// twice.
package struct LinkContainerPayload: MessagePayload {
    package let authentication: RotationAuthentication

    package init(authentication: RotationAuthentication) { self.authentication = authentication }

    package init(reading reader: inout MessageReader) throws(MessageError) {
        var object = try reader.open(LinkShapes.payload)
        authentication = try RotationAuthentication(reading: &reader, &object, LinkShapes.authentication)
        try reader.close(object)
    }

    package func write(to writer: inout MessageWriter) {
        writer.object(LinkShapes.payload, authentication)
    }
}

/// A signed ``LinkContainerPayload``: text to copy, or a QR code.
package typealias LinkContainer = SignedMessage<LinkContainerPayload>

extension LinkContainer: MemberValue {
    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        try reader.member(&object)
        try self.init(reading: &reader, LinkShapes.container)
    }

    package func write(to writer: inout MessageWriter) { writer.raw(bytes) }
}

/// Another device joins the account. Signed by `authentication.publicKey`, the next key of the device that is in it.
package enum LinkDevice: RoutedExchange {
    package static let path = "/device/link"

    package struct Request: RequestPayload {
        package let nonce: NonceText
        package let authentication: RotationAuthentication
        /// The new device's own words, with the bytes that its signature covers.
        package let container: LinkContainer

        package init(nonce: NonceText, authentication: RotationAuthentication, container: LinkContainer) {
            self.nonce = nonce
            self.authentication = authentication
            self.container = container
        }

        package init(reading reader: inout MessageReader) throws(MessageError) {
            (nonce, authentication, container) = try Self.read(&reader, RequestShapes.linkRequest)
        }

        package func write(to writer: inout MessageWriter) {
            write(RequestShapes.linkRequest, authentication, container, to: &writer)
        }

        /// Compares the identity of the container with that of the request.
        /// - Throws: ``ProtocolError/mismatchedIdentities(container:request:)`` (BA302).
        package func checkIdentities() throws(ProtocolError) {
            let linked = container.payload.authentication.identity
            guard linked == authentication.identity else {
                throw .mismatchedIdentities(container: linked, request: authentication.identity)
            }
        }
    }
}

/// A device leaves the account. Signed by `authentication.publicKey`, the next key of the device that says so.
package enum UnlinkDevice: RoutedExchange {
    package static let path = "/device/unlink"

    package struct Request: RequestPayload {
        package let nonce: NonceText
        package let authentication: RotationAuthentication
        /// The device that leaves; it may be the one that signs.
        package let device: DeviceID

        package init(nonce: NonceText, authentication: RotationAuthentication, device: DeviceID) {
            self.nonce = nonce
            self.authentication = authentication
            self.device = device
        }

        package init(reading reader: inout MessageReader) throws(MessageError) {
            var request = try RequestProgress(reading: &reader, RequestShapes.linkRequest)
            nonce = request.nonce
            authentication = try reader.read(&request.members)
            device = try reader.object(LinkShapes.unlink, in: &request.members)
            try request.close(&reader)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"authentication":"#)
            authentication.write(to: &writer)
            writer.literal(#","link":"#)
            writer.object(LinkShapes.unlink, device)
            writer.literal("}}")
        }
    }
}

enum LinkShapes {
    static let container = ObjectShape("payload.request.link", ["payload", "signature"])
    static let unlink = ObjectShape("payload.request.link", ["device"])
    static let payload = ObjectShape("link.payload", ["authentication"])
    static let authentication = ObjectShape(
        "link.payload.authentication", ["device", "identity", "publicKey", "rotationHash"])
}
