internal import BetterAuth
internal import Holdfast
internal import Synchronization

/// How an action is proved.
enum OwnersWord: Sendable {
    /// It needs no proof.
    case nothing
    /// By the vault's passcode.
    case passcode(CarriedSecret)
    /// By the device's owner, where the vault has no passcode.
    case owner

    /// - Parameter passcode: As it was typed; nil where the device's owner is asked in its place.
    init(_ passcode: consuming SecretBytes?) {
        switch consume passcode {
        case .some(let passcode): self = .passcode(CarriedSecret(passcode))
        case .none: self = .owner
        }
    }
}

/// What an action needs: a proof, or nothing.
struct OwnersProof: Sendable {
    private let proof: ProofCarrier?

    /// Checks the passcode, or has the device ask its owner.
    /// - Throws: As ``AppLockCore/AppLock/prove(passcode:)`` and ``AppLockCore/AppLock/prove(_:)``.
    init(_ word: OwnersWord, _ vault: Vault, _ lock: AppLock, _ dialog: OwnerDialog) async throws(VaultError) {
        switch word {
        case .nothing: proof = nil
        case .passcode(let passcode):
            let secret = try passcode.take()
            proof = ProofCarrier(try vault.prove(passcode: secret, spending: vault.burnAttempt()))
        case .owner:
            let place = ProofPlace()
            let error = await dialog.run(.biometrics) { prompts throws(VaultError) in
                place.set(ProofCarrier(try await lock.prove(prompts)))
            }
            if let error { throw error }
            proof = place.take()
        }
    }

    /// The proof, once.
    func take() throws(IdentityError) -> Proof {
        do throws(VaultError) { return try forVault() } catch { throw IdentityError(error) }
    }

    /// As ``take()``, for what needs no identity.
    func forVault() throws(VaultError) -> Proof {
        guard let proof else {
            throw VaultError(.proofExpired, "neither a passcode nor a proof of the device's owner was given")
        }
        return try proof.take()
    }
}

/// Where the work of a prompt leaves the proof.
private final class ProofPlace: Sendable {
    private let proof = Mutex<ProofCarrier?>(nil)
    func set(_ new: ProofCarrier) { proof.withLock { $0 = new } }
    func take() -> ProofCarrier? { proof.withLock { $0.take() } }
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
