import BetterAuth
import BetterAuthVerification
import BetterAuthMessages
import TestSupport
import Testing

/// An auth server's key, a device with a session, and the verifier of an app server.
struct AccessScene {
    let server: SoftwareSigningKey
    let session: SoftwareSigningKey
    let nonces = MemoryNonceStore()
    let revocations = MemoryRevocationList()
    let keys: PinnedServerKeys
    let verifier: AccessVerifier
    static let start = Timestamp(milliseconds: 1_767_323_045_678)!
    static let digest = DigestText("EGQ3s6w4RlEz_7Y7dSc6jbVIxVhGXXnbA_01nGzVvZ2F")!

    init(_ settings: AccessVerifier.Settings = .init()) throws {
        server = try .generate()
        session = try .generate()
        keys = PinnedServerKeys(access: [try VerificationKey(server.publicKey)])
        verifier = AccessVerifier(keys: keys, nonces: nonces, revocations: revocations, settings: settings)
    }

    func verifier(
        keys: (any ServerKeySource)? = nil, nonces: (any NonceStore)? = nil,
        revocations: (any RevocationList)? = nil
    ) -> AccessVerifier {
        AccessVerifier(
            keys: keys ?? self.keys, nonces: nonces ?? self.nonces, revocations: revocations ?? self.revocations)
    }

    static func after(_ milliseconds: Int64) throws -> Timestamp {
        try #require(start.adding(milliseconds: milliseconds))
    }

    /// A token that is good for a quarter of an hour from the start on.
    func token(
        signedBy key: SoftwareSigningKey? = nil, issuedAfter: Int64 = 0, lifetime: Int64 = 900_000,
        device: DeviceID = DeviceID(digest), attributes: String = "{}"
    ) throws -> TokenText {
        let issuedAt = try AccessScene.after(issuedAfter)
        let claims = AccessClaims(
            serverIdentity: server.publicKey, device: device, identity: IdentityID(AccessScene.digest),
            publicKey: session.publicKey, rotationHash: RotationHash(AccessScene.digest), issuedAt: issuedAt,
            expiry: try AccessScene.after(issuedAfter + lifetime),
            refreshExpiry: try AccessScene.after(issuedAfter + 43_200_000),
            attributes: try ApplicationData(json: attributes))
        let signer = key ?? server
        return try AccessToken(claims) { bytes throws in try signer.sign(bytes) }.text(ZlibTokenCompression())
    }

    func request(
        _ token: TokenText, after milliseconds: Int64 = 0, nonce: NonceText? = nil,
        signedBy key: SoftwareSigningKey? = nil
    ) throws -> [UInt8] {
        let payload = try Access.Request(
            nonce: nonce ?? .random(), timestamp: AccessScene.after(milliseconds), token: token,
            body: ApplicationData(json: #"{"foo":"bar"}"#))
        return try SignedMessage(payload, signedBy: key ?? session).bytes
    }

    /// The code of the refusal; nil when the request passes.
    func refusal(
        _ body: [UInt8], after milliseconds: Int64 = 0, by other: AccessVerifier? = nil
    ) async throws -> ErrorCode? {
        let now = try AccessScene.after(milliseconds)
        do throws(AccessRefusal) {
            _ = try await (other ?? verifier).verify(body, now: now)
            return nil
        } catch {
            guard case .refused(let reason) = error.cause else { return .base }
            return reason.code
        }
    }
}
