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
        (serverIdentity, device, identity, publicKey, rotationHash, issuedAt, expiry, refreshExpiry, attributes) =
            try reader.object(AccessClaims.shape)
    }

    /// The text that is signed and compressed.
    package var encoded: [UInt8] {
        var writer = MessageWriter()
        writer.object(
            AccessClaims.shape, serverIdentity, device, identity, publicKey, rotationHash, issuedAt, expiry,
            refreshExpiry, attributes)
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

    /// Judges a token that is refreshed; that it can no longer be used for access does not matter. One that was issued
    /// under a clock that was ahead would otherwise be refreshed until that clock's time, whoever ends its sessions.
    /// - Throws: ``ProtocolError/futureToken(issuedAt:now:)`` (BA403) or
    ///   ``ProtocolError/expiredToken(_:expiry:now:)`` (BA401).
    package func checkRefresh(now: Timestamp) throws(ProtocolError) {
        guard !issuedAt.isAhead(of: now) else { throw .futureToken(issuedAt: issuedAt, now: now) }
        guard now <= refreshExpiry else { throw .expiredToken(.refresh, expiry: refreshExpiry, now: now) }
    }
}
