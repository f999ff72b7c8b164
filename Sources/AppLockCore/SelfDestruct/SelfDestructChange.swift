/// What is wanted of self-destruct.
public enum SelfDestructChange: String, Sendable, Hashable, CaseIterable {
    /// Wrong passcodes shall destroy the vault when they reach the limit.
    case enable = "enable"
    /// They shall not any more.
    case disable = "disable"
}
