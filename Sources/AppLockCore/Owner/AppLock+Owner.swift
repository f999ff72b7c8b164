public import Cryptography
public import DeviceOwner
public import SecretMemory
internal import VaultCore
public import VaultFormat
public import VaultStorage
internal import SystemCalls

/// Unlocking by the device owner: a finger, a face, or the account password. It opens the vault after the passcode was
/// given to this process, and for three days; `Docs/app-lock.md` 4 says when it ends.
extension AppLock {
    /// What the machine can do for a way now, without asking anybody.
    public nonisolated func ownerCapability(of step: OwnerStep) async -> OwnerCapability {
        let authenticator = authenticator
        return await OwnerThread.run { authenticator.capability(of: step) } ?? .missing("no thread can be had")
    }

    /// Why a way is not taken now: the rules do not have it, or the passcode has to be given first. Nil if
    /// ``unlock(by:_:)`` would show a prompt.
    /// - Throws: What reading the vault's header throws.
    public nonisolated func ownerObstacle(_ step: OwnerStep) throws(VaultError) -> VaultError? {
        try vault.ownerObstacle(step)
    }

    /// Adds an owner step to the vault's policy; it opens the vault from now on.
    ///
    /// It proves the assurance `presence` and no more: collections that ask for more stay out of its reach. After
    /// a restart, three days, five samples without a match, or another finger enrolled, the passcode is needed.
    /// - Parameters:
    ///   - step: The way.
    ///   - passcode: The vault's passcode; an attempt is spent on it, two where it survives restarts.
    ///   - survivesRestart: Puts the way in on the disk, under the TPM or the keyring. Every program of this user can
    ///     then open the vault without any finger: only for what presence is enough for.
    /// - Throws: `ownerUnavailable` and its like where the machine cannot ask its owner, `invalidPolicy`,
    ///   `hardwareUnavailable` where nothing is there to survive in; as
    ///   ``changePasscode(from:to:)``.
    public func enrollOwner(
        _ step: OwnerStep, passcode: borrowing SecretBytes, survivesRestart: Bool = false
    ) async throws(VaultError) {
        let capability = await ownerCapability(of: step)
        guard capability == .available else { throw VaultError(capability) }
        let authenticator = authenticator
        let enrollment = await OwnerThread.run {
            survivesRestart && step == .biometrics ? authenticator.enrollment(of: step) : nil
        }
        let attempt = try vault.burnAttempt()
        try vault.changePolicy(passcode: passcode, spending: attempt, renewingOwner: true) {
            policy throws(VaultError) in
            try policy.accept(step, keeps: survivesRestart)
        }
        if survivesRestart {
            try vault.keepOwner(passcode: passcode, spending: vault.burnAttempt(), enrollment: enrollment ?? nil)
        }
        await noteOwner().value
    }

