package import VaultFormat

/// Whose something in a chip or a key store is. Its public part shows it (``AttemptTier``, ``GenerationAnchor``), and
/// it is compared before anything is let go of: what names another vault, or another home of the same vault, is never
/// touched, whatever a file of the home says.
package struct HardwareOwner: Sendable, Hashable {
    /// The vault.
    package let vault: VaultID
    /// What stands for the home: 32 bytes that come from the home's own key, which no backup has.
    package let home: [UInt8]

    package init(vault: VaultID, home: [UInt8]) {
        self.vault = vault
        self.home = home
    }
}

/// The outcome of letting go of something.
package enum Removal: Sendable, Hashable {
    /// It is gone, or was gone before.
    case gone
    /// It does not belong to the caller's home, and was left alone.
    case anothers
}
