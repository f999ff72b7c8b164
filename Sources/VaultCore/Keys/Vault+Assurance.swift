internal import KeyStores
public import VaultFormat
package import VaultStorage

extension Vault {
    /// What the present unlock proved; nil while the vault is locked.
    public var assurance: Assurance? { gate.current?.keys.admission.assurance }

    /// Collections that demand a higher assurance than the current unlock, with that assurance: they are neither read,
    /// written nor listed until a stronger unlock. Empty while the vault is locked.
    package var collectionsOutOfReach: [String: Assurance] { gate.current?.keys.admission.shut ?? [:] }

    /// For what begins before a reader or a writer is there.
    /// - Throws: `locked`, `assuranceTooLow`.
    package func admit(_ collection: String) throws(VaultError) {
        let vault = try gate.enter()
        defer { gate.leave() }
        try vault.keys.admission.check(collection)
    }

    /// What a slot proves: the passcode's as much as the hardware that holds a share of it, the phrase's its words.
    func assurance(of slot: Slot?) -> Assurance {
        guard let slot, slot.flags.contains(.hardwareShare), let tier = settings.tier else { return .keyBound }
        return max(.keyBound, tier.assurance)
    }
}
