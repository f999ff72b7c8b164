internal import KeyStores
public import VaultFormat

/// Which collections an unlock reaches: it must prove what they ask for at least.
///
/// A rule enforced by code, not by a separate key: someone with the passcode and another program can read them all.
struct Admission: Sendable, Hashable {
    /// What the unlock proved.
    let assurance: Assurance
    /// Collections that ask for more, and for how much. Almost always empty.
    let shut: [String: Assurance]

    /// - Parameters:
    ///   - assurance: What the unlock proved.
    ///   - policy: Minima of the authenticated header.
    ///   - settings: Minima of the app's own code; of two the stricter one holds.
    init(_ assurance: Assurance, policy: [String: Assurance], settings: [String: Assurance]) {
        self.assurance = assurance
        shut = policy.merging(settings, uniquingKeysWith: max).filter { $0.value > assurance }
    }

    /// For a collection named by a caller.
    /// - Throws: `assuranceTooLow`; `reservedCollection` for one of the vault's own, whoever names it.
    @inline(__always)
    func check(_ collection: String) throws(VaultError) {
        if Vault.isReserved(collection) { throw .reservedCollection }
        try check(reserved: collection)
    }

    /// As ``check(_:)``, for a collection of our own where `reserved` says so.
    @inline(__always)
    func check(_ collection: String, reserved: Bool) throws(VaultError) {
        if reserved { try check(reserved: collection) } else { try check(collection) }
    }

    /// For a collection of our own.
    /// - Throws: `assuranceTooLow`.
    @inline(__always)
    func check(reserved collection: String) throws(VaultError) {
        if !shut.isEmpty { try refuse(collection) }
    }

    @inline(never)
    private func refuse(_ collection: String) throws(VaultError) {
        // Texts that Unicode holds for the same share a minimum, though they are different collections.
        if let needed = shut[collection] { throw .assuranceTooLow(needed: needed, given: assurance) }
    }
}

extension Vault {
    /// What the present unlock proved; nil while the vault is locked.
    public var assurance: Assurance? { gate.current?.keys.admission.assurance }

    /// Collections that demand a higher assurance than the current unlock, with that assurance: they are neither read,
    /// written nor listed until a stronger unlock. Empty while the vault is locked.
    public var collectionsOutOfReach: [String: Assurance] { gate.current?.keys.admission.shut ?? [:] }

    /// For what begins before a reader or a writer is there.
    /// - Throws: `locked`, `assuranceTooLow`.
    func admit(_ collection: String) throws(VaultError) {
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

extension VaultError {
    static func assuranceTooLow(needed: Assurance, given: Assurance) -> VaultError {
        var error = VaultError(
            .assuranceTooLow,
            "this collection needs an unlock of assurance \(needed.name); this one is \(given.name)")
        error.neededAssurance = needed
        return error
    }
}
