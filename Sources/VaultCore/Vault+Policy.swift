internal import KeyStores
package import SecretMemory
package import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

extension Vault {
    /// Changes the rules in the authenticated header. The passcode slot is bound to them, so the passcode is needed; an
    /// edit by anything else makes even the right one fail.
    ///
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    ///   - change: Edits the rules as they are. Self-destruct is not switched here: that takes a countdown.
    /// - Throws: `invalidPolicy` for rules outside their range or another self-destruct, with nothing changed; what
    ///   ``unlock(passcode:spending:evenIfDamaged:)``, writing and `change` can throw.
    /// - Returns: The rules that hold now.
    @discardableResult
    package func changePolicy(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt,
        _ change: (inout VaultPolicy) throws(VaultError) -> Void
    ) throws(VaultError) -> VaultPolicy {
        try changePolicy(passcode: passcode, spending: attempt, renewingOwner: false, change)
    }

    /// As ``changePolicy(passcode:spending:_:)``, and makes the owner's way in anew, where the rules that hold now take
    /// one: the passcode was right just now. The caller records what is enrolled.
    @discardableResult
    package func changePolicy(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, renewingOwner renews: Bool,
        _ change: (inout VaultPolicy) throws(VaultError) -> Void
    ) throws(VaultError) -> VaultPolicy {
        try editPolicy(passcode, spending: attempt, renewsOwner: renews) { policy throws(VaultError) in
            try Vault.editKeepingSelfDestruct(&policy, change)
        }
    }

    static func editKeepingSelfDestruct(
        _ policy: inout VaultPolicy, _ change: (inout VaultPolicy) throws(VaultError) -> Void
    ) throws(VaultError) {
        let isOn = policy.selfDestruct
        try change(&policy)
        guard policy.selfDestruct == isOn else {
            throw VaultError(.invalidPolicy, "self-destruct is switched with its own countdown; nothing was changed")
        }
    }

    /// Switches self-destruct; the countdown and the first authentication before it are the caller's part. Switching it
    /// on makes the key that will sign the receipt, switching it off destroys that key.
    ///
    /// - Parameters:
    ///   - isOn: What shall hold.
    ///   - approve: Asked at the last moment, when the passcode was found right and nothing is written yet.
    /// - Throws: As ``changePolicy(passcode:spending:_:)``, and what `approve` throws.
    /// - Returns: The receipt's key while self-destruct is on.
    @discardableResult
    package func changeSelfDestruct(
        to isOn: Bool, passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt,
        approve: () throws(VaultError) -> Void
    ) throws(VaultError) -> WipeReceiptKey? {
        var carried: BurnedAttempt? = consume attempt
        return try switchSelfDestruct(to: isOn) { edit throws(VaultError) in
            guard let attempt = carried.take() else { throw .proofTooWeak }
            _ = try editPolicy(passcode, spending: attempt) { policy throws(VaultError) in
                try approve()
                try edit(&policy)
            }
        }
    }

    /// - Parameter change: Makes an edit of the rules hold; at most once.
    func switchSelfDestruct(
        to isOn: Bool,
        _ change: (_ edit: (inout VaultPolicy) throws(VaultError) -> Void) throws(VaultError) -> Void
    ) throws(VaultError) -> WipeReceiptKey? {
        let vault = try id
        var isKeyMade = false
        var noted: HardwareOwner?
        do throws(VaultError) {
            try change { policy throws(VaultError) in
                guard policy.selfDestruct != isOn else { return }
                // Before the rule: a vault that destroys itself always has its key, and a key store never remembers one
                // that does not.
                if isOn {
                    _ = try ReceiptKeyFile.make(in: home, vault: vault, origin: .enabled)
                    isKeyMade = true
                    noted = try noteDestruction(policy)
                } else {
                    let genuine = try HeaderFile.read(in: home).owner
                    let stored = WipeKeyFile.owner(in: home, vault: vault)
                    for owner in [genuine] + (stored == genuine ? [] : [stored].compactMap { $0 }) {
                        try forgetDestruction(of: owner)
                    }
                }
                policy.selfDestruct = isOn
            }
        } catch {
            // The rule may hold in spite of the error; then its key does too, and so does what is remembered.
            if let policy = try? HeaderFile.read(in: home).policy {
                if isKeyMade, !policy.selfDestruct {
                    try? ReceiptKeyFile.destroy(in: home)
                    try? forgetDestruction(of: noted)
                }
                followDestruction(of: policy)
            }
            throw error
        }
        // The change has made the home one of its own.
        if let noted, noted != WipeKeyFile.owner(in: home, vault: vault) { try? forgetDestruction(of: noted) }
        log.append(.selfDestruct(isOn ? .enabled : .disabled))
        if !isOn { try? ReceiptKeyFile.destroy(in: home) }
        return try wipeReceiptKey
    }

    private func editPolicy(
        _ passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, renewsOwner: Bool = false,
        _ change: (inout VaultPolicy) throws(VaultError) -> Void
    ) throws(VaultError) -> VaultPolicy {
        let verified = try verifyForChange(passcode, spending: &attempt)
        // Counts from before must not meet new rules: at their limit the next start would destroy the vault.
        if let unsettled = verified.unsettled { throw unsettled }
        var header = attempt.header.header
        try change(&header.policy)
        if let obstacle = header.obstacle(to: header.policy) {
            throw VaultError(.invalidPolicy, "\(obstacle); nothing was changed")
        }
        do throws(FormatError) {
            _ = try header.policy.encoded()
        } catch { throw VaultError(invalidPolicy: error) }
        guard header.policy != attempt.header.header.policy else {
            if renewsOwner { renewOwner(verified.master, header) }
            return header.policy
        }
        guard let costs = header.passcodeSlot?.derivation else { throw .noPasscode }
        verified.keys.complete(&header)
        try claim(&header, verified.standing, verified.keys.headerKeys)
        let endsPIN = try header.fitPINSlot(verified.master, limit: attempt.header.header.policy.attemptLimit)
        let changed = SecurityEvent.policyChanged(LogRules(from: attempt.header.header.policy, to: header.policy))
        let maker = try tier(of: header.passcodeSlot).map { shareMaker($0, header, verified.keys) }
        header.set(
            try Vault.passcodeSlot(passcode, costs: costs, wrapping: verified.master, header: header, maker))
        try replace(&attempt, with: header, noting: changed, verified.keys) { covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
        followDestruction(of: header.policy)
        if endsPIN { log.append(.pinSet(isThere: false)) }
        if renewsOwner { renewOwner(verified.master, attempt.header.header) }
        // Processes that have it unlocked continue under the new policy.
        if let open = gate.current {
            let proved = max(open.keys.admission.assurance, verified.keys.admission.assurance)
            let keys = try self.open(attempt.header.header, master: verified.master, proving: proved)
            gate.replace(open, with: try UnlockedVault(keys, in: home))
        }
        return header.policy
    }
}

extension VaultError {
    init(invalidPolicy error: FormatError) {
        switch error {
        case .invalid(let field): self.init(.invalidPolicy, "\(field) is outside what is allowed; nothing was changed")
        case .headerFull: self.init(.invalidPolicy, "these rules are too long for the header; nothing was changed")
        default: self.init(error, in: HeaderFile.name)
        }
    }
}
