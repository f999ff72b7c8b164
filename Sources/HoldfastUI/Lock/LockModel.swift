public import Holdfast
public import Observation

/// The lock screen and what decides whether content may be seen, for any user interface.
///
/// It shows what ``AppLockCore/AppLock`` and the vault say, and errs on the shut side: content is covered at once on
/// any event that may hide it, and what was decrypted is dropped before the lock has done its work.
@MainActor @Observable
public final class LockModel {
    /// What the lock is doing, as a user interface sees it.
    package enum State: Sendable, Hashable {
        /// Shut; a passcode or the phrase opens it.
        case locked
        /// Shut; a secret is being checked.
        case checking
        /// Shut; no passcode is taken for a while.
        case delayed
        /// Open.
        case unlocked
        /// Everything is being destroyed, or was.
        case destroyed
    }

    /// What the lock is doing.
    package private(set) var state = State.locked
    /// What shut it last.
    package private(set) var reason = LockReason.launch
    /// What is asked for.
    package private(set) var prompt = UnlockSecret.passcode
    /// How the vault opens; nil until that was read.
    package private(set) var level: VaultLevel?
    /// Whether the vault has a passcode of its own.
    package private(set) var hasPasscode = true
    /// Whether the owner may answer with the recovery phrase.
    package private(set) var hasRecoveryPhrase = false
    /// Whether the owner may answer with the PIN: there is one, this machine can be asked for it, and attempts are
    /// taken.
    package private(set) var hasPIN = false
    /// Whether hardware keeps keys for this vault that may be another folder's: a recovery with a new passcode has to
    /// say what this folder is.
    package private(set) var leavesHardware = false
    /// What to say about the last attempt.
    package private(set) var guidance = LockGuidance.none
    /// What happens when none is left.
    package private(set) var consequence = LimitConsequence.slows
    /// Whole seconds until the next attempt is taken; nil when one may be made now.
    package private(set) var delay: Int?
    /// How often the app has left the foreground: what was half typed at a lock screen goes then.
    package private(set) var absences = 0
    /// Whether content is hidden. Always true while shut.
    package private(set) var isCovered = true
    /// Whether the app lock is on.
    public private(set) var isEnabled = false
    /// The system's owner, where the vault's rules take a finger or an account.
    public let owner: OwnerUnlockModel

    /// Why the vault does not open on this device, and what its user can do; nil where a prompt or a secret opens it.
    public private(set) var stop: StopModel?

    /// The vault and the lock behind this screen.
    @ObservationIgnored public let app: HoldfastApp
    @ObservationIgnored private var delayedUntil: BootInstant?
    @ObservationIgnored private var isChecking = false
    private var attemptsToTell: Int?
    /// Whether the prompt was chosen since the lock, so that it does not change while the user is typing.
    @ObservationIgnored private var isPromptSettled = false
    /// Whether the chip has said that it answers for the PIN no more.
    @ObservationIgnored private var isPINSpent = false
    /// Readings that were begun, and the last one that does not count any more: it may be from before a change.
    @ObservationIgnored private var readings = 0
    @ObservationIgnored private var stale = 0
    /// The last reading that is shown.
    @ObservationIgnored private var adopted = 0
    /// Events on their way that shut the lock or hide content: until they were taken, no reading opens or shows
    /// anything.
    @ObservationIgnored private var shutting = 0
    @ObservationIgnored private var hiding = 0
    @ObservationIgnored private var droppers: [@MainActor () -> Void] = []
    @ObservationIgnored private var startOver: (@MainActor () async -> VaultProblem?)?
    @ObservationIgnored private var enders: [@MainActor () -> Void] = []
    @ObservationIgnored private let reading: Reading
    @ObservationIgnored private let events: AsyncStream<Sent>.Continuation
    @ObservationIgnored private let tasks = TaskBag()
    @ObservationIgnored private let ticking = OneTask()
    /// Waits for the end of a wipe that another thread or process is at.
    @ObservationIgnored private let ending = OneTask()

    /// Whether content is withheld until the user authenticates.
    public var isLocked: Bool { state != .unlocked }

    /// Attempts left; told after a refusal, and always while reaching the limit destroys the vault. After a wrong PIN
    /// it is the chip's count, where that is the smaller one: it ends the PIN only, so it is not told where all would
    /// end.
    public var remainingAttempts: Int? {
        guard let left = attemptsToTell, consequence == .slows,
            case .refused(.wrongPIN(let atChip?)) = guidance
        else { return attemptsToTell }
        return min(left, atChip)
    }

    /// How what the lock and the vault say is read.
    typealias Reading = @Sendable (HoldfastApp) async -> LockFacts

