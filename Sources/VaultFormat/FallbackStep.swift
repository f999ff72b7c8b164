/// One way to get at what is kept.
public enum FallbackStep: UInt8, LogWord, Hashable {
    /// Fingerprint or face, judged by the system.
    case biometrics = 1
    /// The passcode or password of the device's account, judged by the system.
    case devicePasscode = 2
    /// The vault's own passcode.
    case appPasscode = 3
    /// The 24 words of the vault.
    case recoveryPhrase = 4
    /// No unlocking: the compartment that is there without the owner. Never opens the protected one.
    case openCompartment = 5

    /// Its word in a policy's JSON and on the command line.
    package var name: String {
        switch self {
        case .biometrics: "biometrics"
        case .devicePasscode: "devicePasscode"
        case .appPasscode: "appPasscode"
        case .recoveryPhrase: "recoveryPhrase"
        case .openCompartment: "openCompartment"
        }
    }

    /// What a policy may ask of it; more is never given by it.
    package var possibleAssurance: ClosedRange<Assurance> {
        switch self {
        case .biometrics, .devicePasscode: .none ... .hardwareLimited
        case .appPasscode: .keyBound ... .hardwareLimited
        case .recoveryPhrase: .keyBound ... .keyBound
        case .openCompartment: .none ... .none
        }
    }

    /// Whether the system says yes or no, and no secret of the owner's goes into the key.
    package var isJudgedBySystem: Bool { self == .biometrics || self == .devicePasscode }
}

/// Why the step before was not the one that opened.
public enum FallbackCondition: UInt8, LogWord, Hashable {
    /// The machine or this version has no such thing, or it did not answer.
    case unavailable = 0
    /// There, but the user has set nothing up for it.
    case notEnrolled = 1
    /// The system, or the vault's own attempt limit, has locked this step out for now.
    case systemLockout = 2
    /// Something else uses it.
    case hardwareBusy = 3
    /// A definite refusal: a wrong secret, or a prompt that ended without a match.
    case failed = 4
    /// Too long since the last passcode, or too many non-matches.
    case expired = 5
    /// The user asked for another way by the prompt's own button.
    case requested = 6
    /// The user cancelled. Only the open compartment may name it, and only with the words of a policy that says so.
    case cancelled = 7

    /// Its word in a policy's JSON.
    package var name: String {
        switch self {
        case .unavailable: "unavailable"
        case .notEnrolled: "notEnrolled"
        case .systemLockout: "systemLockout"
        case .hardwareBusy: "hardwareBusy"
        case .failed: "failed"
        case .expired: "expired"
        case .requested: "requested"
        case .cancelled: "cancelled"
        }
    }
}
