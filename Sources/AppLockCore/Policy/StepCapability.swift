package import VaultFormat

/// What a way to unlock can do on this machine now.
package enum StepCapability: Sendable, Hashable {
    /// Can be asked, and then proves this much.
    case available(Assurance)
    /// There, but the owner has set nothing up for it.
    case notEnrolled(why: String)
    /// Takes no try now.
    case lockedOut(why: String)
    /// Something else uses it.
    case busy(why: String)
    /// Not there, not reachable, or not answering.
    case missing(why: String)
}

/// How a step that was asked ended without opening anything.
package enum StepOutcome: String, Sendable, Hashable, CaseIterable {
    /// A secret was checked and is wrong.
    case wrongSecret = "wrongSecret"
    /// A biometric prompt ended without a match, after its own tries.
    case biometricFailed = "biometricFailed"
    /// The owner turned away.
    case cancelled = "cancelled"
    /// The owner asked for another way by the prompt's own button.
    case requestedOther = "requestedOther"
    /// It is unavailable, or gave no answer in time.
    case unavailable = "unavailable"
    /// It turned out that nothing is set up for it.
    case notEnrolled = "notEnrolled"
    /// The system has locked it out for now.
    case systemLockout = "systemLockout"
    /// Something else uses it.
    case hardwareBusy = "hardwareBusy"
    /// No verdict; the same may be asked once more.
    case retry = "retry"

    /// Whether it ends the chain, whatever a policy says of failures: a refusal by the owner is no failure.
    package var isCancel: Bool { self == .cancelled }

    /// Whether it uses up an attempt under these rules: a wrong passcode of the vault always, a biometric prompt that
    /// ended without a match only while self-destruct is on and the owner has not switched that off.
    package func isCounted(for step: FallbackStep, under policy: VaultPolicy) -> Bool {
        switch (self, step) {
        case (.wrongSecret, .appPasscode): true
        case (.biometricFailed, .biometrics): policy.selfDestruct && policy.countsBiometricFailures
        default: false
        }
    }

    /// What it gives the steps behind it to go by; nil when the same step is asked again.
    var condition: FallbackCondition? {
        switch self {
        case .wrongSecret, .biometricFailed: .failed
        case .cancelled: .cancelled
        case .requestedOther: .requested
        case .unavailable: .unavailable
        case .notEnrolled: .notEnrolled
        case .systemLockout: .systemLockout
        case .hardwareBusy: .hardwareBusy
        case .retry: nil
        }
    }
}

/// Everything that a decision depends on. No clock and no disk: the caller supplies the facts.
package struct FallbackFacts: Sendable, Hashable {
    /// The rules, authenticated where the vault was opened before.
    package var policy: VaultPolicy
    /// What each step can do; one that is not named is treated as missing.
    package var capabilities: [FallbackStep: StepCapability]
    /// What was asked already, in this order, since the lock screen came up.
    package var outcomes: [Asked]
    /// Seconds since the vault's passcode was last right in this boot; nil if it was not, or if this is unknown.
    package var secondsSincePasscode: UInt64?
    /// Biometric samples that did not match since the passcode was last right.
    package var nonMatches: Int
    /// What an unlock must prove for what is wanted.
    package var needed: Assurance

    /// A step and how it ended.
    package struct Asked: Sendable, Hashable {
        /// The step.
        package let step: FallbackStep
        /// How it ended.
        package let outcome: StepOutcome

        /// What was asked and the outcome.
        package init(_ step: FallbackStep, _ outcome: StepOutcome) {
            self.step = step
            self.outcome = outcome
        }
    }

    /// Facts before anything was asked.
    package init(
        policy: VaultPolicy, capabilities: [FallbackStep: StepCapability], outcomes: [Asked] = [],
        secondsSincePasscode: UInt64? = nil, nonMatches: Int = 0, needed: Assurance = .none
    ) {
        self.policy = policy
        self.capabilities = capabilities
        self.outcomes = outcomes
        self.secondsSincePasscode = secondsSincePasscode
        self.nonMatches = nonMatches
        self.needed = needed
    }

    /// Samples without a match after which only the passcode is asked for.
    package static let mostNonMatches = 5
}
