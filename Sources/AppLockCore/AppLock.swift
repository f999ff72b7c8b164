package import DeviceOwner
public import VaultCore
internal import VaultHeader
internal import VaultFormat
public import VaultStorage

/// The app lock: runs what a pure state machine decides on a vault, and tells its observers.
///
/// The machine decides, the vault's keys are the truth: whatever a user interface shows, nothing can be read while they
/// are gone.
public actor AppLock {
    /// What observers are told.
    public struct Snapshot: Sendable, Hashable {
        /// What the lock is doing.
        public let state: LockState
        /// Whether content must be hidden.
        public let isCovered: Bool
        /// Whether the one lock screen must be up.
        public let isLockScreenShown: Bool
        /// The settings that hold.
        public let settings: LockSettings
        /// Whether a change of self-destruct is pending.
        package let hasPendingSelfDestructChange: Bool
    }

    /// Settings that the vault's rules do not change.
    package enum FixedSettings: Sendable {
        case none, isEnabled, all
    }

    /// The vault behind this lock; its calls fail with `locked` while the lock is shut.
    public nonisolated let vault: Vault
    var machine: LockMachine
    let clock: any BootClock
    /// Which settings stay as given, whatever the vault's header says.
    let fixed: FixedSettings
    /// Locks at once from any thread, counted: an unlock that began before such a lock opens nothing.
    nonisolated let emergencies = EmergencyCount()
    private var noticedEmergencies: UInt64 = 0
    /// Ends the pending change of self-destruct with nothing changed.
    var dropSelfDestructChange: (@Sendable () -> Void)?
    /// Asks the system to confirm the device owner.
    let authenticator: OwnerAuthenticator
    /// The system's prompt that is up.
    var ownerPrompt: OwnerRunning?
    /// What the system was asked last; the next question waits for it.
    var lastOwnerTask: Task<Void, Never>?
    /// Whether the rules let the app work with the open compartment, since the last
    /// ``unlock(_:)-(OwnerPrompts)`` opened nothing. The vault stays locked.
    public internal(set) var allowsOpenCompartment = false
    private var timer: Task<Void, Never>?
    /// Waits for the end of a wipe that another thread or process is at.
    private var ending: Task<Void, Never>?
    private var observers = Observers<Snapshot>(buffered: 8)
    private var recordObservers = Observers<LockRecord>(buffered: 64)
    private var protectionObservers = Observers<Protection>(buffered: 8)

    /// A lock in front of `vault`; it is shut until ``unlock(_:_:)`` succeeds.
    /// - Parameters:
    ///   - vault: The vault.
    ///   - isEnabled: Whether the app lock is on; nil for what the vault's rules say (`padlock`), where it is off until
    ///     ``setEnabled(_:passcode:)``. While it is off, leaving the app does not lock the vault; but its keys are
    ///     still gone after a restart of the app.
    ///   - triggers: What locks at once, whatever the timing.
    /// - Throws: What reading the vault's policy throws.
    package init(
        vault: Vault, isEnabled: Bool? = nil, triggers: LockTriggers = .standard
    ) throws(VaultError) {
        try self.init(vault: vault, isEnabled: isEnabled, triggers: triggers, authenticator: .standard)
    }

    /// As ``init(vault:isEnabled:triggers:)``, with an authenticator for the device owner.
    package init(
        vault: Vault, isEnabled: Bool?, triggers: LockTriggers = .standard, authenticator: OwnerAuthenticator
    ) throws(VaultError) {
        let policy = try vault.status().policy
        let settings = LockSettings(
            isEnabled: isEnabled ?? policy.isLockEnabled, timing: policy.lockTiming, triggers: triggers)
        self.init(
            vault: vault, settings: settings, fixed: isEnabled == nil ? .none : .isEnabled, authenticator: authenticator
        )
    }

    package init(
        vault: Vault, settings: LockSettings, fixed: FixedSettings = .all,
        authenticator: OwnerAuthenticator = .standard
    ) {
        self.vault = vault
        self.fixed = fixed
        self.authenticator = authenticator
        clock = vault.settings.clock
        machine = LockMachine(settings: settings)
        vault.loadKeptOwner()
    }

    deinit {
        timer?.cancel()
        ending?.cancel()
        ownerPrompt?.cancellation.cancel()
        observers.finish()
        recordObservers.finish()
        protectionObservers.finish()
        vault.lock(because: .ended)
    }

    /// What the lock is doing now.
    public var snapshot: Snapshot {
        Snapshot(
            state: machine.state, isCovered: machine.isCovered, isLockScreenShown: machine.isLockScreenShown,
            settings: machine.settings, hasPendingSelfDestructChange: machine.hasPendingSelfDestructChange)
    }

    /// The present snapshot, and each one that differs from the last.
    public func snapshots() -> AsyncStream<Snapshot> {
        let (stream, number) = observers.add { [weak self] number in Task { await self?.forget(snapshots: number) } }
        observers.yield(snapshot, to: number)
        return stream
    }

    /// What happens to the lock from now on: what shut it, what opened it, what was refused.
    package func records() -> AsyncStream<LockRecord> {
        recordObservers.add { [weak self] number in Task { await self?.forget(records: number) } }.stream
    }

    /// How the vault is protected now, and each time that this lock changed it: what a settings screen draws.
    public func protections() -> AsyncStream<Protection> {
        let (stream, number) = protectionObservers.add { [weak self] number in
            Task { await self?.forget(protections: number) }
        }
        if let now = try? vault.protection() { protectionObservers.yield(now, to: number) }
        return stream
    }

    func tellProtection() {
        if let now = try? vault.protection() { protectionObservers.yield(now) }
    }

    private func forget(protections number: UInt64) { protectionObservers.remove(number) }
    private func forget(snapshots number: UInt64) { observers.remove(number) }
    private func forget(records number: UInt64) { recordObservers.remove(number) }

    /// Tells the lock what the system or the user interface told the app. No event opens anything, and none changes a
    /// setting: for that there are calls that take a secret.
    public func handle(_ event: LockEvent) { run(.system(event)) }

    /// Plays an event of the machine that comes from outside of it. An outcome is believed only as far as the vault
    /// bears it out: no event opens what has no keys, and none changes a setting.
    package func play(_ event: LockMachine.Event) {
        switch event {
        case .authenticationEnded(let number, .unlocked):
            // A prompt for a change is answered by the call that makes it.
            guard vault.isUnlocked, !machine.asksForChange(number) else { return }
        case .authenticationEnded(_, .wipeRequired):
            guard isWipeDue else { return }
        case .authenticationEnded(let number, .biometricFailed) where number == machine.prompt?.number:
            // Not recorded: the passcode that is asked for next needs the ledger too.
            _ = try? vault.countFailedBiometrics()
            if isWipeDue { return run(.authenticationEnded(number, .wipeRequired)) }
        case .settingsRequested, .settingsChanged, .selfDestructChangeBegan, .selfDestructChangeEnded, .wipeBegan,
            .wipeFinished:
            return
        default: break
        }
        run(event)
    }

    /// Shuts at once, whatever the timing and also where the lock is off: keys are gone when this returns.
    public func forceLock() {
        run(.forceLock)
        vault.lock()  // whatever the machine thought
    }

    /// The emergency brake, for any thread: keys are gone when this returns. A passcode that is being checked at this
    /// moment opens nothing: its keys go as soon as the check ends. Nothing is destroyed.
    public nonisolated func panic() {
        emergencies.add()
        vault.lock(because: .panic)
        Task { await self.run(.panic) }
    }

    /// Shows content again without a prompt, for an app that knows that its owner is there.
    /// - Throws: `locked` where the lock is shut, its time is over, or the app is out of sight: no key is made up.
    public func forceUnlock() throws(VaultError) {
        run(.forceUnlock)
        guard !machine.isCovered, vault.isUnlocked else { throw .locked }
    }

    /// Plays an event and does what the machine wants.
    func run(_ event: LockMachine.Event) {
        let before = snapshot
        notice()
        step(event)
        notice()
        endStaleOwnerPrompt()
        if snapshot != before { observers.yield(snapshot) }
    }

    /// If the vault was locked without this lock, the app is locked too. Panic drops the keys before its event is
    /// handled.
    private func notice() {
        let count = emergencies.count
        defer { noticedEmergencies = count }
        guard case .unlocked = machine.state, !vault.isUnlocked else { return }
        step(count == noticedEmergencies ? .keysGone : .panic)
    }

    private func step(_ event: LockMachine.Event) {
        let effects = machine.handle(event, at: clock.now())
        let reason = effects.lazy.compactMap(\.lockedBecause).first
        for effect in effects { perform(effect, reason ?? .requested) }
    }

    private func perform(_ effect: LockEffect, _ reason: LogLockReason) {
        switch effect {
        case .dropKeys: vault.lock(because: reason)
        case .startTimer(let instant): startTimer(instant)
        case .stopTimer:
            timer?.cancel()
            timer = nil
        case .record(let record): publish(record)
        case .applySettings(let settings): publish(.settingsChanged(settings))
        case .revertSettings(let outcome): publish(.settingsReverted(outcome))
        case .cancelSelfDestructChange:
            dropSelfDestructChange?()
            dropSelfDestructChange = nil
            publish(.selfDestructChangeCancelled)
        case .beginWipe: finishWipe()
        // What is visible follows the snapshot. Prompts are answered by calling an unlock method, and the app
        // terminates itself.
        case .showCover, .hideCover, .presentLockScreen, .dismissLockScreen, .beginAuthentication,
            .cancelAuthentication, .terminate:
            break
        }
    }

    /// The vault destroys itself at the limit.
    private func finishWipe() {
        if !vault.isWiped { _ = try? vault.burnAttempt() }
        if wipeIsOver() { step(.wipeFinished) }
    }

    /// Whether nobody is at the wipe any more. While somebody is, the machine is told later: whoever hears that it has
    /// finished may end the process.
    func wipeIsOver() -> Bool {
        switch vault.continueWipe() {
        case .none: return false
        case .over: return true
        case .running:
            guard ending == nil else { return false }
            ending = Task { [weak self, vault] in
                await vault.waitForWipe()
                guard !Task.isCancelled else { return }
                await self?.endWipe()
            }
            return false
        }
    }

    private func endWipe() {
        ending = nil
        if wipeIsOver() { run(.wipeFinished) }
    }

    /// Sends to all streams of records.
    func publish(_ record: LockRecord) { recordObservers.yield(record) }

    private func startTimer(_ instant: BootInstant) {
        timer?.cancel()
        let wait = instant.milliseconds(since: clock.now()) ?? 0
        timer = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(wait))
            guard !Task.isCancelled else { return }
            await self?.play(.timeout)
        }
    }
}
