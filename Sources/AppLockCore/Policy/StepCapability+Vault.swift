public import VaultCore
public import VaultFormat

extension [FallbackStep: StepCapability] {
    /// What this version can ask for a vault in this state, with its keys in files and attempts counted in files.
    public init(_ status: Vault.Status) {
        let isMissing = StepCapability.missing(why: "not built into this version")
        self = [.biometrics: isMissing, .devicePasscode: isMissing, .openCompartment: isMissing]
        self[.recoveryPhrase] =
            status.slots.contains(.recoveryPhrase)
            ? .available(.keyBound) : .notEnrolled(why: "this vault has no recovery phrase")
        self[.appPasscode] = Self.passcode(status)
    }

    private static func passcode(_ status: Vault.Status) -> StepCapability {
        guard status.slots.contains(.passcode) else { return .notEnrolled(why: "this vault has no passcode") }
        if status.isPasscodeClosed { return .lockedOut(why: "no attempt is left; only the recovery phrase opens") }
        if let wait = status.retryAfter {
            let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
            return .lockedOut(why: "the next attempt is taken in \(seconds) s")
        }
        return .available(.keyBound)
    }
}
