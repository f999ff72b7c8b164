public import Cryptography
internal import DeviceOwner
public import SecretMemory
public import VaultCore
public import VaultFormat
public import VaultStorage

/// How far the vault has grown, and its next step. Each change makes new keys; what is stored moves to them in
/// ``VaultCore/Vault/finishRekey(progress:)``, which the app calls afterwards, off the main thread.
extension AppLock {
    /// Opens the vault the way its level wants it: without asking, or by the device owner's steps in the order of the
    /// rules, each of which leads to the next as they say. A passcode or phrase is asked for by the app.
    /// - Returns: How it was opened; nil where nobody was asked.
    /// - Throws: `passcodeNeeded` once only a secret is left; `cancelled`; as ``unlock(by:_:)``; `shareUnavailable`,
    ///   `shareLost`, `levelLowered` (then ``acceptVault(_:)``), `levelContradicted`.
    @discardableResult
    public func unlock(_ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) -> UnlockMethod? {
        try await unlock(prompts, accepting: false)
    }

    /// Opens a vault that is another one than the device remembers, or less protected (`levelLowered`), once the user
    /// has said that this is right. The device's owner confirms it where the device can ask.
    /// - Throws: As ``unlock(_:)-(OwnerPrompts)``.
    @discardableResult
    public func acceptVault(_ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) -> UnlockMethod? {
        try await unlock(prompts, accepting: true)
    }

    private func unlock(
        _ prompts: OwnerPrompts, accepting accepts: Bool
    ) async throws(VaultError) -> UnlockMethod? {
        if try vault.protection().level == .device {
            guard !vault.isUnlocked || machine.isShut else { return nil }
            if accepts, let step = await ownerSteps().steps.preferred { _ = try await confirmed(step, prompts) }
            try await openByDevice(accepting: accepts)
            return nil
        }
        var outcomes: [FallbackFacts.Asked] = []
        var last: VaultError?
        allowsOpenCompartment = false
        while true {
            let action = FallbackDecision(try await facts(outcomes)).action
            if action == .useOpenCompartment { allowsOpenCompartment = true }
            guard case .ask(let step) = action,
                let owner = OwnerStep.allCases.first(where: { $0.fallback == step })
            else { throw last ?? .passcodeNeeded(.noPasscode) }
            prompts.begin(owner)
            // The prompt's own button is there where the rules have another step after this.
            let wish = OtherWish()
            var asked = prompts
            asked.other = try await leadsOn(outcomes, from: step) ? wish : nil
            do throws(VaultError) {
                try await unlock(by: owner, asked, accepting: accepts)
                return .owner(owner)
            } catch {
                guard let ended = StepOutcome(of: error, by: owner) else { throw error }
                let outcome = ended.isCancel && wish.isMade ? .requestedOther : ended
                // The same is not asked twice by itself.
                guard !outcomes.contains(where: { $0.step == step }) else { throw error }
                // A cancel is a refusal: it leads to the open compartment at most, where the rules say so.
                outcomes.append(FallbackFacts.Asked(step, outcome))
                last = error
            }
        }
    }

    /// Whether another step of the device's owner follows where the user asks for another way.
    private func leadsOn(
        _ outcomes: [FallbackFacts.Asked], from step: FallbackStep
    ) async throws(VaultError) -> Bool {
        let requested = outcomes + [FallbackFacts.Asked(step, .requestedOther)]
        guard case .ask(let next) = FallbackDecision(try await facts(requested)).action else { return false }
        return next.isJudgedBySystem
    }

