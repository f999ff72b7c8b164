package import Cryptography
internal import DeviceOwner
package import SecretMemory
package import VaultCore
package import VaultFormat
package import VaultStorage

/// How far the vault has grown, and its next step. Each change makes new keys; what is stored moves to them in
/// ``VaultCore/Vault/finishRekey(progress:)``.
extension AppLock {
    /// Opens the vault the way its level wants it: without asking, or by the owner's steps in the order of the rules, each of
    /// which leads to the next as they say. A passcode or phrase is asked for by the app.
    /// - Returns: How it was opened; nil where nobody was asked.
    /// - Throws: `passcodeNeeded` once only a secret is left; `cancelled`; as ``unlock(by:_:)`` and
    ///   ``VaultCore/Vault/openByDevice(accepting:)``.
    @discardableResult
    package func unlock(_ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) -> UnlockMethod? {
        if try vault.protection().level == .device {
            if !vault.isUnlocked { try await openByDevice() }
            return nil
        }
        var outcomes: [FallbackFacts.Asked] = []
        var last: VaultError?
        while true {
            let decision = FallbackDecision(try await facts(outcomes))
            guard case .ask(let step) = decision.action,
                let owner = OwnerStep.allCases.first(where: { $0.fallback == step })
            else { throw last ?? .passcodeNeeded(.noPasscode) }
            do throws(VaultError) {
                try await unlock(by: owner, prompts)
                return .owner(owner)
            } catch {
                guard let outcome = StepOutcome(of: error, by: owner) else { throw error }
                // The same is not asked twice by itself, and a cancel is a refusal.
                guard !outcome.isCancel, !outcomes.contains(where: { $0.step == step }) else { throw error }
                outcomes.append(FallbackFacts.Asked(step, outcome))
                last = error
            }
        }
    }

    private func openByDevice() async throws(VaultError) {
        let vault = vault
        let opened = await OwnerThread.run {
            Result { () throws(VaultError) in try vault.openByDevice() }
        }
        guard let opened else { throw VaultError(.busy, "the system has no thread left") }
        try opened.get()
        adoptSettings()
    }

    private func facts(_ outcomes: [FallbackFacts.Asked]) async throws(VaultError) -> FallbackFacts {
        let status = try vault.status()
        var owner: [OwnerStep: OwnerCapability] = [:]
        for step in OwnerStep.allCases {
            let obstacle = try vault.ownerObstacle(step)
            owner[step] = if let obstacle { .missing(obstacle.reason) } else { await ownerCapability(of: step) }
        }
        let capabilities = [FallbackStep: StepCapability](status, owner: owner)
        return FallbackFacts(policy: status.policy, capabilities: capabilities, outcomes: outcomes)
    }

    // MARK: changes

    /// The switch: from now on the device's owner is asked, with a face, a finger or the device's passcode. It throws, with
    /// nothing changed, if the owner did not confirm: put the switch back and show the error.
    /// - Throws: `ownerNotEnrolled` and its like where the device cannot ask its owner, `notConfirmed`, `cancelled`, `timedOut`,
    ///   `locked`; as ``VaultCore/Vault/change(to:proving:)``.
    package func requireOwner(_ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) {
        let (steps, obstacle) = await ownerSteps()
        guard !steps.isEmpty else { throw VaultError(obstacle ?? .missing("this device cannot ask its owner")) }
        // The device's passcode is the way that remains where biometrics are changed or erased.
        let asked: OwnerStep = steps.contains(.biometrics) ? .biometrics : .devicePasscode
        let authenticator = authenticator
        let enrollment = await OwnerThread.run {
            steps.contains(.biometrics) ? authenticator.enrollment(of: .biometrics) : nil
        }
        let box = try await confirmForChange(asked, prompts)
        guard let release = box.take() else { throw .locked }
        var wish = LevelWish(.owner)
        wish.owner = LevelWish.Owner(steps, enrollment: enrollment ?? nil, release)
        try vault.change(to: wish, proving: vault.proveNobody())
        await noteOwner().value
        adoptSettings()
    }

    /// Higher: a passcode of the vault's own.
    /// - Parameters:
    ///   - passcode: 1 to 1,024 bytes.
    ///   - proof: The strongest way that is there now.
    ///   - phrase: The vault's words, typed or shown in this change; without them the vault has none afterwards.
    /// - Throws: As ``VaultCore/Vault/change(to:proving:)``.
    package func requirePasscode(
        _ passcode: consuming SecretBytes, proving proof: consuming Proof, phrase: consuming RecoveryPhrase? = nil
    ) throws(VaultError) {
        var wish = LevelWish(.secret)
        wish.passcode = consume passcode
        wish.phrase = consume phrase
        try vault.change(to: wish, proving: proof)
        adoptSettings()
    }

    /// The switch off: from now on nobody is asked.
    /// - Parameter proof: The strongest way that is there now.
    /// - Throws: As ``VaultCore/Vault/change(to:proving:)``; `invalidPolicy` while self-destruct is on.
    package func stopAsking(proving proof: consuming Proof) throws(VaultError) {
        try vault.change(to: LevelWish(.device), proving: proof)
        adoptSettings()
    }

    /// The owner as a proof for one change: asked for this alone.
    /// - Throws: As ``unlock(by:_:)``; nothing is counted.
    package func prove(by step: OwnerStep, _ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) -> Proof {
        guard vault.isUnlocked else { throw .locked }
        guard ownerPrompt == nil else { throw VaultError(.busy, "another prompt is up") }
        let (vault, authenticator) = (vault, authenticator)
        let answer = await answer(to: .rehearsal, prompts) { talk in
            Result { () throws(VaultError) in
                OwnerReleaseBox(try authenticator.confirm(step, vault.ownerKeeper, talk))
            }
        }
        guard vault.isUnlocked, let release = try answer.get().take() else { throw .locked }
        return try vault.prove(release)
    }

    private func confirmForChange(
        _ step: OwnerStep, _ prompts: OwnerPrompts
    ) async throws(VaultError) -> OwnerReleaseBox {
        guard vault.isUnlocked else { throw .locked }
        guard ownerPrompt == nil else { throw VaultError(.busy, "another prompt is up") }
        let authenticator = authenticator
        let answer = await answer(to: .rehearsal, prompts) { talk in
            Result { () throws(VaultError) in OwnerReleaseBox(try authenticator.confirmAnew(step, talk)) }
        }
        guard vault.isUnlocked else { throw .locked }
        return try answer.get()
    }

    /// Ways of the owner that can be asked now, and why one cannot.
    private func ownerSteps() async -> (Set<OwnerStep>, OwnerCapability?) {
        var steps: Set<OwnerStep> = []
        var obstacle: OwnerCapability?
        for step in OwnerStep.allCases {
            let capability = await ownerCapability(of: step)
            if capability == .available { steps.insert(step) } else { obstacle = obstacle ?? capability }
        }
        return (steps, obstacle)
    }
}

extension StepOutcome {
    /// How a step of the owner ended; nil for what is no end of a step.
    fileprivate init?(of error: VaultError, by step: OwnerStep) {
        switch error.code {
        case .notConfirmed: self = step == .biometrics ? .biometricFailed : .wrongSecret
        case .cancelled: self = .cancelled
        case .ownerNotEnrolled: self = .notEnrolled
        case .ownerLockedOut: self = .systemLockout
        case .ownerBusy: self = .hardwareBusy
        case .timedOut, .ownerUnavailable, .passcodeNeeded, .shareLost, .shareUnavailable: self = .unavailable
        default: return nil
        }
    }
}
