/// What an access token says (protocol.md 6.2).
public struct AccessClaims: Sendable, Hashable {
    /// The server's access key, which signs the token.
    package let serverIdentity: PublicKeyText
    /// The device that opened the session.
    public let device: DeviceID
    /// The account that it belongs to.
    public let identity: IdentityID
    /// The session's current key, which signs access requests.
    public let publicKey: PublicKeyText
    /// Commits to the session's next key, which signs the refresh.
    package let rotationHash: RotationHash
    /// When the token was made.
    package let issuedAt: Timestamp
    /// The last moment for access.
    public let expiry: Timestamp
    /// The last moment for a refresh; refreshes carry it over unchanged.
    public let refreshExpiry: Timestamp
    /// What the auth server says of the account; JSON of the deployment.
    public let attributes: ApplicationData

    package init(
        serverIdentity: PublicKeyText, device: DeviceID, identity: IdentityID, publicKey: PublicKeyText,
        rotationHash: RotationHash, issuedAt: Timestamp, expiry: Timestamp, refreshExpiry: Timestamp,
        attributes: ApplicationData
    ) {
        self.serverIdentity = serverIdentity
        self.device = device
        self.identity = identity
        self.publicKey = publicKey
        self.rotationHash = rotationHash
        self.issuedAt = issuedAt
        self.expiry = expiry
        self.refreshExpiry = refreshExpiry
        self.attributes = attributes
    }

    static let shape = ObjectShape(
        "token",
        [
            "serverIdentity", "device", "identity", "publicKey", "rotationHash", "issuedAt", "expiry", "refreshExpiry",
            "attributes",
        ])

    init(reading reader: inout MessageReader) throws(MessageError) {
        var object = try reader.open(AccessClaims.shape)
        serverIdentity = try reader.read(PublicKeyText.self, &object)
        device = try reader.read(DeviceID.self, &object)
        identity = try reader.read(IdentityID.self, &object)
        publicKey = try reader.read(PublicKeyText.self, &object)
        rotationHash = try reader.read(RotationHash.self, &object)
        issuedAt = try reader.readTime(&object)
        expiry = try reader.readTime(&object)
        refreshExpiry = try reader.readTime(&object)
        attributes = try reader.readApplicationData(&object)
        try reader.close(object)
    }

    /// The text that is signed and compressed.
    package var encoded: [UInt8] {
        var writer = MessageWriter()
        writer.literal(#"{"serverIdentity":"#)
        writer.quoted(serverIdentity)
        writer.literal(#","device":"#)
        writer.quoted(device)
        writer.literal(#","identity":"#)
        writer.quoted(identity)
        writer.literal(#","publicKey":"#)
        writer.quoted(publicKey)
        writer.literal(#","rotationHash":"#)
        writer.quoted(rotationHash)
        writer.literal(#","issuedAt":"#)
        writer.quoted(issuedAt)
        writer.literal(#","expiry":"#)
        writer.quoted(expiry)
        writer.literal(#","refreshExpiry":"#)
        writer.quoted(refreshExpiry)
        writer.literal(#","attributes":"#)
        writer.raw(attributes.bytes)
        writer.literal("}")
        return writer.bytes
    }
}

extension AccessClaims {
    /// Judges a token that is used for access.
    /// - Parameter tolerance: Milliseconds that the issuer's clock may be ahead. It never lengthens the token's life.
    /// - Throws: ``ProtocolError/futureToken(issuedAt:now:)`` (BA403) or
    ///   ``ProtocolError/expiredToken(_:expiry:now:)`` (BA401).
    package func checkAccess(now: Timestamp, tolerance: Int64 = 0) throws(ProtocolError) {
        guard issuedAt.milliseconds - now.milliseconds <= tolerance else {
            throw .futureToken(issuedAt: issuedAt, now: now)
        }
        guard now <= expiry else { throw .expiredToken(.access, expiry: expiry, now: now) }
    }

    /// Judges a token that is refreshed; that it can no longer be used for access does not matter.
    /// - Throws: ``ProtocolError/expiredToken(_:expiry:now:)`` (BA401).
    package func checkRefresh(now: Timestamp) throws(ProtocolError) {
        guard now <= refreshExpiry else { throw .expiredToken(.refresh, expiry: refreshExpiry, now: now) }
    }
}
