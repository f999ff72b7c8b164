public import SecretMemory
public import VaultCore
package import VaultFormat
public import Cryptography

/// The app lock: runs what ``LockMachine`` decides on a vault, and tells its observers.
///
/// The machine decides, the vault's keys are the truth: whatever a face shows, nothing can be read while they are gone.
public actor AppLock {
    /// What observers are told.
    public struct Snapshot: Sendable, Hashable {
        /// What the lock is doing.
        public let state: LockMachine.State
        /// Whether content must be hidden.
        public let isCovered: Bool
        /// Whether the one lock screen must be up.
        public let isLockScreenShown: Bool
    }

    /// The vault behind this lock; its calls fail with `locked` while the lock is shut.
    public nonisolated let vault: Vault
    private var machine: LockMachine
    private let clock: any BootClock
    private let isTimingFixed: Bool
    private var timer: Task<Void, Never>?
    private var observers: [UInt64: AsyncStream<Snapshot>.Continuation] = [:]
    private var nextObserver: UInt64 = 0

    /// A lock in front of `vault`; it is shut until ``unlock(passcode:)`` succeeds.
    /// - Throws: What reading the vault's policy throws.
    public init(vault: Vault, isEnabled: Bool = true) throws(VaultError) {
        let timing = try vault.status().policy.lockTiming
        self.init(vault: vault, isEnabled: isEnabled, timing: timing, isFixed: false)
    }

    /// - Parameter isFixed: Whether `timing` stays whatever the vault's own rules say.
    package init(vault: Vault, isEnabled: Bool, timing: LockTiming, isFixed: Bool = true) {
        self.vault = vault
        isTimingFixed = isFixed
        clock = vault.settings.clock
        machine = LockMachine(isEnabled: isEnabled, timing: timing)
    }

    deinit {
        timer?.cancel()
        for observer in observers.values { observer.finish() }
        vault.lock()
    }

    /// What the lock is doing now.
    public var snapshot: Snapshot {
        Snapshot(
            state: machine.state, isCovered: machine.isCovered, isLockScreenShown: machine.isLockScreenShown)
    }

    /// The present snapshot, and each one that differs from the last.
    public func snapshots() -> AsyncStream<Snapshot> {
        let (stream, continuation) = AsyncStream.makeStream(of: Snapshot.self, bufferingPolicy: .bufferingNewest(8))
        nextObserver += 1
        let number = nextObserver
        observers[number] = continuation
        continuation.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
        continuation.yield(snapshot)
        return stream
    }

    private func forget(_ number: UInt64) { observers[number] = nil }

    /// Feeds an event from the system or a face.
    ///
    /// An outcome is believed only as far as the vault bears it out: no event opens what has no keys.
    public func handle(_ event: LockEvent) {
        if case .authenticationEnded(_, .unlocked) = event, !vault.isUnlocked { return }
        run(event)
        if case .settingsChanged(isEnabled: true, _) = event, !vault.isUnlocked, case .unlocked = machine.state {
            run(.forceLock)
        }
    }

    /// Opens the vault with the passcode: burns an attempt, derives the key, and tells the machine how it went.
    /// - Throws: As ``VaultCore/Vault/burnAttempt()`` and ``VaultCore/Vault/unlock(passcode:spending:)``; the lock stays shut then.
    public func unlock(passcode: borrowing SecretBytes) throws(VaultError) {
        try beginPrompt()
        do throws(VaultError) {
            let attempt = try vault.burnAttempt()
            try vault.unlock(passcode: passcode, spending: attempt)
            finish(.unlocked)
        } catch {
            finish(AppLock.outcome(error))
            throw error
        }
        guard vault.isUnlocked else { throw .locked }
    }

    /// Opens the vault with its recovery phrase.
    /// - Throws: As ``VaultCore/Vault/unlock(phrase:)``; the lock stays shut then.
    public func unlock(phrase: borrowing RecoveryPhrase) throws(VaultError) {
        try beginPrompt(.authenticateUncounted)
        do throws(VaultError) {
            try vault.unlock(phrase: phrase)
            finish(.unlocked)
        } catch {
            finish(AppLock.outcome(error))
            throw error
        }
        guard vault.isUnlocked else { throw .locked }
    }

    /// Opens the vault with its phrase and gives it a new passcode; all attempts are back.
    /// - Throws: As ``VaultCore/Vault/recover(phrase:newPasscode:)``; the lock stays shut then.
    public func recover(
        phrase: borrowing RecoveryPhrase, newPasscode: borrowing SecretBytes
    ) throws(VaultError) -> Vault.Recovery {
        try beginPrompt(.authenticateUncounted)
        let recovery: Vault.Recovery
        do throws(VaultError) {
            recovery = try vault.recover(phrase: phrase, newPasscode: newPasscode)
            finish(.unlocked)
        } catch {
            finish(AppLock.outcome(error))
            throw error
        }
        guard vault.isUnlocked else { throw .locked }
        return recovery
    }

    /// Shuts at once: keys are gone when this returns.
    public func lock() {
        run(.forceLock)
        vault.lock()  // also where the lock is switched off
    }

    /// Asks the machine for a prompt, unless one that it began by itself is up already.
    private func beginPrompt(_ event: LockEvent = .authenticate) throws(VaultError) {
        if case .unlocked = machine.state, !vault.isUnlocked { run(.forceLock) }
        run(event)
        switch machine.state {
        case .authenticating, .disabled: return
        case .unlocked: throw VaultError(.exists, "the vault is unlocked already")
        case .delayed(let until):
            let wait = until.milliseconds(since: clock.now()) ?? 0
            throw VaultError(
                .delayed, "the next attempt is possible in \(seconds(wait))", retryAfter: .milliseconds(wait))
        case .locked: throw VaultError(.locked, "the app is not in the foreground")
        }
    }

    private static func outcome(_ error: VaultError) -> AuthenticationOutcome {
        switch error.code {
        case .wrongPasscode, .wrongPhrase, .delayed:
            let wait = error.retryAfter?.components.seconds ?? 0
            return .refused(retryAfterMilliseconds: UInt64(max(0, wait)) * 1000)
        default: return .unavailable
        }
    }

    private func finish(_ outcome: AuthenticationOutcome) {
        guard case .authenticating(let number) = machine.state else {
            // With the lock switched off the machine asks for nothing; the vault opens all the same.
            if machine.state != .disabled, outcome == .unlocked { vault.lock() }
            return
        }
        run(.authenticationEnded(number, outcome))
        // The timing that was read at the start was not authenticated; this one is.
        if !isTimingFixed, let policy = vault.authenticatedPolicy {
            run(.settingsChanged(isEnabled: machine.state != .disabled, timing: policy.lockTiming))
        }
    }

    private func run(_ event: LockEvent) {
        let before = snapshot
        for effect in machine.handle(event, at: clock.now()) { perform(effect) }
        guard snapshot != before else { return }
        for observer in observers.values { observer.yield(snapshot) }
    }

    private func perform(_ effect: LockEffect) {
        switch effect {
        case .dropKeys: vault.lock()
        case .startTimer(let instant): startTimer(instant)
        case .stopTimer:
            timer?.cancel()
            timer = nil
        // What is seen follows the snapshot; prompts are answered by whoever calls unlock.
        case .showCover, .hideCover, .presentLockScreen, .dismissLockScreen, .beginAuthentication,
            .cancelAuthentication:
            break
        }
    }

    private func startTimer(_ instant: BootInstant) {
        timer?.cancel()
        let wait = instant.milliseconds(since: clock.now()) ?? 0
        timer = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(wait))
            guard !Task.isCancelled else { return }
            await self?.handle(.timeout)
        }
    }
}
