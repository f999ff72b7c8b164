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

/// What the system gave for a confirmed owner, for a key store of the same system: an item is then released by the
/// system and not by a decision of ours.
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

/// What a way can do on this machine now, found without asking anybody.
public enum OwnerCapability: Sendable, Hashable {
    /// The owner can be asked.
    case available
    /// There, but nothing is set up for it.
    case notEnrolled(String)
    /// Is locked out.
    case lockedOut(String)
    /// Something else uses it.
    case busy(String)
    /// There, and the user has not allowed this app to use it.
    case denied(String)
    /// Not there, or not reachable.
    case missing(String)
    /// There, and it does not do what it should.
    case broken(String)

    /// Why it cannot be asked; nil where it can.
    package var why: String? {
        switch self {
        case .available: nil
        case .notEnrolled(let why), .lockedOut(let why), .busy(let why), .denied(let why), .missing(let why),
            .broken(let why):
            why
        }
    }
}

/// What has to be the same for a match to mean what it meant when the passcode was given: which fingers of which sensor
/// are known. No secret.
package struct OwnerEnrollment: Sendable, Hashable {
    /// One line for each enrolled finger, sorted.
    package let lines: [String]

    package init(_ lines: [String]) { self.lines = lines.sorted() }

    /// For a digest.
    package var bytes: [UInt8] { lines.flatMap { Array($0.utf8) + [10] } }
}
