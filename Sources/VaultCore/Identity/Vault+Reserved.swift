/// Collections for our own parts. No command line can name one, because an argument holds no zero byte.
extension Vault {
    /// What the name of a reserved collection begins with.
    static let reservedPrefix: UInt8 = 0

    /// The device's identity: its credentials, as one record.
    package static let identityCollection = "\u{0}identity"

    /// The file whose `flock` is held while the identity is changed; the home's own is the agent's.
    package static let identityLock = ".identity-lock"

    /// Whether a collection is not the user's: left out of lists of everything, and no place for what came from the open
    /// compartment.
    package static func isReserved(_ collection: String) -> Bool { collection.utf8.first == reservedPrefix }
}
