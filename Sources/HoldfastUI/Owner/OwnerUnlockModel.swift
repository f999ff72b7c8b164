package import Holdfast
public import Observation

/// The device owner's unlock at the lock screen: which methods the policy offers now, what the running prompt says, and
/// why only the passcode is left.
///
/// The prompt starts automatically once, when the lock machine asks for it: the app was started or came back, the
/// session was unlocked. Where the device's owner is the only way, one step leads to the next by itself, as the rules
/// say. After "Lock now", and after a prompt that did not unlock, the user starts it with a button.
@MainActor @Observable
public final class OwnerUnlockModel {
    /// What the system says and asks while it looks for its owner.
    package let dialog = OwnerDialog()
    /// What may be asked for now, in the order of the rules; empty where only the passcode is left.
    package private(set) var offers: [OwnerStep] = []
    /// Whether the vault opens by its level, without a secret of its own: ``unlock()`` does that, at a button.
    package private(set) var opensByLevel = false
    /// Whether ``unlock()`` is under way.
    public private(set) var isUnlocking = false
    /// Whether the rules let the app work with the open compartment, since the last prompts opened nothing.
    package private(set) var allowsOpenCompartment = false
    /// Whether the rules take a face or a finger, and the user has not allowed this app to ask for it: the system's
    /// settings do.
    package private(set) var isDenied = false
    /// Why the vault does not open on this device, where that is no matter of a prompt.
    private(set) var stop: StopModel.Reason?
    /// What the key store waits for, where that is the reason.
    private(set) var until: ShareWait?
    /// Why the last prompt did not unlock, or why there is no prompt although the policy allows a finger or an account
    /// password; nil if there is nothing to say.
    package var problem: VaultProblem? { ending ?? obstacle }

    private var ending: VaultProblem?
    private var obstacle: VaultProblem?
    @ObservationIgnored private let app: HoldfastApp
    /// Called when a prompt ended.
    @ObservationIgnored var onEnd: @MainActor () async -> Void = {}
    /// Returns when what the lock was told before was taken.
    @ObservationIgnored var settle: @MainActor () async -> Void = {}
    @ObservationIgnored private var facts: OwnerFacts?
    @ObservationIgnored private var capabilities: [OwnerStep: OwnerCapability] = [:]
    @ObservationIgnored private var outcomes: [OwnerStep: StepOutcome] = [:]
    /// Looks at the machine that were begun; what an older one finds is not believed.
    @ObservationIgnored private var looks = 0
    @ObservationIgnored private var isLooked = false
    /// The machine's last prompt, and whether it still has to be shown.
    @ObservationIgnored private var prompt: UInt64 = 0
    @ObservationIgnored private var hasOccasion = false
    @ObservationIgnored private var isInFront = true

    init(_ app: HoldfastApp) {
        self.app = app
        stop = app.startProblem.flatMap { StopModel.Reason($0) }
        until = app.startProblem?.until
    }

    /// Whether the lock screen can be seen: a user interface that knows it keeps a prompt from taking the sensor away
    /// from others.
    package func setInFront(_ isInFront: Bool) {
        self.isInFront = isInFront
        askOnOccasion()
    }

    /// Asks the owner.
    /// - Parameter step: One of ``offers``; the first of them where none is named.
    package func ask(_ step: OwnerStep? = nil) async {
        guard dialog.step == nil, let step = step ?? offers.first, offers.contains(step) else { return }
        hasOccasion = false
        ending = nil
        let error = await dialog.run(step) { [lock = app.lock, settle] prompts throws(VaultError) in
            await settle()
            try await lock.unlock(by: step, prompts)
        }
        ending = error.flatMap { OwnerUnlockModel.problem($0, app.vault) }
        outcomes[step] = error.map { StepOutcome($0, step) }
        await onEnd()
        if facts != nil { await look() }
    }

    /// Opens the vault the way its level wants it: without asking, or by the device's owner, one step leading to the
    /// next as the rules say.
    public func unlock() async { _ = await unlock(accepting: false) }

    /// - Parameter accepts: Whether the user has said that a vault may be another one than the device remembers.
    /// - Returns: Why not; nil when it is open.
    func unlock(accepting accepts: Bool) async -> VaultProblem? {
        // The lock fell a moment ago: what holds now was not read yet.
        if facts == nil { await onEnd() }
        guard opensByLevel, let level = facts?.level, !isUnlocking, dialog.step == nil else { return .busy }
        isUnlocking = true
        hasOccasion = false
        (ending, stop) = (nil, accepts ? stop : nil)
        let ask: OwnerDialog.Ask = { [lock = app.lock, settle] prompts throws(VaultError) in
            await settle()
            if accepts { try await lock.acceptVault(prompts) } else { try await lock.unlock(prompts) }
        }
        let error: VaultError?
        if level == .device, !accepts {
            error = await OwnerUnlockModel.failure(of: ask)
        } else {
            error = await dialog.run(offers.first ?? .biometrics, ask)
        }
        allowsOpenCompartment = await app.lock.allowsOpenCompartment
        if let error {
            if let reason = StopModel.Reason(error) { (stop, until) = (reason, error.until) }
            if stop == nil { ending = OwnerUnlockModel.problem(error, app.vault) }
        } else {
            stop = nil
        }
        if error?.code == .passcodeNeeded, let nobody = unaskable { ending = .ownerUnavailable(nobody) }
        await onEnd()
        isUnlocking = false
        if facts != nil { await look() }
        return error.flatMap { OwnerUnlockModel.problem($0, app.vault) }
    }

