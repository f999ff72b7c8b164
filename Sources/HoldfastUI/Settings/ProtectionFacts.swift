package import Holdfast

/// What is known of how a vault is protected, for a verdict and for advice.
package struct ProtectionFacts: Sendable, Hashable {
    /// Where the key of a vault without a passcode rests.
    package enum Place: Sendable, Hashable, CaseIterable {
        /// As a file beside the vault.
        case files
        /// In the keyring of the session or of the system.
        case keyring
        /// In the machine's security chip.
        case chip
    }

    /// What is asked before the vault opens, at the weakest of its ways.
    package enum Asks: Sendable, Hashable {
        /// Nobody is asked.
        case nobody(Place)
        /// The device's owner is.
        case owner(Place)
        /// A secret of the vault's own.
        case secret
    }

    /// What is asked.
    package var asks: Asks
    /// Whether there is a passcode of the vault's own.
    package var hasPasscode: Bool
    /// Whether a lost passcode or device leaves a way in.
    package var isRecoverable: Bool
    /// Whether the passcode is under a chip.
    package var isUnderChip = false
    /// Whether that chip counts wrong ones.
    package var countsGuesses = false
    /// Whether the app asks again after it was left.
    package var isLockOn = false
    /// Whether a backup was made; nil while that is not known.
    package var hasBackup: Bool?

    package init(_ asks: Asks, hasPasscode: Bool, isRecoverable: Bool) {
        (self.asks, self.hasPasscode, self.isRecoverable) = (asks, hasPasscode, isRecoverable)
    }

    package init(_ protection: Protection) {
        let asks: Asks =
            switch protection.level {
            case .device: .nobody(Place(protection, .device))
            case .owner: .owner(Place(protection, .owner))
            case .secret: .secret
            }
        self.init(asks, hasPasscode: protection.ways.contains(.passcode), isRecoverable: protection.isRecoverable)
    }
}

extension ProtectionFacts.Place {
    init(_ protection: Protection, _ way: Protection.Way) {
        switch protection.shares.first(where: { $0.way == way })?.store {
        case "tpm": self = .chip
        case "secretService", "keychain": self = .keyring
        default: self = .files
        }
    }
}
