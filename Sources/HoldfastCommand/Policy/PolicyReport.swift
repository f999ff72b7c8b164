internal import CommandLineArguments
internal import DeviceOwner
internal import Holdfast

/// A vault's rules and what there is to say about them, as text and as JSON.
struct PolicyReport {
    let status: Vault.Status
    var owner: [OwnerStep: OwnerCapability] = [:]

    private var policy: VaultPolicy { status.policy }
    var issues: [PolicyIssue] { PolicyLinter(status).issues(policy) }
    var capabilities: [FallbackStep: StepCapability] { [FallbackStep: StepCapability](status, owner: owner) }

    /// How strongly what the vault stores is protected: as the passcode's slot. The phrase's is key-bound.
    var storageAssurance: Assurance { status.passcodeAssurance ?? .keyBound }

    private var minima: [(collection: String, assurance: Assurance)] {
        policy.collectionMinima.map { ($0.key, $0.value) }.sorted { $0.collection < $1.collection }
    }

    var facts: [(String, String)] {
        var facts = [
            ("padlock", policy.isLockEnabled.word), ("useFaceID", policy.usesBiometrics.word),
            ("countBiometricFailures", policy.countsBiometricFailures.word),
            ("attemptLimit", "\(policy.attemptLimit)"),
            ("delays", policy.delays.map { "\($0)" }.joined(separator: ",")),
            ("lockTiming", policy.lockTiming.word), ("remember", policy.rememberWord),
            ("fallback", policy.fallback.rules.isEmpty ? "none" : name + ": " + chain),
        ].map { (Words.setting($0.0), $0.1) }
        facts.append(("self-destruct", policy.selfDestruct.word + change))
        facts += minima.map { ("minimum." + Escaping.name($0.collection), Words.typed($0.assurance.name)) }
        facts.append(("storage", "\(storageAssurance.words); \(storageAssurance.meaning)"))
        return facts
    }

    private var name: String { policy.fallback.presetName.map(Words.typed) ?? "own" }
    private var chain: String { policy.fallback.rules.map(\.step.words).joined(separator: ", then ") }

    /// How to change self-destruct, which is not among the settings.
    private var change: String {
        " (holdfast self-destruct \(policy.selfDestruct ? "disable" : "enable") changes it)"
    }

    var json: JSON {
        let minima = minima.map { ($0.collection, JSON.text($0.assurance.name)) }
        return .object([
            "padlock": .boolean(policy.isLockEnabled), "useFaceID": .boolean(policy.usesBiometrics),
            "countBiometricFailures": .boolean(policy.countsBiometricFailures),
            "attemptLimit": .integer(Int64(policy.attemptLimit)),
            "delays": .array(policy.delays.map { .integer(Int64($0)) }),
            "lockTiming": .text(policy.lockTiming.word),
            "lockSeconds": policy.lockTiming.seconds.map { .integer(Int64($0)) } ?? .null,
            "remember": .text(policy.rememberWord), "selfDestruct": .boolean(policy.selfDestruct),
            "selfDestructCountdown": .integer(Int64(policy.selfDestructCountdown)),
            "fallback": JSON(policy.fallback.json),
            "fallbackPreset": policy.fallback.presetName.map { .text($0) } ?? .null,
            "minima": .object(Dictionary(minima, uniquingKeysWith: { $1 })),
            "storageAssurance": .text(storageAssurance.name), "isAuthenticated": .boolean(false),
            "issues": .array(issues.map(\.json)),
        ])
    }
}

extension PolicyIssue {
    var json: JSON {
        .object([
            "code": .text(code.rawValue), "severity": .text(severity), "words": .text(words),
        ])
    }

    var severity: String { isError ? "error" : "warning" }
}

extension JSON {
    /// The same value, as this program writes it.
    init(_ value: JSONValue) {
        switch value {
        case .null, .otherNumber: self = .null
        case .bool(let bool): self = .boolean(bool)
        case .integer(let integer): self = .integer(Int64(integer))
        case .text(let text): self = .text(text)
        case .list(let values): self = .array(values.map { JSON($0) })
        case .object(let members):
            self = .object(Dictionary(members.map { ($0.key, JSON($0.value)) }, uniquingKeysWith: { $1 }))
        }
    }
}

extension VaultPolicy {
    /// Whether a passcode that a command asks for may leave the vault open, as the command line has it.
    var rememberWord: String { remembersPasscode ? "allowed" : "never" }
}

extension Bool {
    /// As the command line has it.
    var word: String { self ? "on" : "off" }
}

extension LockTiming {
    static let allowed = "immediately, relaunch, never, or a time such as 15s, 5min, 1h"

    /// Out of a word of the command line; nil for one that is no timing.
    init?(word: String) {
        switch word {
        case "immediately": self = .immediately
        case "relaunch": self = .onRelaunch
        case "never": self = .never
        default:
            guard let seconds = DurationWord.seconds(word).flatMap(UInt32.init(exactly:)), seconds < .max - 1 else {
                return nil
            }
            self = .after(seconds: seconds)
        }
    }

    /// A word that gives this timing back.
    var word: String {
        switch self {
        case .immediately: return "immediately"
        case .onRelaunch: return "relaunch"
        case .never: return "never"
        default: return DurationWord.word(Int(seconds ?? 0))
        }
    }
}
