package import VaultFormat

extension Assurance {
    /// For people: `key-bound`.
    package var words: String {
        switch self {
        case .none: "open to everybody"
        case .presence: "presence only"
        case .keyBound: "key-bound"
        case .hardwareBound: "hardware-bound"
        case .hardwareLimited: "hardware-limited"
        }
    }

    /// One sentence about how strong it is, without its full stop.
    package var meaning: String {
        switch self {
        case .none: "nobody is asked; what lies there is encrypted and no secret from whoever has the device"
        case .presence: "a yes or no in front of a stored key; a program of the same user can go around it"
        case .keyBound: "the key is derived from a secret; a copy of the disk can be tried against without limit"
        case .hardwareBound: "the key cannot leave a piece of hardware"
        case .hardwareLimited: "hardware counts the attempts and ends them"
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
        case .unavailable: "is not there"
        case .notEnrolled: "is not set up"
        case .systemLockout: "takes no try now"
        case .hardwareBusy: "is busy"
        case .failed: "fails"
        case .expired: "was used for too long without the passcode"
        case .requested: "is left for another way by its button"
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
        case .requestedOther: "was left for another way"
        case .unavailable: "turned out not to be there"
        case .notEnrolled: "turned out not to be set up"
        case .systemLockout: "takes no try now"
        case .hardwareBusy: "is busy"
        case .retry: "gave no verdict"
        }
    }
}
