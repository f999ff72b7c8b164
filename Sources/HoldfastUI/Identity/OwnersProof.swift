internal import BetterAuth
internal import Holdfast
internal import Synchronization

/// What an action needs: a proof, or nothing.
struct OwnersProof: Sendable {
    private let proof: ProofCarrier?

    /// Checks the passcode; blocks.
    /// - Throws: As ``VaultCore/Vault/prove(passcode:spending:)``.
    init(_ passcode: CarriedSecret?, _ vault: Vault) throws(VaultError) {
        guard let passcode else {
            proof = nil
            return
        }
        let secret = try passcode.take()
        proof = ProofCarrier(try vault.prove(passcode: secret, spending: vault.burnAttempt()))
    }

    /// The proof, once.
    func take() throws(IdentityError) -> Proof {
        do throws(VaultError) {
            guard let proof else { throw VaultError(.proofExpired, "nothing was given that proves who is there") }
            return try proof.take()
        } catch { throw IdentityError(error) }
    }
}

/// A typed secret on its way into another task, where it is taken out once.
final class CarriedSecret: Sendable {
    private let secret: Mutex<SecretBytes?>

    init(_ secret: consuming SecretBytes) { self.secret = Mutex(secret) }

    /// The secret; an empty one, which proves nothing, for the second caller.
    func take() throws(VaultError) -> SecretBytes {
        if let secret = secret.withLock({ $0.take() }) { return secret }
        do throws(SecretMemoryError) { return try SecretBytes(zeroed: 0) } catch { throw VaultError(error) }
    }
}
