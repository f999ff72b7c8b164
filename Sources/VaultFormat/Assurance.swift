/// How much a way to unlock proves, worst first so that a larger one satisfies a smaller minimum.
public enum Assurance: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// Nothing is asked.
    case none = 0
    /// A yes or no in front of a stored key.
    case presence = 1
    /// A secret must be known to derive the key.
    case keyBound = 2
    /// The key cannot leave a piece of hardware.
    case hardwareBound = 3
    /// Hardware counts the attempts.
    case hardwareLimited = 4

    /// Whether `left` proves less than `right`.
    public static func < (left: Assurance, right: Assurance) -> Bool { left.rawValue < right.rawValue }

    /// Its word in a policy's JSON and on the command line.
    package var name: String {
        switch self {
        case .none: "none"
        case .presence: "presence"
        case .keyBound: "keyBound"
        case .hardwareBound: "hardwareBound"
        case .hardwareLimited: "hardwareLimited"
        }
    }

    /// The assurance of a word.
    package init?(name: String) {
        guard let known = Assurance.allCases.first(where: { $0.name == name }) else { return nil }
        self = known
    }
}

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
