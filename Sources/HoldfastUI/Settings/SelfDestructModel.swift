public import Holdfast
public import Observation
internal import Synchronization

/// Self-destruct on and off: a passcode, a confirmation, the countdown that can be cancelled, and a passcode again.
@MainActor @Observable
public final class SelfDestructModel {
    /// How far a change is.
    public enum Step: Sendable, Hashable {
        /// Nothing is pending.
        case idle
        /// The first passcode is asked for; in a vault without one, the device's owner is.
        case authenticating(SelfDestructChange)
        /// The user is asked to confirm.
        case confirming(SelfDestructChange)
        /// The countdown runs: whole seconds left, of so many.
        case counting(SelfDestructChange, left: Int, of: Int)
        /// The last passcode is asked for.
        case authenticatingAgain(SelfDestructChange)
    }

    /// How the last change ended.
    package enum Outcome: Sendable, Hashable {
        /// It holds now.
        case done(SelfDestructChange)
        /// Its owner cancelled it; nothing changed.
        case cancelled
        /// The app was left or locked, or too much time passed; nothing changed.
        case givenUp
        /// It was refused; nothing changed.
        case refused(VaultProblem)
    }

    /// Whether the last change holds now.
    public var hasChanged: Bool { if case .done = outcome { true } else { false } }
    /// Whether the last change was given up: the app was left or locked, or too much time passed.
    public var isGivenUp: Bool { outcome == .givenUp }
    /// Whether wrong passcodes destroy the vault at the limit.
    public private(set) var isOn = false
    /// Whether the device's owner is asked in place of a passcode, because the vault has none: ``authenticate()`` and
    /// ``finish()``.
    package private(set) var confirmsOwner = false
    /// Whether a change is possible: a vault that opens without asking has nothing to guess.
    public private(set) var isPossible = true
    /// What the system says and asks while it looks for its owner.
    package let dialog = OwnerDialog()
    /// The limit.
    public private(set) var attemptLimit = VaultPolicy.standard.attemptLimit
    /// The whole countdown, in seconds.
    package private(set) var countdown = 30
    /// How far a change is.
    public private(set) var step = Step.idle
    /// How the last one ended; a user interface clears it when it was shown.
    package var outcome: Outcome?
    /// Whether a passcode is being checked.
    public private(set) var isBusy = false
    /// The key that a wipe's receipt will be verified with, 66 hexadecimal digits; nil while self-destruct is off.
    package private(set) var receiptKey: String?

    @ObservationIgnored private let app: HoldfastApp
    @ObservationIgnored private var change: SelfDestructSwitch?
    @ObservationIgnored private let ticking = OneTask()

    /// The switch of this app's vault.
    package init(_ app: HoldfastApp) { self.app = app }

    /// Whether the switch stands on: as it is, or as it is wanted while a change is pending.
    public var showsOn: Bool { pending.map { $0 == .enable } ?? isOn }

    /// What is pending, if anything is.
    public var pending: SelfDestructChange? {
        switch step {
        case .idle: nil
        case .authenticating(let change), .confirming(let change), .counting(let change, _, _),
            .authenticatingAgain(let change):
            change
        }
    }

    /// Reads what holds.
    package func load() async {
        let (policy, key, protection) = await SelfDestructModel.read(app.vault)
        guard let policy else { return }
        if let protection {
            confirmsOwner = !protection.ways.contains(.passcode)
            isPossible = protection.level != .device
        }
        isOn = policy.selfDestruct
        attemptLimit = policy.attemptLimit
        countdown = Int(policy.selfDestructCountdown)
        receiptKey = isOn ? key : nil
    }

    /// The owner moved the switch: the first passcode is asked for.
    public func request(_ wanted: SelfDestructChange) {
        guard step == .idle, !isBusy, isPossible, isOn != (wanted == .enable) else { return }
        outcome = nil
        step = .authenticating(wanted)
    }

    /// Checks the first passcode.
    package func authenticate(passcode: consuming SecretBytes) async {
        guard case .authenticating(let wanted) = step, !isBusy else { return }
        isBusy = true
        let change = SelfDestructSwitch(vault: app.vault, countdown: .seconds(countdown))
        do throws(VaultError) {
            try await SelfDestructModel.begin(change, wanted, passcode)
            isBusy = false
            guard step == .authenticating(wanted) else {
                change.cancel()
                return
            }
            self.change = change
            step = .confirming(wanted)
        } catch {
            isBusy = false
            end(.refused(VaultProblem(error)))
        }
    }