    /// Removes an owner step from the policy, and from the disk. Where it survives restarts the vault gets new keys, so
    /// that an old copy of the header with it opens nothing that is written from now on; what is stored moves to them
    /// in ``VaultCore/Vault/finishRekey(progress:)``.
    /// - Parameters:
    ///   - step: The way.
    ///   - passcode: The vault's passcode; an attempt is spent on it, two where the way survives restarts.
    ///   - phrase: The vault's words, where the way survives restarts: without them they no longer open the vault.
    ///   - insisting: Whether the vault may lose its phrase over that.
    /// - Throws: As ``changePasscode(from:to:)``; `lastWayIn` where the phrase would be lost, `wrongPhrase`, with
    ///   nothing changed.
    public func removeOwner(
        _ step: OwnerStep, passcode: borrowing SecretBytes, phrase: consuming RecoveryPhrase? = nil,
        insisting: Bool = false
    ) throws(VaultError) {
        if vault.keepsOwner {
            let attempt = try vault.burnAttempt()
            try vault.dropKeptOwner(passcode: passcode, spending: attempt, phrase: phrase, insisting: insisting)
        }
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy throws(VaultError) in
            try policy.refuse(step)
        }
    }

    /// Has the system confirm the device owner, and opens the vault if it did. ``cancelPrompt()``, a lock, and the
    /// cancellation of the task end the prompt; its outcome then opens nothing.
    ///
    /// No passcode attempt is spent. A prompt that ended without a match is counted as one while self-destruct is on,
    /// unless the policy turns that off.
    /// - Throws: `passcodeNeeded`, `notConfirmed`, `cancelled`, `timedOut`, `ownerUnavailable`, `ownerNotEnrolled`,
    ///   `ownerLockedOut`, `ownerBusy`, `busy` while another prompt is up, `locked` where the app is out of sight;
    ///   `wiped`. The lock stays shut then.
    public func unlock(by step: OwnerStep, _ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) {
        try await unlock(by: step, prompts, accepting: false)
    }

    /// As ``unlock(by:_:)``.
    /// - Parameter accepts: Whether the user has said that a vault may be another one than the device remembers.
    func unlock(by step: OwnerStep, _ prompts: OwnerPrompts, accepting accepts: Bool) async throws(VaultError) {
        guard ownerPrompt == nil else { throw VaultError(.busy, "another prompt is up") }
        let prompt = try beginPrompt(.authenticateUncounted)
        let (vault, authenticator) = (vault, authenticator)
        let answer = await answer(to: .unlock(prompt.number), prompts) { talk in
            Result { () throws(VaultError) in
                OwnerReleaseBox(try vault.confirmOwner(step, by: authenticator, talk))
            }
        }
        let isUp = isUp(prompt)
        do throws(VaultError) {
            let box = try answer.get()
            guard isUp, let release = box.take() else { throw .locked }
            try vault.unlock(release, accepting: accepts)
        } catch { throw refused(prompt, error) }
        try opened(prompt, by: .owner(step))
    }

    /// Shows the system's prompt while the vault is open, so that a switch can test the step before it is turned on. It
    /// opens nothing and counts nothing. A lock, and the cancellation of the task, end the prompt.
    /// - Throws: `locked` where the vault is shut or was shut meanwhile, `notConfirmed`, `cancelled`, `timedOut`,
    ///   `ownerUnavailable`, `ownerNotEnrolled`, `ownerLockedOut`, `ownerBusy`, `busy` while another prompt is up.
    public func rehearseOwner(_ step: OwnerStep, _ prompts: OwnerPrompts = OwnerPrompts()) async throws(VaultError) {
        guard vault.isUnlocked else { throw .locked }
        guard ownerPrompt == nil else { throw VaultError(.busy, "another prompt is up") }
        let authenticator = authenticator
        let answer = await answer(to: .rehearsal, prompts) { talk in
            Result { () throws(VaultError) in try authenticator.rehearse(step, talk) }
        }
        guard vault.isUnlocked else { throw .locked }
        try answer.get()
    }

    /// Puts up a prompt of the system, in a thread of its own; the cancellation of the task ends it.
    func answer<Answer: Sendable>(
        to purpose: OwnerRunning.Purpose, _ prompts: OwnerPrompts,
        _ ask: @escaping @Sendable (OwnerPromptTalk) -> Result<Answer, VaultError>
    ) async -> Result<Answer, VaultError> {
        let talk = OwnerPromptTalk(prompts)
        ownerPrompt = OwnerRunning(for: purpose, cancellation: talk.cancellation)
        defer { ownerPrompt = nil }
        let asking = ownerTask { ask(talk) }
        let answer = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            talk.cancellation.cancel()
        }
        return answer ?? .failure(VaultError(.busy, "the system has no thread left"))
    }

    /// Notes what is enrolled, after a passcode; a prompt that follows sees it noted.
    @discardableResult
    func noteOwner() -> Task<Void, Never> {
        let (vault, authenticator) = (vault, authenticator)
        guard vault.ownerKeeper.isArmed else { return Task {} }
        let task = ownerTask { vault.noteEnrollment(by: authenticator) }
        return Task { await task.value }
    }

    /// Ends a prompt of the system whose result is no longer needed.
    func endStaleOwnerPrompt() {
        guard let ownerPrompt else { return }
        switch ownerPrompt.purpose {
        case .unlock(.some(let number)): if machine.prompt?.number == number { return }
        case .unlock(nil): return
        case .rehearsal: if vault.isUnlocked { return }
        case .change: if vault.isChangeable { return }
        }
        ownerPrompt.cancellation.cancel()
    }

    /// Whether the outcome of a prompt may still open anything.
    private func isUp(_ prompt: RunningPrompt) -> Bool {
        guard emergencies.count == prompt.emergencies else { return false }
        guard let number = prompt.number else { return machine.state == .disabled && !vault.isUnlocked }
        return machine.prompt?.number == number
    }

    /// One after another, each on a thread of its own: the system's answers take their time.
    private func ownerTask<R: Sendable>(_ work: @escaping @Sendable () -> R) -> Task<R?, Never> {
        let before = lastOwnerTask
        let task = Task.detached { () -> R? in
            await before?.value
            return await OwnerThread.run(work)
        }
        lastOwnerTask = Task.detached { _ = await task.value }
        return task
    }
}

/// The prompt of the system that is up.
struct OwnerRunning {
    enum Purpose {
        /// To open the vault; the machine's number of the prompt, nil where the lock is off.
        case unlock(UInt64?)
        /// To see that it works.
        case rehearsal
        /// For a change of a vault that is open, or kept for that alone.
        case change
    }

    let purpose: Purpose
    let cancellation: Cancellation

    init(for purpose: Purpose, cancellation: Cancellation) {
        self.purpose = purpose
        self.cancellation = cancellation
    }
}

/// A thread for what blocks, so that no task waits for another one's turn.
enum OwnerThread {
    /// Nil when no thread can be had.
    static func run<R: Sendable>(_ work: @escaping @Sendable () -> R) async -> R? {
        await withCheckedContinuation { (ended: CheckedContinuation<R?, Never>) in
            if !DetachedThread.start({ ended.resume(returning: work()) }) { ended.resume(returning: nil) }
        }
    }
}
