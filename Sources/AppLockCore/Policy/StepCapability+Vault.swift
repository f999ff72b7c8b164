package import DeviceOwner
package import VaultCore
package import VaultFormat

extension [FallbackStep: StepCapability] {
    /// What can be asked for a vault in this state.
    /// - Parameter owner: What the machine was found to be able to; what is not named was not looked at.
    package init(_ status: Vault.Status, owner: [OwnerStep: OwnerCapability] = [:]) {
        let isUnknown = StepCapability.missing(why: "it was not looked for")
        self = [
            .biometrics: owner[.biometrics].map(Self.owner) ?? isUnknown,
            .devicePasscode: owner[.devicePasscode].map(Self.owner) ?? isUnknown,
            .openCompartment: .available(.none),
        ]
        self[.recoveryPhrase] =
            status.slots.contains(.recoveryPhrase)
            ? .available(.keyBound) : .notEnrolled(why: "this vault has no recovery phrase")
        self[.appPasscode] = Self.passcode(status)
    }

    /// The system's yes in front of a key proves presence, whatever it looked at.
    private static func owner(_ capability: OwnerCapability) -> StepCapability {
        switch capability {
        case .available: .available(.presence)
        case .notEnrolled(let why): .notEnrolled(why: why)
        case .lockedOut(let why): .lockedOut(why: why)
        case .busy(let why): .busy(why: why)
        case .denied(let why), .missing(let why), .broken(let why): .missing(why: why)
        }
    }

    private static func passcode(_ status: Vault.Status) -> StepCapability {
        guard status.slots.contains(.passcode) else { return .notEnrolled(why: "this vault has no passcode") }
        if status.isPasscodeClosed { return .lockedOut(why: "no attempt is left; only the recovery phrase opens") }
        if let wait = status.retryAfter {
            let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
            return .lockedOut(why: "the next attempt is taken in \(seconds) s")
        }
        // A PIN under a chip answers the same step, and may prove more.
        guard let assurance = [status.passcodeAssurance, status.pinAssurance].compactMap(\.self).max() else {
            return .missing(why: "the hardware that holds a share of its key cannot be asked here")
        }
        return .available(assurance)
    }
}
