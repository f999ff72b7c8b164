package import SecretMemory
package import VaultFormat

/// What a confirmed owner gets in place of a yes: the half of a key that a key store has the other half of. Made by
/// ``OwnerAuthenticator`` alone, used up by the key store that redeems it.
package struct OwnerRelease: ~Copyable, Sendable {
    /// How the owner was confirmed.
    package let step: OwnerStep
    /// 32 bytes.
    package let secret: SecretBytes
    /// What the system itself takes as proof, where it keeps shares; ends with this value.
    package let proof: (any OwnerProof)?

    init(_ step: OwnerStep, _ secret: consuming SecretBytes, _ proof: (any OwnerProof)? = nil) {
        self.step = step
        self.secret = secret
        self.proof = proof
    }
}

/// What the system gave for a confirmed owner, for a key store of the same system: an item is then released by the system
/// and not by a decision of ours.
package protocol OwnerProof: AnyObject, Sendable {}

/// How asking the owner ended. Nothing but ``released(_:)`` opens anything.
package enum OwnerOutcome: ~Copyable, Sendable {
    /// Confirmed.
    case released(OwnerRelease)
    /// A prompt that ran to its end without a match, or a wrong passcode.
    case refused
    /// The user cancelled. Never counted, and never a way down.
    case cancelled
    /// The prompt timed out.
    case timedOut
    /// Could not be asked, or gave no verdict; says why.
    case impossible(OwnerCapability)
    /// The app's own passcode has to be given first; says why.
    case expired(OwnerExpiry)
}

/// What a backend found. Named in this module and in HoldfastTesting only (checked by scripts/check-layout): elsewhere
/// there is no yes.
package enum OwnerVerdict: Sendable {
    case confirmed(proof: (any OwnerProof)?)
    case refused
    case cancelled
    case timedOut
    case impossible(OwnerCapability)

    /// Confirmed by a system that keeps no shares.
    package static var confirmed: OwnerVerdict { .confirmed(proof: nil) }
}
