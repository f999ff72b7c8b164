internal import KeyStores
public import VaultFormat
package import VaultHeader
internal import VaultLog
public import VaultStorage

extension Vault {
    /// What can be told about a vault without opening it. Nothing of it is authenticated while the vault is locked.
    public struct Status: Sendable, Hashable {
        /// The vault's name.
        public let id: VaultID
        /// The folder it is in.
        package let path: String
        /// Version of its format.
        package let formatVersion: UInt32
        /// Milliseconds since 1970.
        public let created: UInt64
        /// The kinds of its slots.
        package let slots: [SlotKind]
        /// Costs of the passcode's key derivation.
        package let derivation: DerivationParameters?
        /// Whether a chip holds a share of the passcode and counts its attempts.
        package let hasHardwareShare: Bool
        /// What an unlock with the passcode proves; nil where there is none, or where it needs hardware that this
        /// program cannot ask.
        package let passcodeAssurance: Assurance?
        /// Whether the vault has a recovery phrase.
        public var hasRecoveryPhrase: Bool { slots.contains(.recoveryPhrase) }
        /// Whether there is a PIN under a chip.
        public let hasPIN: Bool
        /// What an unlock with the PIN proves; nil where there is none, or where this program has no chip to ask.
        package var pinAssurance: Assurance?
        /// The rules in the header.
        package let policy: VaultPolicy
        /// Passcode attempts left before the limit.
        public let remainingAttempts: Int
        /// Wrong passcodes since the last success.
        package let refusedAttempts: Int
        /// Time until the next attempt is taken; nil when one may be made now.
        package let retryAfter: Duration?
        /// No passcode is taken any more: only the phrase opens.
        package let isPasscodeClosed: Bool
        /// As ``Vault/leavesHardware``.
        package let leavesHardware: Bool
        /// What can be told about the security log.
        package let log: LogStatus
    }

    /// - Throws: `damaged`, `newerVersion`, `inputOutput`.
    public func status() throws(VaultError) -> Status { try status(of: HeaderFile.read(in: home)) }

    /// Finds the vault in a folder, and what can be told about it by the header that was read for that.
    /// - Returns: The vault; its status, or what ``status()`` would throw.
    /// - Throws: As ``init(at:minima:wipeTargets:)``.
    package static func found(
        at path: String, settings: VaultSettings = .standard
    ) throws(VaultError) -> (vault: Vault, status: Result<Status, VaultError>) {
        var header: Header?
        let vault = try Vault(at: path, settings: settings, reading: &header)
        let status = Result { () throws(VaultError) in
            if let header { try vault.status(of: header) } else { try vault.status() }
        }
        return (vault, status)
    }

    private func status(of header: Header) throws(VaultError) -> Status {
        let now = settings.clock.now()
        let budget = try AttemptLedger.peek(in: home, vault: header.vault, policy: header.policy, now: now)
        let decision = budget.decision(at: now)
        var retryAfter: Duration?
        if case .delayed(let milliseconds) = decision { retryAfter = .milliseconds(milliseconds) }
        return Status(
            id: header.vault, path: home.path, formatVersion: Header.formatVersion, created: header.created,
            slots: header.slots.map(\.kind), derivation: header.passcodeSlot?.derivation,
            hasHardwareShare: header.passcodeSlot?.flags.contains(.hardwareShare) ?? false,
            passcodeAssurance: passcodeAssurance(header), hasPIN: header.pinSlot != nil,
            pinAssurance: header.pinSlot != nil && settings.tier != nil ? assurance(of: header.pinSlot) : nil,
            policy: header.policy,
            remainingAttempts: budget.remaining, refusedAttempts: Int(budget.refused), retryAfter: retryAfter,
            isPasscodeClosed: decision == .closed || decision == .destroy,
            leavesHardware: standing(of: header) == .unsettled, log: LogStatus(log.status()))
    }

    private func passcodeAssurance(_ header: Header) -> Assurance? {
        guard let slot = header.passcodeSlot else { return nil }
        return slot.flags.contains(.hardwareShare) && settings.tier == nil ? nil : assurance(of: slot)
    }
}

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