    /// The screen of this lock; it is shut until ``refresh()`` or an event tells otherwise.
    package convenience init(_ app: HoldfastApp) { self.init(app, reading: { await LockFacts(of: $0) }) }

    init(_ app: HoldfastApp, reading: @escaping Reading) {
        self.app = app
        self.reading = reading
        owner = OwnerUnlockModel(app)
        let (stream, events) = AsyncStream.makeStream(of: Sent.self)
        self.events = events
        owner.onEnd = { [weak self] in await self?.refreshAfterChange() }
        owner.settle = { [weak self] in await self?.settle() }
        // One after the other: an event that overtakes another would tell a different story.
        tasks.add(
            Task { [weak self] in
                for await sent in stream {
                    if let event = sent.event { await self?.handle(event) }
                    sent.taken?.resume()
                }
            })
        tasks.add(
            Task { [weak self, lock = app.lock] in
                for await _ in await lock.snapshots() { await self?.refresh() }
            })
        tasks.add(
            Task { [weak self, lock = app.lock] in
                for await _ in await lock.records() { await self?.refresh() }
            })
    }

    deinit { events.finish() }

    /// Calls `drop` each time the lock falls, before anything else is shown: what was decrypted has to go then.
    package func onLock(_ drop: @escaping @MainActor () -> Void) { droppers.append(drop) }

    /// Calls `end` once everything has been destroyed: not while it is being done, which a process that ended then
    /// would leave to its next start.
    package func onWiped(_ end: @escaping @MainActor () -> Void) { enders.append(end) }

    /// Says who puts the folder aside where its user wants to start over.
    func startsOver(_ startOver: @escaping @MainActor () async -> VaultProblem?) {
        self.startOver = startOver
        stop = nil
        showStop()
    }

    /// Feeds an event from the system or the user interface and returns at once; events are taken in the order they
    /// were sent.
    package func send(_ event: LockEvent) { post(.system(event)) }

    /// As ``send(_:)``, and returns when it was taken.
    package func handle(_ event: LockEvent) async { await play(.system(event)) }

    /// As ``send(_:)``, also for what the lock tells itself.
    package func post(_ event: LockMachine.Event) {
        announce(event)
        events.yield(Sent(event: event, taken: nil))
    }

    /// As ``handle(_:)``, also for what the lock tells itself.
    package func play(_ event: LockMachine.Event) async {
        announce(event)
        await withCheckedContinuation { taken in _ = events.yield(Sent(event: event, taken: taken)) }
    }

    /// The owner wants it shut.
    public func lock() { post(.forceLock) }

    /// The emergency brake: keys are gone when this returns.
    package func panic() {
        fall()
        app.lock.panic()
    }

    /// The owner wants to answer with another secret.
    package func choose(_ prompt: UnlockSecret) {
        switch prompt {
        case .passcode: guard hasPasscode else { return }
        case .pin: guard hasPIN else { return }
        case .recoveryPhrase: guard hasRecoveryPhrase else { return }
        }
        self.prompt = prompt
        isPromptSettled = true
        if guidance != .phraseOnly { guidance = .none }
    }

    /// Opens the vault with a secret as it was entered. ``isLocked`` and ``remainingAttempts`` say the outcome. After a
    /// PIN that the chip does not answer for, the passcode is asked for.
    /// - Parameters:
    ///   - kind: Which secret this is.
    ///   - secret: UTF-8, as entered.
    public func unlock(_ kind: UnlockSecret, _ secret: consuming SecretBytes) async {
        guard begin() else { return }
        if kind == .recoveryPhrase, let problem = VaultProblem(ofPhrase: secret) { return await end(problem) }
        await settle()
        do throws(VaultError) {
            try await app.lock.unlock(kind, secret)
            if kind == .pin { isPINSpent = false }
            await end(nil)
        } catch {
            let problem = VaultProblem(of: kind, error)
            if kind == .pin, error.code == .hardwareDestroyed { isPINSpent = true }
            if problem == .pinIsOver || problem == .pinUnavailable { choose(.passcode) }
            await end(problem)
        }
    }

    /// The vault has another PIN.
    func pinWasSet() async {
        isPINSpent = false
        await refresh()
    }