    /// Has the device confirm its owner, where the vault has no passcode.
    public func authenticate() async {
        guard case .authenticating(let wanted) = step, confirmsOwner, !isBusy else { return }
        isBusy = true
        let made = ChangeBox()
        let error = await dialog.run(.biometrics) { [lock = app.lock, countdown] prompts throws(VaultError) in
            let proof = try await lock.prove(prompts)
            made.change = try await lock.begin(wanted, proving: proof, countdown: .seconds(countdown))
        }
        isBusy = false
        let change = made.change
        guard step == .authenticating(wanted) else {
            change?.cancel()
            return
        }
        if let error { return end(error.code == .cancelled ? .cancelled : .refused(VaultProblem(error))) }
        self.change = change
        step = .confirming(wanted)
    }

    /// The owner was told what this means and wants it: the countdown begins.
    public func confirm() async {
        guard case .confirming(let wanted) = step, let change else { return }
        do throws(VaultError) {
            try await app.lock.confirm(change)
            let total = change.countdown.wholeSeconds
            step = .counting(wanted, left: total, of: total)
            tick()
        } catch { end(.refused(VaultProblem(error))) }
    }

    /// Checks the last passcode and writes the change.
    package func finish(passcode: consuming SecretBytes) async {
        guard case .authenticatingAgain(let wanted) = step, let change, !isBusy else { return }
        isBusy = true
        outcome = nil
        do throws(VaultError) {
            let key = try await app.lock.finish(change, passcode: passcode)
            isBusy = false
            isOn = wanted == .enable
            receiptKey = key?.publicKey
            end(.done(wanted))
        } catch {
            isBusy = false
            if change.pending == nil {
                end(.refused(VaultProblem(error)))
            } else {
                outcome = .refused(VaultProblem(error))
            }
        }
    }

    /// Has the device confirm its owner again, where the vault has no passcode, and writes the change. Refused,
    /// `outcome` says why, and while the change is pending this can be called again.
    public func finish() async {
        guard case .authenticatingAgain(let wanted) = step, let change, confirmsOwner, !isBusy else { return }
        isBusy = true
        outcome = nil
        let made = ChangeBox()
        let error = await dialog.run(.biometrics) { [lock = app.lock] prompts throws(VaultError) in
            let proof = try await lock.prove(prompts)
            made.key = try await lock.finish(change, proving: proof)?.publicKey
        }
        isBusy = false
        guard step == .authenticatingAgain(wanted) else { return }
        if let error {
            let refusal = Outcome.refused(VaultProblem(error))
            // Still pending, it can be confirmed again; expired, it is over.
            if change.pending == nil { end(refusal) } else { outcome = refusal }
            return
        }
        isOn = wanted == .enable
        receiptKey = made.key
        end(.done(wanted))
    }

    /// Ends what is pending with nothing changed.
    public func cancel() async {
        guard step != .idle else { return }
        dialog.cancel()
        let change = change
        end(.cancelled)
        if let change { await app.lock.cancel(change) }
    }

    /// The app was locked: what was pending is over.
    package func drop() {
        dialog.cancel()
        guard step != .idle else { return }
        change?.leave()
        end(.givenUp)
    }

    /// Looks at the clock: how much of the countdown is left, and whether the change is still pending.
    package func tick() {
        guard case .counting(let wanted, _, let total) = step, let change else { return ticking.replace(with: nil) }
        guard change.pending != nil, let left = change.remaining else { return end(.givenUp) }
        guard left > .zero else {
            step = .authenticatingAgain(wanted)
            return ticking.replace(with: nil)
        }
        let seconds = left.wholeSeconds
        if case .counting(_, seconds, _) = step {} else { step = .counting(wanted, left: seconds, of: total) }
        let wait = (left.wholeMilliseconds - 1) % 1000 + 1
        ticking.replace(after: .milliseconds(wait)) { [weak self] in self?.tick() }
    }

    private func end(_ outcome: Outcome) {
        ticking.replace(with: nil)
        change = nil
        step = .idle
        self.outcome = outcome
    }

    @concurrent
    private nonisolated static func read(_ vault: Vault) async -> (VaultPolicy?, String?, Protection?) {
        (try? vault.status().policy, (try? vault.wipeReceiptKey)??.publicKey, try? vault.protection())
    }

    @concurrent
    private nonisolated static func begin(
        _ change: SelfDestructSwitch, _ wanted: SelfDestructChange, _ passcode: borrowing SecretBytes
    ) async throws(VaultError) {
        try change.begin(wanted, passcode: passcode)
    }
}

/// What comes out of a prompt's work.
private final class ChangeBox: Sendable {
    private let state = Mutex<(change: SelfDestructSwitch?, key: String?)>((nil, nil))

    var change: SelfDestructSwitch? {
        get { state.withLock { $0.change } }
        set { state.withLock { $0.change = newValue } }
    }
    var key: String? {
        get { state.withLock { $0.key } }
        set { state.withLock { $0.key = newValue } }
    }
}
