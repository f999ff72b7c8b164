/// What the linter has to say about a vault's rules.
package struct PolicyIssue: Sendable, Hashable {
    /// Stable words.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        // Errors.
        /// Steps behind the open compartment are never reached.
        case openCompartmentNotLast = "openCompartmentNotLast"
        /// No step uses a secret that the user knows: after a restart nothing opens.
        case noSecretStep = "noSecretStep"
        /// A step judged by the system runs out, and no step with a secret is there for that.
        case expiredLeadsNowhere = "expiredLeadsNowhere"
        /// Three wrong passcodes destroy the vault, and there is no other unlock method for someone who mistypes.
        case selfDestructWithoutRecovery = "selfDestructWithoutRecovery"
        /// An owner slot that survives a restart on the disk where more than presence is asked.
        case ownerSlotOnDisk = "ownerSlotOnDisk"
        // Warnings.
        /// Only the phrase is left where the passcode would be asked.
        case passcodeMissing = "passcodeMissing"
        /// A lost passcode is the end.
        case recoveryPhraseMissing = "recoveryPhraseMissing"
        /// A step that does not open a collection with a minimum.
        case stepBelowMinimum = "stepBelowMinimum"
        /// A collection that no step of the policy opens on this machine.
        case minimumOutOfReach = "minimumOutOfReach"
        /// A later step that proves less than one before it.
        case weakerStep = "weakerStep"
        /// A step judged by the system that never asks for the passcode again.
        case noMaximumAge = "noMaximumAge"
        /// A step that nothing leads to.
        case unreachableStep = "unreachableStep"
        /// Cancelling uses the open compartment.
        case cancelUsesOpenCompartment = "cancelUsesOpenCompartment"
        /// The switch is on and the policy does not name the step.
        case biometricsNotInPolicy = "biometricsNotInPolicy"
        /// The policy names the step and the switch is off.
        case biometricsSwitchedOff = "biometricsSwitchedOff"
        /// The app lock is on but never locks automatically.
        case lockNever = "lockNever"
        /// Collections with a minimum stay open while the process lives.
        case minimumNeverLocks = "minimumNeverLocks"
        /// Three wrong passcodes destroy the vault.
        case selfDestructLowLimit = "selfDestructLowLimit"
        /// Wrong passcodes can be tried without a pause.
        case noDelays = "noDelays"
    }

    /// The kind of issue.
    package let code: Code
    /// What is wrong and what to do, for people.
    package let words: String

    /// Whether rules with it must not be set.
    package var isError: Bool {
        switch code {
        case .openCompartmentNotLast, .noSecretStep, .expiredLeadsNowhere, .selfDestructWithoutRecovery,
            .ownerSlotOnDisk:
            true
        default: false
        }
    }
}
