internal import Synchronization
package import VaultCore
package import VaultStorage

/// Carries a proof into work of another task, where it is taken out once.
package final class ProofCarrier: Sendable {
    private let proof: Mutex<Proof?>

    package init(_ proof: consuming Proof) { self.proof = Mutex(proof) }

    /// The proof.
    /// - Throws: `notPending` for the second caller.
    package func take() throws(VaultError) -> Proof {
        guard let proof = proof.withLock({ $0.take() }) else {
            throw VaultError(.notPending, "the proof was used already; one proof allows one change")
        }
        return proof
    }
}