    /// Opens the vault with its phrase and gives it a new passcode; all attempts are back.
    /// - Parameters:
    ///   - text: The phrase as it was typed.
    ///   - newPasscode: 1 to 1,024 bytes.
    ///   - hardware: What the folder is; needed while ``leavesHardware``.
    ///   - takesWeak: Whether the user insists on a passcode that is guessed at once.
    /// - Returns: What was found on the way; nil when it did not succeed.
    @discardableResult
    package func recover(
        phrase text: consuming SecretBytes, newPasscode: consuming SecretBytes, hardware: HardwareDecision? = nil,
        takingWeak takesWeak: Bool = false
    ) async -> Vault.Recovery? {
        guard begin() else { return nil }
        if let problem = PasscodeFloor.problem(of: newPasscode, takingWeak: takesWeak) {
            await end(problem)
            return nil
        }
        await settle()
        do throws(RecoveryPhraseError) {
            let phrase = try RecoveryPhrase(parsing: text)
            do throws(VaultError) {
                let recovery = try await app.lock.recover(
                    phrase: phrase, newPasscode: newPasscode, hardware: hardware)
                await end(nil)
                return recovery
            } catch { await end(VaultProblem(error)) }
        } catch { await end(.unreadablePhrase(error)) }
        return nil
    }

    /// Reads again what the lock and the vault say.
    package func refresh() async {
        readings += 1
        let mine = readings
        let facts = await reading(app)
        // A reading that was begun later, or a change since then, knows more than this one.
        guard mine > stale else { return }
        (stale, adopted) = (mine, mine)
        adopt(facts)
    }
}

extension LockModel {
    private func begin() -> Bool {
        guard !isChecking, state != .unlocked, state != .destroyed else { return false }
        isChecking = true
        state = .checking
        guidance = .none
        return true
    }

    /// Returns when each event that was sent was taken: an answer that overtook the lock it is for would find it open,
    /// and be refused.
    private func settle() async {
        await withCheckedContinuation { taken in _ = events.yield(Sent(event: nil, taken: taken)) }
    }

    private func end(_ problem: VaultProblem?) async {
        isChecking = false
        guidance = problem.map { .refused($0) } ?? .none
        await refreshAfterChange()
    }

    /// Reads again, and believes no reading that was begun before: what it tells is over. An outdated snapshot with a
    /// prompt would prompt the user a second time.
    private func refreshAfterChange() async {
        let before = readings
        stale = before
        // Another change makes this reading worthless too: whoever waits sees what holds after both.
        repeat { await refresh() } while adopted <= before
    }

    /// Covers at the first sign; the lock's own answer corrects it where it was too much.
    private func announce(_ event: LockMachine.Event) {
        if event == .system(.didEnterBackground) { absences += 1 }
        switch event.visibility {
        case .shuts:
            shutting += 1
            fall()
        case .hides:
            hiding += 1
            if isEnabled { isCovered = true }
        case .neither: break
        }
    }

    private func handle(_ event: LockMachine.Event) async {
        await app.lock.play(event)
        switch event.visibility {
        case .shuts: shutting -= 1
        case .hides: hiding -= 1
        case .neither: break
        }
        await refreshAfterChange()
        if [.system(.launch), .system(.didBecomeActive), .system(.systemUnlocked)].contains(event) {
            owner.deviceIsBack()
        }
    }

    /// Shut as far as this process can: nothing decrypted is left in it.
    private func fall() {
        stale = readings
        isCovered = true
        if state == .unlocked { state = .locked }
        prompt = firstPrompt
        isPromptSettled = false
        guidance = .none
        for drop in droppers { drop() }
    }

    /// A PIN is there to be asked for first, unless it is over; the phrase, where there is nothing else.
    private var firstPrompt: UnlockSecret {
        if hasPIN, !isPINSpent { return .pin }
        return hasPasscode || !hasRecoveryPhrase ? .passcode : .recoveryPhrase
    }

    private func showStop() {
        let reason = isLocked && state != .destroyed ? owner.stop : nil
        let until = reason == .notNow ? owner.until : nil
        guard stop?.reason != reason || stop?.until != until else { return }
        stop = reason.map { reason in
            StopModel(reason, until: until, canStartOver: startOver != nil) { [weak self] in await self?.perform($0) }
        }
    }

    private func perform(_ remedy: StopModel.Remedy) async -> VaultProblem? {
        switch remedy {
        case .tryAgain: await owner.unlock(accepting: false)
        case .accept: await owner.unlock(accepting: true)
        case .requireOwner, .stopAsking: await owner.settle(asksOwner: remedy == .requireOwner)
        case .startOver: await startOver?() ?? nil
        }
    }

    private func adopt(_ facts: LockFacts) {
        guard shutting == 0 else { return }
        let wasOpen = state == .unlocked
        let snapshot = facts.snapshot
        isEnabled = snapshot.settings.isEnabled
        if case .locked(let reason) = snapshot.state { self.reason = reason }
        delayedUntil = facts.delayedUntil
        leavesHardware = facts.leavesHardware
        let next = state(snapshot, isUnlocked: facts.isUnlocked)
        // What was decrypted goes before anything can be seen to happen.
        if next != .unlocked, wasOpen { fall() }
        state = next
        isCovered = next != .unlocked || snapshot.isCovered || (hiding > 0 && isEnabled)
        if next == .unlocked { guidance = .none }
        // While a secret is checked the machine's prompt is that secret's.
        if state != .checking { owner.adopt(isLocked && state != .destroyed ? facts.owner : nil) }
        adopt(facts.status)
        if let found = facts.protection?.level, found != level { level = found }
        showStop()
        showDelay(facts.now)
        if facts.isWiped {
            let due = enders
            enders = []
            for end in due { end() }
        } else if facts.wipe == .running {
            ending.replace(
                with: Task { [weak self, vault = app.vault] in
                    await vault.waitForWipe()
                    if !Task.isCancelled { await self?.refresh() }
                })
        }
    }

