import BetterAuth
import BetterAuthTransport
import Holdfast

func identity(of app: HoldfastApp, authority: DigestText) throws -> VaultIdentity {
    let web = SystemTransport()
    let keys = HTTPKeyService(at: try ServerAddress("https://keys.example.org"), over: web)
    return app.identity(
        at: try ServerAddress("https://id.example.org"), over: web,
        trust: .source(EndorsedServerKeys(trusting: authority, from: keys)))
}

func create(_ identity: VaultIdentity, show: (RawSpan) -> Void) async throws {
    let phrase = try IdentityPhrase.generate()
    phrase.withText { words in show(words) }
    _ = try await identity.createAccount(recovery: phrase.recoveryKey().recoveryHash)
}
