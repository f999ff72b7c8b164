/// What a new device shows to one that belongs to the account already (protocol.md 4.3). Signed by its own key.
///
/// It has neither nonce nor expiry: anyone who has one can submit it again, so a server must never register a device
/// twice.
package struct LinkContainerPayload: MessagePayload {
    package let authentication: RotationAuthentication

    package init(authentication: RotationAuthentication) { self.authentication = authentication }

    package init(reading reader: inout MessageReader) throws(MessageError) {
        var object = try reader.open(LinkShapes.payload)
        try reader.member(&object)
        authentication = try RotationAuthentication(reading: &reader, LinkShapes.authentication)
        try reader.close(object)
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"authentication":"#)
        authentication.write(to: &writer)
        writer.literal("}")
    }
}

/// A signed ``LinkContainerPayload``: text to copy, or a QR code.
package typealias LinkContainer = SignedMessage<LinkContainerPayload>

/// Another device joins the account. Signed by `authentication.publicKey`, the next key of the device that is in it.
package enum LinkDevice: RoutedExchange {
    package typealias ResponseBody = EmptyBody
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
            let (payload, nonce) = try Self.readHead(&reader)
            self.nonce = nonce
            var request = try reader.open(RequestShapes.linkRequest)
            try reader.member(&request)
            authentication = try RotationAuthentication(reading: &reader)
            try reader.member(&request)
            container = try LinkContainer(reading: &reader, LinkShapes.container)
            try reader.close(request)
            try reader.close(payload)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"authentication":"#)
            authentication.write(to: &writer)
            writer.literal(#","link":"#)
            writer.raw(container.bytes)
            writer.literal("}}")
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
    package typealias ResponseBody = EmptyBody
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
            let (payload, nonce) = try Self.readHead(&reader)
            self.nonce = nonce
            var request = try reader.open(RequestShapes.linkRequest)
            try reader.member(&request)
            authentication = try RotationAuthentication(reading: &reader)
            try reader.member(&request)
            var link = try reader.open(LinkShapes.unlink)
            device = try reader.read(DeviceID.self, &link)
            try reader.close(link)
            try reader.close(request)
            try reader.close(payload)
        }

        package func write(to writer: inout MessageWriter) {
            writeHead(&writer)
            writer.literal(#"{"authentication":"#)
            authentication.write(to: &writer)
            writer.literal(#","link":{"device":"#)
            writer.quoted(device)
            writer.literal("}}}")
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
