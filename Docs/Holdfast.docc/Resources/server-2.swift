import BetterAuthMessages
import BetterAuthVerification

func verifier(authority: DigestText, service: any KeyService) -> AccessVerifier {
    AccessVerifier(
        keys: EndorsedServerKeys(trusting: authority, from: service, window: EndorsedServerKeys.appServerWindow),
        nonces: MemoryNonceStore(), revocations: MemoryRevocationList())
}

func answer(
    _ body: [UInt8], _ verifier: AccessVerifier, _ key: SoftwareSigningKey
) async -> (status: Int, body: [UInt8]) {
    do throws(AccessRefusal) {
        let access = try await verifier.verify(body)
        guard let reply = try? access.reply(access.body, signedBy: key) else { return (500, []) }
        return (200, reply)
    } catch {
        return (error.httpStatus, error.body)
    }
}
