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
