internal import DeviceOwner
internal import Holdfast
internal import HoldfastDoctor

/// What people read in place of the names that programs read: in `--json`, in a policy's file and in old scripts the
/// names stay.
enum Words {
    /// The settings of `lock-policy`, in its order. Both forms can be typed.
    static let settings = [
        ("padlock", "app-lock"), ("useFaceID", "fingerprint"), ("countBiometricFailures", "count-fingerprint-failures"),
        ("attemptLimit", "attempts"), ("delays", "delays"), ("lockTiming", "lock-after"), ("remember", "remember"),
        ("fallback", "fallback"),
    ]

    /// The word of a setting, or the setting's own name.
    static func setting(_ name: String) -> String { settings.first { $0.0 == name }?.1 ?? typed(name) }

    /// The name that a word of a setting stands for; anything else is itself.
    static func settingName(_ word: String) -> String { settings.first { $0.1 == word }?.0 ?? word }

    /// A name as it is typed: `neverBlocks` is never-blocks.
    static func typed(_ name: String) -> String {
        name.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }
}

extension LogRule {
    /// The setting in a list of those that were changed.
    var words: String {
        switch self {
        case .collectionMinima: "what collections ask at least"
        case .biometricFailures: Words.setting("countBiometricFailures")
        case .countdown: "the countdown of self-destruct"
        default: Words.setting(name)
        }
    }
}

extension FallbackStep {
    /// The step in the log of this machine.
    var entry: String {
        switch self {
        case .biometrics: "fingerprint"
        case .devicePasscode: "account password"
        case .appPasscode: "passcode"
        case .recoveryPhrase: "recovery phrase"
        case .openCompartment: "open compartment"
        }
    }
}

extension Finding.Part {
    var words: String {
        switch self {
        case .memory: "memory"
        case .tpm: "TPM"
        case .keyring: "session keyring"
        case .files: "vault folder"
        case .fingerprint: "fingerprint"
        case .devicePasscode: "account password"
        case .session: "session"
        case .vault: "vault"
        }
    }
}

extension Finding.State {
    var words: String {
        switch self {
        case .good: "works"
        case .unready: "needs you"
        case .missing: "not there"
        case .broken: "broken"
        case .slow: "no answer"
        }
    }
}