    private func state(_ snapshot: AppLock.Snapshot, isUnlocked: Bool) -> State {
        switch snapshot.state {
        case .wiping, .wiped: return .destroyed
        case .disabled, .unlocked: if isUnlocked { return .unlocked }
        case .locked, .authenticating, .delayed: break
        }
        if isChecking { return .checking }
        return delayedUntil == nil ? .locked : .delayed
    }

    private func adopt(_ status: Result<Vault.Status, VaultError>) {
        switch status {
        case .success(let status):
            hasPasscode = status.slots.contains(.passcode)
            hasRecoveryPhrase = status.slots.contains(.recoveryPhrase)
            hasPIN = status.pinAssurance != nil && !status.isPasscodeClosed
            if !status.hasPIN { isPINSpent = false }
            if prompt == .passcode, !hasPasscode { isPromptSettled = false }
            if !isPromptSettled || (prompt == .pin && !hasPIN) { prompt = firstPrompt }
            isPromptSettled = isLocked
            consequence = status.policy.selfDestruct ? .destroys : .slows
            let isTold = status.policy.selfDestruct || status.refusedAttempts > 0
            attemptsToTell = isTold ? status.remainingAttempts : nil
            if status.isPasscodeClosed, isLocked, state != .destroyed {
                prompt = .recoveryPhrase
                if guidance == .none { guidance = .phraseOnly }
            }
        case .failure(let error):
            if error.code == .wiped { state = .destroyed }
            if isLocked, guidance == .none { guidance = .unreadable(VaultProblem(error)) }
        }
    }

    /// Looks at the clock: how long the delay still is, and whether it is over.
    package func tick() { showDelay(app.vault.settings.clock.now()) }

    private func showDelay(_ now: BootInstant) {
        guard let until = delayedUntil, let left = until.milliseconds(since: now), left > 0 else {
            if delay != nil {
                delay = nil
                if case .refused(.delayed) = guidance { guidance = .none }
                if delayedUntil != nil {
                    delayedUntil = nil
                    post(.timeout)
                }
            }
            return ticking.replace(with: nil)
        }
        delay = Int(clamping: (left + 999) / 1000)
        let wait = (left - 1) % 1000 + 1
        ticking.replace(after: .milliseconds(wait)) { [weak self] in self?.tick() }
    }
}

/// An event that is being handled, and its waiter; without an event it only waits for those before it.
private struct Sent: Sendable {
    let event: LockMachine.Event?
    let taken: CheckedContinuation<Void, Never>?
}

extension LockMachine.Event {
    fileprivate enum Visibility { case shuts, hides, neither }

    /// What it may do to content that is shown.
    fileprivate var visibility: Visibility {
        switch self {
        case .forceLock, .panic: .shuts
        case .system(let event): event.hidesContent ? .hides : .neither
        default: .neither
        }
    }
}

extension LockEvent {
    /// Whether content is covered before the lock has decided.
    fileprivate var hidesContent: Bool {
        switch self {
        case .willResignActive, .minimised, .didEnterBackground, .systemLocked, .userSwitchedAway, .suspended,
            .lidClosed:
            true
        case .launch, .didBecomeActive, .willEnterForeground, .systemUnlocked, .userSwitchedBack, .resumed,
            .idleTimeout:
            false
        }
    }
}

extension LockModel {
    /// What the user can answer with in place of what is asked for now, for a button each.
    package var otherPrompts: [UnlockSecret] {
        guard guidance != .phraseOnly else { return [] }
        var prompts: [UnlockSecret] = hasPIN ? [.pin] : []
        if hasPasscode { prompts.append(.passcode) }
        if hasRecoveryPhrase { prompts.append(.recoveryPhrase) }
        return prompts.filter { $0 != prompt }
    }

    /// Whether a secret opens the vault, so that there is something to type.
    package var takesSecret: Bool { hasPasscode || hasPIN || hasRecoveryPhrase }

    /// Whether what is asked for is not taken before ``delay`` is over: a passcode and a PIN, never the phrase.
    package var isDelayed: Bool { delay != nil && prompt != .recoveryPhrase }
}
