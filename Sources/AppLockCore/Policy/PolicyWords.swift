package import VaultFormat

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