    private func openByDevice(accepting accepts: Bool) async throws(VaultError) {
        let vault = vault
        let prompt = try beginPrompt(.authenticateUncounted)
        let answer = await OwnerThread.run {
            Result { () throws(VaultError) in try vault.openByDevice(accepting: accepts) }
        }
        do throws(VaultError) {
            guard let answer else { throw VaultError(.busy, "the system has no thread left") }
            try answer.get()
        } catch { throw refused(prompt, error) }
        try opened(prompt, by: nil)
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

    /// The switch: from now on the device's owner is asked, with a face, a finger or the device's passcode. It throws,
    /// with nothing changed, if the owner did not confirm: put the switch back and show the error.
    /// - Parameters:
    ///   - prompts: What the app shows while the system asks.
    ///   - phrase: The vault's words, where the user has typed them for this change; without them an earlier phrase no
    ///     longer opens the vault, and the app says so first.
    ///   - hardware: What the user said of a folder whose own key is missing or another one (`hardwareUnclaimed`).
    /// - Throws: `ownerNotEnrolled` and its like where the device cannot ask its owner; `notConfirmed`, `cancelled`,
    ///   `timedOut`; `proofTooWeak` where the vault has a passcode: use ``requireOwner(_:proving:phrase:hardware:)``;
    ///   `stillMoving`, `movedElsewhere`, `shareUnavailable`, `hardwareUnclaimed`, `locked`, `busy`.
    ///
    /// It also ends that a vault's rules contradict its slots (`levelContradicted`): the lock stays shut then.
    public func requireOwner(
        _ prompts: OwnerPrompts = OwnerPrompts(), phrase: consuming RecoveryPhrase? = nil,
        hardware: HardwareDecision? = nil
    ) async throws(VaultError) {
        try await keepForChange()
        let wish = try await ownerWish(prompts, phrase: phrase, hardware)
        // The owner has just confirmed, and the new share is read back with that.
        let protection = try vault.protection()
        guard protection.ways.contains(.device) else { throw .proofTooWeak }
        try change(to: wish, proving: vault.proveNobody())
        await noteOwner().value
    }

    /// As ``requireOwner(_:phrase:hardware:)``, for a vault with a passcode, which is asked for no more afterwards.
    /// - Parameters:
    ///   - prompts: What the system's prompt says.
    ///   - proof: ``prove(passcode:)`` or ``prove(phrase:)``.
    ///   - phrase: The recovery phrase that the vault keeps; without it the vault has none afterwards.
    ///   - hardware: As for ``requireOwner(_:phrase:hardware:)``.
    public func requireOwner(
        _ prompts: OwnerPrompts = OwnerPrompts(), proving proof: consuming Proof,
        phrase: consuming RecoveryPhrase? = nil, hardware: HardwareDecision? = nil
    ) async throws(VaultError) {
        let wish = try await ownerWish(prompts, phrase: phrase, hardware)
        try change(to: wish, proving: proof)
        await noteOwner().value
    }

    /// Higher: a passcode of the vault's own. Where the device can ask its owner, they confirm it.
    /// - Parameters:
    ///   - passcode: 1 to 1,024 bytes.
    ///   - prompts: What the app shows while the system asks.
    ///   - phrase: As for ``requireOwner(_:phrase:hardware:)``.
    ///   - hardware: As there.
    /// - Throws: As there; `invalidPasscode`.
    public func requirePasscode(
        _ passcode: consuming SecretBytes, _ prompts: OwnerPrompts = OwnerPrompts(),
        phrase: consuming RecoveryPhrase? = nil, hardware: HardwareDecision? = nil
    ) async throws(VaultError) {
        try await keepForChange()
        let proof = try await strongestProof(prompts, hardware)
        var wish = LevelTarget(.secret)
        wish.passcode = consume passcode
        wish.phrase = consume phrase
        wish.canAskOwner = proof.way == .owner
        wish.hardware = hardware
        try change(to: wish, proving: proof)
    }

    /// The switch off: from now on nobody is asked. The owner confirms it; a vault with a passcode wants
    /// ``stopAsking(proving:hardware:)``. Of a vault that asks nobody already it makes the keys and the share anew.
    /// - Throws: As ``requireOwner(_:phrase:hardware:)``; `invalidPolicy` while self-destruct is on.
    public func stopAsking(
        _ prompts: OwnerPrompts = OwnerPrompts(), hardware: HardwareDecision? = nil
    ) async throws(VaultError) {
        try await keepForChange()
        try stopAsking(proving: await strongestProof(prompts, hardware), hardware: hardware)
    }

    /// As ``stopAsking(_:hardware:)``, with a proof that is at hand.
    /// - Parameters:
    ///   - proof: ``prove(passcode:)``, ``prove(phrase:)`` or ``prove(by:_:)``.
    ///   - hardware: As for ``requireOwner(_:phrase:hardware:)``.
    public func stopAsking(
        proving proof: consuming Proof, hardware: HardwareDecision? = nil
    ) throws(VaultError) {
        var wish = LevelTarget(.device)
        wish.canAskOwner = proof.way == .owner
        wish.hardware = hardware
        try change(to: wish, proving: proof)
    }

    /// New keys at the level where the vault stands, so that old copies of its header open nothing that is written from
    /// now on. A vault with a passcode wants ``rekey(passcode:newPasscode:phrase:isNewPhrase:)``.
    /// - Parameters:
    ///   - prompts: What the app shows while the system asks.
    ///   - phrase: As for ``requireOwner(_:phrase:hardware:)``.
    /// - Throws: As there; `proofTooWeak` where the vault has a passcode.
    public func rekey(
        _ prompts: OwnerPrompts = OwnerPrompts(), phrase: consuming RecoveryPhrase? = nil
    ) async throws(VaultError) {
        let proof = try await strongestProof(prompts)
        guard try vault.protection().level == .device else {
            return try await requireOwner(prompts, proving: proof, phrase: phrase)
        }
        var wish = LevelTarget(.device)
        wish.canAskOwner = proof.way == .owner
        wish.phrase = consume phrase
        try change(to: wish, proving: proof)
    }

    /// Says that the folder is the vault itself, where another key than its own lies in it (`hardwareUnclaimed`): its
    /// own is put back. For a vault without a passcode; a copy says `leave` in its next change of the level.
    /// - Throws: `proofTooWeak` where the vault has a passcode: ``claimHardware(passcode:)``; as ``prove(by:_:)``;
    ///   `damaged` where the header has another home's key.
    public func claimHardware(_ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) {
        try await keepForChange()
        let proof = try await strongestProof(prompts, .claim)
        let canAskOwner = proof.way == .owner
        try vault.claimHardware(proving: proof, canAskOwner: canAskOwner)
    }

    /// A recovery phrase for this vault, which opens nothing until ``RecoveryPhraseIssue/confirm(_:)``: show it, let
    /// the user write it down, and confirm that.
    /// - Throws: `locked`, `cryptography`, `outOfMemory`.
    public func issueRecoveryPhrase() throws(VaultError) -> RecoveryPhraseIssue {
        guard vault.isUnlocked else { throw .locked }
        return RecoveryPhraseIssue(try Vault.newRecoveryPhrase(), self)
    }

    func enroll(_ phrase: RecoveryPhraseIssue, _ prompts: OwnerPrompts) async throws(VaultError) {
        let proof = try await strongestProof(prompts)
        let canAskOwner = proof.way == .owner
        try vault.enrollRecoveryPhrase(phrase.phrase, proving: proof, canAskOwner: canAskOwner)
        tellProtection()
    }

    func enroll(_ phrase: RecoveryPhraseIssue, proving proof: consuming Proof) throws(VaultError) {
        try vault.enrollRecoveryPhrase(phrase.phrase, proving: proof, canAskOwner: false)
        tellProtection()
    }

    /// The owner as a proof for one change: asked for this alone.
    /// - Throws: As ``unlock(by:_:)``; nothing is counted.
    public func prove(by step: OwnerStep, _ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) -> Proof {
        let (vault, authenticator) = (vault, authenticator)
        let release = try await asked(prompts) { talk throws(VaultError) in
            try authenticator.confirm(step, vault.ownerKeeper, talk)
        }
        return try vault.prove(release)
    }

    /// Proves in the strongest way that needs no typing in the app: the device's owner is asked, for this alone;
    /// nobody, at ``VaultFormat/VaultLevel/device`` on a device that cannot ask.
    /// - Throws: `proofTooWeak` where the vault has a passcode: ``prove(passcode:)``; as ``prove(by:_:)``.
    public func prove(_ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) -> Proof {
        guard vault.isUnlocked else { throw .locked }
        return try await strongestProof(prompts)
    }

    /// As ``changePolicy(passcode:_:)``, for a vault without a passcode.
    /// - Parameters:
    ///   - proof: ``prove(_:)``; it is used up.
    ///   - change: Edits the rules as they are. Self-destruct is not switched here: that takes a countdown
    ///     (``begin(_:proving:countdown:)``).
    /// - Throws: `proofTooWeak` where the vault has a passcode; `proofExpired`, `locked`, `movedElsewhere`;
    ///   `invalidPolicy` for rules outside their range, with nothing changed; what writing and `change` throw.
    /// - Returns: The rules that are now in effect.
    @discardableResult
    public func changePolicy(
        proving proof: consuming Proof, _ change: @Sendable (inout VaultPolicy) throws(VaultError) -> Void
    ) async throws(VaultError) -> VaultPolicy {
        let canAskOwner = await canAskOwner(proof.way)
        let policy = try vault.changePolicy(proving: proof, canAskOwner: canAskOwner, change)
        adoptSettings()
        return policy
    }

    // MARK: parts

    /// Whether the device can ask its owner: where it can, nobody is no proof.
    func canAskOwner(_ given: Proof.Way) async -> Bool {
        if given == .owner { return true }
        return await !ownerSteps().steps.isEmpty
    }

    /// The strongest way that needs nothing typed into the app.
    /// - Parameter hardware: What the user said of a folder whose key is not its own.
    private func strongestProof(
        _ prompts: OwnerPrompts, _ hardware: HardwareDecision? = nil
    ) async throws(VaultError) -> Proof {
        let ways = try vault.protection().ways
        let (steps, _) = await ownerSteps()
        if ways.contains(.device) {
            guard let step = steps.preferred else { return try vault.proveNobody() }
            let release = try await confirmed(step, prompts)
            return try vault.proveOwner(atDevice: release, after: steps, hardware: hardware)
        }
        guard !ways.contains(.passcode), ways.contains(.owner), let step = steps.preferred else { throw .proofTooWeak }
        return try await prove(by: step, prompts)
    }

    private func ownerWish(
        _ prompts: OwnerPrompts, phrase: consuming RecoveryPhrase?, _ hardware: HardwareDecision?
    ) async throws(VaultError) -> LevelTarget {
        let (steps, obstacle) = await ownerSteps()
        // The device's passcode is the way that remains where biometrics are changed or erased.
        guard let step = steps.preferred else {
            throw VaultError(obstacle ?? .missing("this device cannot ask its owner"))
        }
        let authenticator = authenticator
        let enrollment = await OwnerThread.run {
            steps.contains(.biometrics) ? authenticator.enrollment(of: .biometrics) : nil
        }
        let release = try await confirmed(step, prompts)
        var wish = LevelTarget(.owner)
        wish.owner = LevelTarget.Owner(steps, enrollment: enrollment ?? nil, release)
        wish.phrase = consume phrase
        wish.hardware = hardware
        return wish
    }

    /// A vault whose rules contradict its slots can be changed, and nothing else.
    private func keepForChange() async throws(VaultError) {
        let vault = vault
        guard !vault.isChangeable else { return }
        let answer = await OwnerThread.run { Result { () throws(VaultError) in try vault.keepForChange() } }
        guard let answer else { throw VaultError(.busy, "the system has no thread left") }
        try answer.get()
    }

    private func change(to wish: consuming LevelTarget, proving proof: consuming Proof) throws(VaultError) {
        try vault.change(to: wish, proving: proof)
        adoptSettings()
        tellProtection()
    }

    /// Asks the owner for a change, with a share that was drawn for it.
    private func confirmed(_ step: OwnerStep, _ prompts: OwnerPrompts) async throws(VaultError) -> OwnerRelease {
        let authenticator = authenticator
        return try await asked(prompts) { talk throws(VaultError) in try authenticator.confirmAnew(step, talk) }
    }

    private func asked(
        _ prompts: OwnerPrompts,
        _ ask: @escaping @Sendable (OwnerPromptTalk) throws(VaultError) -> OwnerRelease
    ) async throws(VaultError) -> OwnerRelease {
        let wasOpen = vault.isChangeable
        guard ownerPrompt == nil else { throw VaultError(.busy, "another prompt is up") }
        let answer = await answer(to: wasOpen ? .change : .rehearsal, prompts) { talk in
            Result { () throws(VaultError) in OwnerReleaseBox(try ask(talk)) }
        }
        guard vault.isChangeable == wasOpen, let release = try answer.get().take() else { throw .locked }
        return release
    }

    /// Ways of the owner that can be asked now, and why one cannot.
    private func ownerSteps() async -> (steps: Set<OwnerStep>, obstacle: OwnerCapability?) {
        var steps: Set<OwnerStep> = []
        var obstacle: OwnerCapability?
        for step in OwnerStep.allCases {
            let capability = await ownerCapability(of: step)
            if capability == .available { steps.insert(step) } else { obstacle = obstacle ?? capability }
        }
        return (steps, obstacle)
    }
}

extension Set<OwnerStep> {
    /// A finger or a face before the device's passcode.
    fileprivate var preferred: OwnerStep? { contains(.biometrics) ? .biometrics : first }
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

/// A recovery phrase that the user is shown and that opens nothing yet.
///
/// ```swift
/// let issue = try await app.lock.issueRecoveryPhrase()
/// issue.phrase.withText { words in show(words) }
/// try await issue.confirm()                              // the user pressed "I wrote it down"
/// ```
///
/// Dropped without ``confirm(_:)``, it was never the vault's.
public final class RecoveryPhraseIssue: Sendable {
    /// The 24 words.
    public let phrase: RecoveryPhrase
    private let lock: AppLock

    init(_ phrase: consuming RecoveryPhrase, _ lock: AppLock) {
        self.phrase = phrase
        self.lock = lock
    }

    /// The user has written the words down: from now on they open the vault. The device's owner confirms it, where the
    /// device can ask; the time for that begins now and not when the words were shown.
    /// - Throws: As ``AppLock/requireOwner(_:phrase:hardware:)``; `proofTooWeak` where the vault has a passcode.
    public func confirm(_ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) {
        try await lock.enroll(self, prompts)
    }

    /// As ``confirm(_:)``, for a vault with a passcode.
    /// - Parameter proof: ``AppLock/prove(passcode:)`` or, for another phrase in place of one,
    ///   ``AppLock/prove(phrase:)``.
    public func confirm(proving proof: consuming Proof) async throws(VaultError) {
        try await lock.enroll(self, proving: proof)
    }
}
