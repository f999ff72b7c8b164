public import Holdfast
public import Observation
internal import SystemCalls

/// How far the vault has grown, and its next steps: a passcode of its own, the recovery phrase. The switch between
/// asking nobody and asking the device's owner is ``SecuritySettingsModel/requestLock(_:)``.
///
/// Each change makes new keys; what is stored moves to them in the background, and the next change waits for that.
@MainActor @Observable
public final class ProtectionModel {
    /// A step.
    package enum Change: Sendable, Hashable {
        /// A passcode of the vault's own is asked for.
        case passcode
        /// It is asked for no more: the device's owner is, or nobody where the device cannot ask.
        case noPasscode
        /// The 24 words that were shown open the vault too.
        case recoveryPhrase
    }

    /// A step that did not come to hold, and why.
    package struct Failure: Sendable, Hashable {
        /// What was asked for.
        package let change: Change
        /// Why it does not hold.
        package let problem: VaultProblem
    }

    /// How the vault is protected; nil until that was read.
    package private(set) var protection: Protection?
    /// How far what is stored has moved to new keys; nil while nothing moves.
    package private(set) var moving: Protection.Moving?
    /// What kept it from moving; the next ``load()`` tries again.
    package private(set) var movingProblem: VaultProblem?
    /// How strong the passcode is that is being typed.
    package private(set) var strength: PasscodeStrength?
    /// The step that is being made.
    package private(set) var running: Change?
    /// Whether the words of a new recovery phrase are there to be shown.
    package private(set) var showsPhrase = false
    /// What the system says and asks while it looks for its owner.
    package let dialog = OwnerDialog()
    /// The last step that did not come to hold; a user interface clears it when it was shown.
    package var failure: Failure?

    @ObservationIgnored private let app: HoldfastApp
    @ObservationIgnored private var issue: RecoveryPhraseIssue?
    @ObservationIgnored private var isMoving = false
    /// Called when another step holds.
    @ObservationIgnored var onChange: @MainActor () async -> Void = {}
    @ObservationIgnored private let tasks = TaskBag()

    /// The protection of this app's vault.
    package init(_ app: HoldfastApp) {
        self.app = app
        tasks.add(
            Task { [weak self, lock = app.lock] in
                for await now in await lock.protections() { self?.adopt(now) }
            })
    }

    /// Where the vault stands; nil until that was read.
    public var level: VaultLevel? { protection?.level }

    /// Whether losing this device, or the passcode, loses everything in the vault.
    package var isLostWithDevice: Bool { protection.map { !$0.isRecoverable } ?? false }

    /// Whether the next change of the level ends the words of the recovery phrase: to be said before it is made.
    package var losesPhrase: Bool { protection?.isRecoverable ?? false }

    /// Whether the vault has a passcode of its own, which changes are then proved with.
    package var hasPasscode: Bool { protection?.ways.contains(.passcode) ?? false }

    /// Reads what holds, and continues with what still moves.
    package func load() async {
        if let now = await ProtectionModel.read(app.vault) { adopt(now) }
    }

    /// Estimates what is being typed.
    package func estimate(_ passcode: RawSpan) {
        let next = PasscodeStrength(of: passcode)
        if next != strength { strength = next }
    }

    /// A passcode of the vault's own from now on. The device's owner confirms it, where the device can ask.
    /// - Parameters:
    ///   - passcode: As it was typed.
    ///   - repeated: As it was typed again.
    ///   - takesWeak: Whether the user insists on a passcode that is guessed at once.
    /// - Returns: Whether it holds now; if not, ``failure`` says why.
    @discardableResult
    package func setPasscode(
        _ passcode: consuming SecretBytes, repeated: consuming SecretBytes, takingWeak takesWeak: Bool = false
    ) async -> Bool {
        strength = nil
        let problem =
            passcode.isEqual(to: repeated)
            ? PasscodeFloor.problem(of: passcode, takingWeak: takesWeak) : VaultProblem.passcodesDiffer
        if let problem {
            failure = Failure(change: .passcode, problem: problem)
            return false
        }
        let carried = CarriedSecret(passcode)
        return await make(.passcode) { [lock = app.lock] prompts throws(VaultError) in
            try await lock.requirePasscode(carried.take(), prompts)
        }
    }

    /// The passcode is asked for no more: the device's owner is; nobody, where the device cannot ask.
    /// - Parameter passcode: The present one.
    /// - Returns: As ``setPasscode(_:repeated:takingWeak:)``.
    @discardableResult
    package func removePasscode(_ passcode: consuming SecretBytes) async -> Bool {
        let carried = CarriedSecret(passcode)
        return await make(.noPasscode) { [lock = app.lock] prompts throws(VaultError) in
            var canAsk = false
            for step in OwnerStep.allCases where await lock.ownerCapability(of: step) == .available { canAsk = true }
            let proof = try await lock.prove(passcode: carried.take())
            if canAsk {
                try await lock.requireOwner(prompts, proving: proof)
            } else {
                try await lock.stopAsking(proving: proof)
            }
        }
    }

