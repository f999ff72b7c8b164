package import Cryptography
package import DeviceOwner
package import KeyStores
package import SecretMemory
package import VaultFormat
internal import VaultHeader
internal import VaultStorage

/// What shall open a vault from now on. Whatever is not named here opens it no more.
package struct LevelTarget: ~Copyable {
    /// The owner's way in, as it was confirmed for this very change.
    package struct Owner: ~Copyable {
        let steps: Set<OwnerStep>
        let enrollment: OwnerEnrollment?
        let release: OwnerRelease

        /// - Parameters:
        ///   - steps: Ways of the owner that shall open the vault.
        ///   - enrollment: What is enrolled now; nil where no finger is to count.
        ///   - release: Of the owner who was asked a moment ago: the new share is read back with it.
        package init(_ steps: Set<OwnerStep>, enrollment: OwnerEnrollment?, _ release: consuming OwnerRelease) {
            self.steps = steps
            self.enrollment = enrollment
            self.release = release
        }
    }

    /// The resulting level.
    package let level: VaultLevel
    /// From when on the share of ``VaultLevel/device`` is there.
    package var sharing = ShareAvailability.whileUnlocked
    /// For ``VaultLevel/owner``; beside a passcode where the key store itself asks.
    package var owner: Owner?
    /// Typed in this change.
    package var passcode: SecretBytes?
    /// Shown or typed in this change.
    package var phrase: RecoveryPhrase?
    /// Whether the device can ask its owner: then a change needs the owner's confirmation.
    package var canAskOwner = false
    /// What the user said of a folder whose own key is missing or another one; needed only there.
    package var hardware: HardwareDecision?

    package init(_ level: VaultLevel) { self.level = level }
}
