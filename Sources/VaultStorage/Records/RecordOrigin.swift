package import VaultFormat

/// Who wrote a record.
package enum RecordOrigin: String, Sendable, Hashable, CaseIterable {
    /// The user, with the vault unlocked, or by accepting it.
    case protected = "protected"
    /// Anyone, while the vault was locked; the user has not accepted it yet.
    case open = "open"

    package init(_ origin: RecordFields.Origin) {
        switch origin {
        case .protected: self = .protected
        case .open: self = .open
        }
    }
}
