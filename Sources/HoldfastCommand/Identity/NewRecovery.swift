internal import BetterAuth
internal import BetterAuthMessages
internal import Cryptography
internal import Holdfast

/// A new recovery phrase of the identity and what follows from it.
struct NewRecovery: ~Copyable {
    private let phrase: IdentityPhrase
    /// What the server is told.
    let hash: RecoveryHash

    /// Makes one, and shows it to the user before anything is sent.
    init(_ delivery: PhraseDelivery) throws(CommandError) {
        let phrase = try identityCall { try IdentityPhrase.generate() }
        let key = try NewRecovery.key(of: phrase)
        try phrase.withText { text throws(CommandError) in
            try delivery.deliverConfirmed(text, else: "nothing was sent")
        }
        hash = Derivations.standard.recoveryHash(of: key.publicKey)
        self.phrase = phrase
    }

    /// Derives a phrase's key, which takes a moment.
    static func key(of phrase: borrowing IdentityPhrase) throws(CommandError) -> SoftwareSigningKey {
        let isShown = Progress.isPossible
        if isShown { try? Output.write("Deriving the recovery key (Argon2id, 256 MiB) ...", to: 2) }
        defer { if isShown { try? Output.write("\r\u{1B}[K", to: 2) } }
        do throws(CryptographyError) { return try phrase.recoveryKey() } catch {
            throw .failure(.cryptography, "the recovery key could not be derived (\(error))")
        }
    }

    /// The server has it: from now on drills ask for it, and typed in the vault's place it is recognised.
    func remember(_ access: IdentityAccess) {
        do {
            switch try phrase.asRecoveryPhrase() {
            case .none: return
            case .some(let phrase):
                let spots = try SpotCheck.make(for: phrase)
                try access.vault.setIdentityPhrase(phrase)
                try VaultIdentity.setDrills(.begun(.now, spots: spots), in: access.vault)
            }
        } catch {
            Output.note("short recovery drills are not possible: \(CommandError(error).what)")
        }
    }
}
