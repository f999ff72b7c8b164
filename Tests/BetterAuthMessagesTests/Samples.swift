import BetterAuthMessages
import TestSupport
import Testing

/// Valid values that mean nothing.
enum Samples {
    static let nonce = known(NonceText("0AAAAQIDBAUGBwgJCgsMDQ4P"))
    static let key = known(PublicKeyText("1AAIA2sX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKW"))
    static let otherKey = known(PublicKeyText("1AAIA3zyexiNA09-ilI4AwS1GsPAiWnid_IbNaYLSPxHZpl4"))
    static let digest = known(DigestText("EGQ3s6w4RlEz_7Y7dSc6jbVIxVhGXXnbA_01nGzVvZ2F"))
    static let signature = known(
        SignatureText("0IA4UTM8hskrY42wR1BiDhpxJoHNC9WoAwSt9LE4x5Hzl0eTluD7O8rPnuY-iNN3Sv3Ms5ZoZH_eosTqAl6DMtXU"))
    static let time = known(Timestamp("2026-01-02T03:04:05.678Z"))

    static let rotation = RotationAuthentication(
        device: DeviceID(digest), identity: IdentityID(digest), publicKey: key, rotationHash: RotationHash(digest))

    static let account = AccountAuthentication(
        device: DeviceID(digest), identity: IdentityID(digest), publicKey: key, recoveryHash: RecoveryHash(digest),
        rotationHash: RotationHash(digest))

    static let recovery = RecoveryAuthentication(
        device: DeviceID(digest), identity: IdentityID(digest), publicKey: key, recoveryHash: RecoveryHash(digest),
        recoveryKey: otherKey, rotationHash: RotationHash(digest))

    static let container = LinkContainer(LinkContainerPayload(authentication: rotation), signature: signature)

    static let token: TokenText = {
        let valid = try? claims(issuedAt: 0, expiry: 900_000, refreshExpiry: 43_200_000)
        let token = valid.map { AccessToken($0) { _ in signature } }
        return known(try? token?.text(gzip))
    }()

    static func claims(
        issuedAt: Int64, expiry: Int64, refreshExpiry: Int64,
        attributes: String = #"{"permissionsByRole":{"admin":["read","write"]}}"#
    ) throws -> AccessClaims {
        try AccessClaims(
            serverIdentity: otherKey, device: DeviceID(digest), identity: IdentityID(digest), publicKey: key,
            rotationHash: RotationHash(digest), issuedAt: #require(Timestamp(milliseconds: issuedAt)),
            expiry: #require(Timestamp(milliseconds: expiry)),
            refreshExpiry: #require(Timestamp(milliseconds: refreshExpiry)),
            attributes: ApplicationData(json: attributes))
    }

    private static func known<T>(_ value: T?) -> T {
        guard let value else { preconditionFailure("a sample is refused") }
        return value
    }
}
