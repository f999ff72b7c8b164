package import VaultFormat

extension Assurance {
    /// For people: `key-bound`.
    package var words: String {
        switch self {
        case .none: "unprotected"
        case .presence: "presence only"
        case .keyBound: "key-bound"
        case .hardwareBound: "hardware-bound"
        case .hardwareLimited: "hardware-limited"
        }
    }

    /// One sentence about how strong it is, without its full stop.
    package var meaning: String {
        switch self {
        case .none: "nothing is asked; anyone who has the device can read what is stored there"
        case .presence: "the system says yes or no in front of a stored key; any program the user runs can go around it"
        case .keyBound: "the key is derived from a secret; anyone who copies the disk can guess without limit"
        case .hardwareBound: "the key cannot leave a piece of hardware"
        case .hardwareLimited: "hardware counts the attempts and stops answering at its limit"
        }
    }
}

extension FallbackStep {
    /// For people: `the passcode`.
    package var words: String {
        switch self {
        case .biometrics: "biometrics"
        case .devicePasscode: "the device's passcode"
        case .appPasscode: "the passcode"
        case .recoveryPhrase: "the recovery phrase"
        case .openCompartment: "the open compartment"
        }
    }
}

extension FallbackCondition {
    /// Completes "when it ...".
    package var words: String {
        switch self {
        case .unavailable: "is unavailable"
        case .notEnrolled: "is not set up"
        case .systemLockout: "is locked out"
        case .hardwareBusy: "is busy"
        case .failed: "fails"
        case .expired: "has expired (too long without the passcode)"
        case .requested: "is skipped by choice"
        case .cancelled: "is cancelled"
        }
    }
}

extension StepOutcome {
    /// Completes "it ...".
    package var words: String {
        switch self {
        case .wrongSecret: "was wrong"
        case .biometricFailed: "ended without a match"
        case .cancelled: "was cancelled"
        case .requestedOther: "was skipped by choice"
        case .unavailable: "is unavailable"
        case .notEnrolled: "is not set up"
        case .systemLockout: "is locked out"
        case .hardwareBusy: "is busy"
        case .retry: "gave no answer"
        }
    }
}
