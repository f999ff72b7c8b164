package import VaultFormat

/// Who wrote a record.
public enum RecordOrigin: String, Sendable, Hashable, CaseIterable {
    /// The owner, with the vault unlocked; or he confirmed it.
    case protected = "protected"
    /// Whoever was there while the vault was locked; the owner has not confirmed it.
    case open = "open"

    package init(_ origin: RecordFields.Origin) {
        switch origin {
        case .protected: self = .protected
        case .open: self = .open
        }
    }
}
