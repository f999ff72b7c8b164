public import SecretMemory

/// Where the credentials rest: one record that is replaced as a whole.
public protocol CredentialStore: Sendable {
    /// The record; nil when there is none.
    /// - Throws: What the store throws; ``IdentityError/Code/locked`` while it is locked.
    func load() throws -> SecretBytes?
    /// Stores the record in place of the one before, durably and as one step: after a crash one of the two is there.
    func save(_ record: borrowing SecretBytes) throws
    /// Removes the record; none is fine.
    func erase() throws
}
