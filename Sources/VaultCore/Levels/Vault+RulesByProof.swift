package import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

// Rules of a vault without a passcode: no slot of it is bound to them, so its strongest proof changes them.
extension Vault {
    /// As ``changePolicy(passcode:spending:_:)``, for a vault without a passcode.
    /// - Parameters:
    ///   - proof: The strongest that the vault has; it is used up.
    ///   - canAskOwner: Whether the device can ask its owner: then a change needs the owner's confirmation.
    ///   - change: Edits the rules as they are. Self-destruct is not switched here: that takes a countdown.
    /// - Throws: `proofTooWeak`, also for a vault with a passcode; `proofExpired`, `locked`, `movedElsewhere`,
    ///   `invalidPolicy`, `hardwareUnclaimed`, and what writing and `change` can throw.
    /// - Returns: The rules that hold now.
    @discardableResult
    package func changePolicy(
        proving proof: consuming Proof, canAskOwner: Bool,
        _ change: (inout VaultPolicy) throws(VaultError) -> Void
    ) throws(VaultError) -> VaultPolicy {
        try editPolicy(proving: proof, canAskOwner) { policy throws(VaultError) in
            try Vault.editKeepingSelfDestruct(&policy, change)
        }
    }

    /// As ``changeSelfDestruct(to:passcode:spending:approve:)``, for a vault without a passcode.
    /// - Throws: As ``changePolicy(proving:canAskOwner:_:)``, and what `approve` throws.
    @discardableResult
    package func changeSelfDestruct(
        to isOn: Bool, proving proof: consuming Proof, approve: () throws(VaultError) -> Void
    ) throws(VaultError) -> WipeReceiptKey? {
        var carried: Proof? = consume proof
        return try switchSelfDestruct(to: isOn) { edit throws(VaultError) in
            guard let proof = carried.take() else { throw .proofTooWeak }
            // At the level that asks nobody there is nothing to guess, so nobody is never a proof here.
            _ = try editPolicy(proving: proof, true) { policy throws(VaultError) in
                try approve()
                try edit(&policy)
            }
        }
    }

    private func editPolicy(
        proving proof: consuming Proof, _ canAskOwner: Bool,
        _ change: (inout VaultPolicy) throws(VaultError) -> Void
    ) throws(VaultError) -> VaultPolicy {
        guard let opening = gate.current else { throw .locked }
        let way = proof.way
        let master = try proof.redeem(for: opening, at: settings.clock.now())
        var locked = try LockedHeader(in: home)
        let old = locked.header
        let keys = try HeaderKeys(master: master, vault: old.vault)
        guard keys.authenticates(old) else { throw .movedElsewhere }
        // Slots that are bound to the rules are wrapped anew with their secrets, which nobody gave here.
        guard old.passcodeSlot == nil, old.pinSlot == nil,
            RequiredProof(RequiredProof.Facts(old, canAskOwner: canAskOwner)).ways.contains(way)
        else { throw .proofTooWeak }
        var header = old
        try change(&header.policy)
        if let obstacle = header.obstacle(to: header.policy) {
            throw VaultError(.invalidPolicy, "\(obstacle); nothing was changed")
        }
        do throws(FormatError) {
            _ = try header.policy.encoded()
        } catch { throw VaultError(invalidPolicy: error) }
        guard header.policy != old.policy else { return old.policy }
        let standing = standing(of: header, [keys.noteKey])
        if standing == .own { try followAnchor(header, ledger: 0) }
        try claim(&header, standing, keys)
        try locked.replace(header) { covered throws(VaultError) in try keys.mac(covered) }
        followDestruction(of: header.policy)
        if standing == .own { try? followAnchor(locked.header, ledger: 0) }
        let proved = opening.keys.admission.assurance
        let next = try open(locked.header, master: master, proving: proved)
        gate.replace(opening, with: try UnlockedVault(next, in: home))
        let changed = SecurityEvent.policyChanged(LogRules(from: old.policy, to: header.policy))
        note(Success(changed, after: budget(locked.header)), next)
        return header.policy
    }
}

extension Header {
    /// As ``VaultPolicy/obstacle(at:)``, for rules that are to stand in this header: also whether somebody can open the
    /// vault.
    func obstacle(to policy: VaultPolicy) -> String? {
        if let obstacle = policy.obstacle(at: level) { return obstacle }
        guard deviceSlot == nil, passcodeSlot == nil, pinSlot == nil, !ownerSlots.isEmpty else { return nil }
        // The slot that is kept has no age, and proves what its store gives: more is never had from it.
        let isOpen = OwnerStep.allCases.contains { step in
            guard policy.asks(for: step), let rule = policy.fallback[step.fallback] else { return false }
            return rule.withinHours == nil && rule.assurance <= .presence
        }
        return isOpen ? nil : "no step would open the vault: it has no passcode, and the device's owner must be asked"
    }
}
