// An app server that verifies who asks: the product `BetterAuthVerification` alone, and whatever HTTP framework you
// use.
//
// Its users have their accounts at a Better Auth server (`holdfast-server`). The server that you write never sees a
// password or a session: each request carries a token and a signature, and the reply is signed too.
import BetterAuthMessages
import BetterAuthVerification

/// Notes of accounts, kept in memory. Call ``answer(_:)`` from the handler of `POST /notes`.
actor NotesServer {
    private let verifier: AccessVerifier
    private let replyKey: SoftwareSigningKey
    private var notes: [String: [ApplicationData]] = [:]

    /// - Parameters:
    ///   - authority: The identity of the key chain, from the operator of the account server.
    ///   - service: Where that chain and the account server's endorsed keys are published.
    ///   - replyKey: Signs the replies. Keep it as you keep a TLS key, and publish its public half to your clients.
    init(authority: DigestText, service: any KeyService, replyKey: SoftwareSigningKey) {
        verifier = AccessVerifier(
            keys: EndorsedServerKeys(trusting: authority, from: service, window: EndorsedServerKeys.appServerWindow),
            // Of one process. With several processes, both are shared: see Docs/operations.md.
            nonces: MemoryNonceStore(), revocations: MemoryRevocationList())
        self.replyKey = replyKey
    }

    /// Answers one request.
    /// - Parameter body: The request's body as it came, at most as long as you accept any body.
    func answer(_ body: [UInt8]) async -> (status: Int, body: [UInt8]) {
        let access: VerifiedAccess
        do throws(AccessRefusal) {
            access = try await verifier.verify(body)
        } catch {
            // A store that failed is for your log; the client gets the code.
            if let failure = error.failure { print("access: \(failure)") }
            return (error.httpStatus, error.body)
        }
        // The claims are the account server's word: the identity, the device, and the attributes that it put into the
        // token.
        let owner = "\(access.claims.identity)"
        if access.body.members()?["note"] != nil { notes[owner, default: []].append(access.body) }
        guard let count = try? ApplicationData(json: "{\"notes\":\(notes[owner, default: []].count)}"),
            let reply = try? access.reply(count, signedBy: replyKey)
        else { return (500, []) }
        return (200, reply)
    }
}
