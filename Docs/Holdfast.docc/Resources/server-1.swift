import BetterAuthMessages
import BetterAuthVerification

func verifier(authority: DigestText, service: any KeyService) -> AccessVerifier {
    AccessVerifier(
        keys: EndorsedServerKeys(trusting: authority, from: service, window: EndorsedServerKeys.appServerWindow),
        nonces: MemoryNonceStore(), revocations: MemoryRevocationList())
}