    /// Makes 24 words to be shown. They open nothing until ``confirmPhrase()``.
    package func issuePhrase() async {
        guard running == nil else { return }
        failure = nil
        do throws(VaultError) {
            issue = try await app.lock.issueRecoveryPhrase()
            showsPhrase = true
        } catch { failure = Failure(change: .recoveryPhrase, problem: VaultProblem(error)) }
    }

    /// Lends the words while they are shown; nil otherwise.
    package func withPhrase<R>(_ body: (RawSpan) -> R) -> R? { issue.map { $0.phrase.withText { body($0) } } }

    /// The user has written the words down: from now on they open the vault, in place of earlier ones. The device's
    /// owner confirms it, where the device can ask. Refused, the words stay to be confirmed again.
    /// - Returns: As ``setPasscode(_:repeated:takingWeak:)``.
    @discardableResult
    package func confirmPhrase() async -> Bool {
        guard let issue else { return false }
        let isMade = await make(.recoveryPhrase) { prompts throws(VaultError) in try await issue.confirm(prompts) }
        if isMade { discardPhrase() }
        return isMade
    }

    /// As ``confirmPhrase()``, of a vault with a passcode.
    /// - Parameter passcode: The present one.
    /// - Returns: As ``setPasscode(_:repeated:takingWeak:)``.
    @discardableResult
    package func confirmPhrase(passcode: consuming SecretBytes) async -> Bool {
        guard let issue else { return false }
        let carried = CarriedSecret(passcode)
        let isMade = await make(.recoveryPhrase) { [lock = app.lock] _ throws(VaultError) in
            try await issue.confirm(proving: lock.prove(passcode: carried.take()))
        }
        if isMade { discardPhrase() }
        return isMade
    }

    /// The words are not wanted: they were never the vault's.
    package func discardPhrase() {
        issue = nil
        showsPhrase = false
    }

    /// What belongs to an open vault is forgotten.
    package func drop() {
        dialog.cancel()
        discardPhrase()
        (failure, strength) = (nil, nil)
    }

    /// - Returns: Whether it holds now.
    private func make(_ change: Change, _ act: @escaping OwnerDialog.Ask) async -> Bool {
        guard running == nil, dialog.step == nil else { return false }
        running = change
        failure = nil
        // A step of the dialog is shown from the first prompt on; without one the change is made at once.
        let error = await dialog.run(.biometrics, act)
        if let error, error.code != .cancelled { failure = Failure(change: change, problem: VaultProblem(error)) }
        if error?.code == .cancelled { failure = Failure(change: change, problem: .cancelled) }
        await load()
        await onChange()
        running = nil
        return error == nil
    }

    private func adopt(_ now: Protection) {
        if now != protection { protection = now }
        if now.moving != nil { move() }
    }

    /// Moves what lies under older keys, off the main thread.
    private func move() {
        guard !isMoving else { return }
        isMoving = true
        movingProblem = nil
        moving = Protection.Moving(done: 0, total: 0)
        let (steps, telling) = AsyncStream.makeStream(of: Protection.Moving.self, bufferingPolicy: .bufferingNewest(1))
        let work = Task { await ProtectionModel.finish(app.vault, telling) }
        tasks.add(
            Task { [weak self] in
                for await step in steps { self?.moving = step }
                let error = await work.value
                guard let self else { return }
                isMoving = false
                moving = nil
                // A lock in between is no failure: the next unlock continues.
                movingProblem = error.flatMap { $0.code == .locked ? nil : VaultProblem($0) }
                guard let now = await ProtectionModel.read(app.vault) else { return }
                // After a failure it does not start again by itself: a full disk would be asked without a pause.
                if error == nil { adopt(now) } else if now != protection { protection = now }
            })
    }

    @concurrent
    private nonisolated static func read(_ vault: Vault) async -> Protection? { try? vault.protection() }

    private nonisolated static func finish(
        _ vault: Vault, _ steps: AsyncStream<Protection.Moving>.Continuation
    ) async -> VaultError? {
        defer { steps.finish() }
        return await withCheckedContinuation { ended in
            let isRunning = DetachedThread.start {
                do throws(VaultError) {
                    try vault.finishRekey { done, total in steps.yield(Protection.Moving(done: done, total: total)) }
                    ended.resume(returning: nil)
                } catch { ended.resume(returning: error) }
            }
            if !isRunning { ended.resume(returning: VaultError(.busy, "the system has no thread left")) }
        }
    }
}

/// What a new passcode must be at least, wherever one is set; the command has the same floor.
enum PasscodeFloor {
    /// - Parameters:
    ///   - passcode: As it was typed. One that is empty or too long is the vault's to refuse.
    ///   - takesWeak: Whether the user insists on it.
    /// - Returns: ``VaultProblem/weakPasscode`` for what is guessed at once.
    static func problem(of passcode: borrowing SecretBytes, takingWeak takesWeak: Bool) -> VaultProblem? {
        guard !takesWeak, passcode.withBytes({ PasscodeStrength(of: $0).level }) == .veryWeak else { return nil }
        return .weakPasscode
    }
}