    /// Ends that a vault's rules contradict its slots, and opens it the way its level wants it then.
    /// - Parameter asksOwner: Whether the device's owner is asked from now on; nobody otherwise.
    /// - Returns: Why not; nil when it is open.
    func settle(asksOwner: Bool) async -> VaultProblem? {
        guard !isUnlocking, dialog.step == nil else { return .busy }
        let error = await dialog.run(offers.first ?? .biometrics) { [lock = app.lock] prompts throws(VaultError) in
            if asksOwner { try await lock.requireOwner(prompts) } else { try await lock.stopAsking(prompts) }
        }
        if let error { return OwnerUnlockModel.problem(error, app.vault) ?? VaultProblem(error) }
        await onEnd()
        return await unlock(accepting: false)
    }

    private nonisolated static func failure(of ask: OwnerDialog.Ask) async -> VaultError? {
        do throws(VaultError) { try await ask(OwnerPrompts()) } catch { return error }
        return nil
    }

    /// The app was started, or the device can be asked again: a vault that opens without asking opens by itself.
    func deviceIsBack() {
        guard let facts, facts.level == .device, !facts.isShut, stop == nil || stop == .notNow else { return }
        Task { await unlock() }
    }

    /// Why the device cannot ask its owner, where the rules know nobody else.
    private var unaskable: OwnerObstacle? {
        guard facts?.level == .owner else { return nil }
        return OwnerStep.allCases.lazy.compactMap { [capabilities] in capabilities[$0].flatMap(OwnerObstacle.init) }
            .first
    }

    /// The user cancelled: the passcode is left, and the same way is offered again.
    package func turnAway() { dialog.cancel() }

    /// Takes what was read of a shut lock in; nil for one that is open, or will never open again.
    func adopt(_ facts: OwnerFacts?) {
        let wasShut = self.facts != nil
        self.facts = facts
        guard let facts else { return reset() }
        let opensByLevel = facts.level != .secret
        if opensByLevel != self.opensByLevel { self.opensByLevel = opensByLevel }
        if let number = facts.prompt {
            // One that this model's own prompts made is no occasion for another.
            if number > prompt, dialog.step == nil, !isUnlocking { hasOccasion = true }
            prompt = max(prompt, number)
        } else {
            hasOccasion = false
        }
        if !wasShut { ending = nil }
        update()
        if !isLooked, !facts.steps.isEmpty {
            isLooked = true
            Task { await look() }
        } else {
            askOnOccasion()
        }
    }

    private func reset() {
        looks += 1
        dialog.cancel()
        if opensByLevel { opensByLevel = false }
        if stop != nil { stop = nil }
        if allowsOpenCompartment { allowsOpenCompartment = false }
        if isDenied { isDenied = false }
        (capabilities, outcomes) = ([:], [:])
        (isLooked, hasOccasion) = (false, false)
        if !offers.isEmpty { offers = [] }
        if problem != nil { (ending, obstacle) = (nil, nil) }
    }

    /// Finds out what the machine can do now, for the ways that the rules take.
    private func look() async {
        looks += 1
        let mine = looks
        var found: [OwnerStep: OwnerCapability] = [:]
        for step in facts?.steps ?? [] { found[step] = await app.lock.ownerCapability(of: step) }
        guard mine == looks else { return }
        capabilities = found
        let denied = found[.biometrics].flatMap(OwnerObstacle.init) == .denied
        if denied != isDenied { isDenied = denied }
        update()
        askOnOccasion()
    }

    private func askOnOccasion() {
        guard hasOccasion, isInFront, dialog.step == nil, !isUnlocking else { return }
        if opensByLevel {
            hasOccasion = false
            Task { await unlock() }
            return
        }
        // Entering a password is deliberate where there is a passcode to enter; touching a sensor is not, so only the
        // sensor prompts automatically.
        guard offers.first == .biometrics else { return }
        hasOccasion = false
        Task { await ask(.biometrics) }
    }

    private func update() {
        guard let facts else { return }
        let next = facts.offers(capabilities, after: outcomes)
        if next != offers { offers = next }
        // With no way open, the rules' own reason is told.
        let why =
            facts.steps.isEmpty && facts.level == .secret
            ? facts.passcodeReason.map { VaultProblem.passcodeNeeded($0) } : nil
        if why != obstacle { obstacle = why }
    }

    /// What to say of a prompt; nil where it needs no words.
    private static func problem(_ error: VaultError, _ vault: Vault) -> VaultProblem? {
        switch error.code {
        case .cancelled, .locked, .exists, .wiped: return nil
        case .passcodeNeeded:
            return .passcodeNeeded(vault.ownerState.expiry.map(PasscodeReason.init) ?? .rules)
        default: return VaultProblem(error)
        }
    }
}

extension StepOutcome {
    /// What an error means to the chain of the rules.
    fileprivate init(_ error: VaultError, _ step: OwnerStep) {
        self =
            switch error.code {
            case .notConfirmed: step == .biometrics ? .biometricFailed : .wrongSecret
            case .ownerNotEnrolled: .notEnrolled
            case .ownerLockedOut: .systemLockout
            case .ownerBusy, .busy: .hardwareBusy
            // After a cancel, the user chooses the next method, by typing or with a button.
            case .cancelled: .requestedOther
            default: .unavailable
            }
    }
}
