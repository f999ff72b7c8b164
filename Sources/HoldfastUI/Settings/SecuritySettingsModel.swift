package import Holdfast
public import Observation
internal import SystemCalls

/// The security settings: each change is proved with the passcode, and shown as it was until it holds.
///
/// A way of the system's owner proves itself before: a finger that does not open the sensor's prompt is never taken
/// into the rules.
@MainActor @Observable
public final class SecuritySettingsModel {
    /// A change that the user asked for.
    package enum Change: Sendable, Hashable {
        /// The app lock on or off. In a vault without a passcode this is its level: the device's owner is asked, or
        /// nobody is.
        case lock(Bool)
        /// The face or the finger opens the vault again, after others were enrolled: the device's passcode proves it.
        case ownerAnew
        /// How long the app may be away.
        case timing(LockTiming)
        /// Wrong passcodes before the last consequence; one of ``SecuritySettingsModel/attemptLimits``.
        case attemptLimit(Int)
        /// Whether a fingerprint, a face, or the account's password opens the vault too.
        case owner(OwnerStep, Bool)
        /// Whether the passcode is under the machine's security chip.
        case chip(Bool)
        /// The PIN is taken away; ``setPIN(_:passcode:)`` gives one.
        case pinRemoval
        /// Whether a failed biometric prompt is counted while self-destruct is on.
        case countsBiometrics(Bool)
        /// What the folder is, where the machine's hardware may keep keys for another one (``leavesHardware``).
        case hardware(HardwareDecision)
    }

    /// What has to be given for a change.
    package enum Proof: Sendable, Hashable {
        /// The system asks its owner: ``proveOwner()``.
        case owner(OwnerStep)
        /// The passcode: ``prove(passcode:)``.
        case passcode
        /// The passcode and the recovery phrase: ``prove(passcode:phrase:)``.
        case passcodeAndPhrase
        /// The device's owner, where the device can ask; nothing is typed: ``confirm()``. Say first what is lost
        /// (``SecuritySettingsModel/losesPhrase``).
        case confirmation
    }

    /// A change that did not come to hold, and why.
    public struct Failure: Sendable, Hashable {
        /// What was asked for.
        package let change: Change
        /// Why it does not hold.
        package let problem: VaultProblem
    }

    /// How the vault opens; nil until that was read.
    package private(set) var level: VaultLevel?
    /// Whether the vault has a passcode of its own, which changes are then proved with.
    package private(set) var hasPasscode = true
    /// Whether the change that is wanted ends the words of the recovery phrase: to be said before ``confirm()``.
    package var losesPhrase: Bool {
        switch wanted {
        case .lock, .ownerAnew: return !hasPasscode && hasPhrase
        default: return false
        }
    }
    private var hasPhrase = false
    /// Whether faces or fingers were added or removed since the lock was turned on, so that only the device's passcode
    /// opens the vault: ``Change/ownerAnew`` takes them again.
    package private(set) var enrollmentChanged = false
    /// Whether ``Change/ownerAnew`` would let a face or a finger open the vault again, or for the first time: what is
    /// enrolled was changed, or set up only after the lock was turned on.
    package var offersOwnerAnew: Bool { enrollmentChanged || biometricsCame }
    /// Whether the device can ask for a face or a finger since, although the lock was turned on without.
    package var biometricsCame: Bool {
        guard level == .owner, let policy, !policy.asks(for: .biometrics) else { return false }
        return obstacles[.biometrics] == nil
    }
    /// The rules that hold; nil until they were read.
    package private(set) var policy: VaultPolicy?
    /// What an unlock with the passcode proves.
    package private(set) var passcodeAssurance: Assurance?
    /// Whether the passcode is under the machine's security chip.
    package private(set) var isUnderChip = false
    /// Whether there is a PIN under a chip, of this machine or of another one.
    package private(set) var hasPIN = false
    /// Whether hardware keeps keys for this vault that may be another folder's: nothing else changes until the user has
    /// said what this folder is, with ``Change/hardware(_:)``.
    package private(set) var leavesHardware = false
    /// Why the chip cannot be used; nil where it can.
    package private(set) var chipObstacle: OwnerObstacle? = .missing
    /// The change that waits for its proof. The switch shows it as wanted until it is proved, then as it is.
    package private(set) var wanted: Change?
    /// What has to be given for it.
    package private(set) var needed: Proof?
    /// Whether a passcode is being checked.
    public private(set) var isBusy = false
    /// What the system says and asks while it looks for its owner.
    package let dialog = OwnerDialog()
    /// The last change that did not come to hold: the switch is back, and this says why.
    public var failure: Failure?

    private var obstacles: [OwnerStep: OwnerObstacle] = [.biometrics: .missing, .devicePasscode: .missing]
    @ObservationIgnored private let app: HoldfastApp
    @ObservationIgnored private let lookAtChip: LookAtChip
    /// Called when the vault has another PIN.
    @ObservationIgnored var onPIN: @MainActor () async -> Void = {}

    /// Called when a change was made, or tried.
    @ObservationIgnored var onChange: @MainActor () async -> Void = {}

    /// What a user interface offers for ``Change/attemptLimit(_:)``.
    package nonisolated static var attemptLimits: ClosedRange<Int> { VaultPolicy.attemptLimits }

    package typealias LookAtChip = @Sendable (HoldfastApp) -> OwnerObstacle?

    /// The settings of this app.
    package convenience init(_ app: HoldfastApp) { self.init(app, lookAtChip: SecurityChip.obstacle) }

    /// - Parameter lookAtChip: Why the chip cannot be used; blocks.
    package init(_ app: HoldfastApp, lookAtChip: @escaping LookAtChip) {
        self.app = app
        self.lookAtChip = lookAtChip
    }

    /// Whether the switch of the app lock stands on: as it is, or as it is wanted while the passcode is asked for.
    public var showsLockOn: Bool {
        if case .lock(let isOn) = wanted { return isOn }
        return policy?.isLockEnabled ?? false
    }

    /// The timing to show, as with ``showsLockOn``.
    package var shownTiming: LockTiming {
        if case .timing(let timing) = wanted { return timing }
        return policy?.lockTiming ?? .immediately
    }

    /// The attempt limit to show, as with ``showsLockOn``.
    package var shownAttemptLimit: Int {
        if case .attemptLimit(let limit) = wanted { return limit }
        return policy?.attemptLimit ?? VaultPolicy.standard.attemptLimit
    }

    /// Whether the switch for fingerprint or face, or for the account password, is shown as on; see ``showsLockOn``.
    package func showsOn(_ step: OwnerStep) -> Bool {
        if case .owner(step, let isOn) = wanted { return isOn }
        return policy?.asks(for: step) ?? false
    }

    /// Whether the switch of the chip stands on, as with ``showsLockOn``.
    package var showsChipOn: Bool {
        if case .chip(let isOn) = wanted { return isOn }
        return isUnderChip
    }

    /// Why the system cannot ask its owner; nil where it can.
    package func obstacle(to step: OwnerStep) -> OwnerObstacle? { obstacles[step] }

    /// Whether the switch can be used: to switch off what is gone, too.
    package func canSwitch(_ step: OwnerStep) -> Bool { obstacles[step] == nil || showsOn(step) }

    /// Whether the app lock can be turned on or off.
    public var canSwitchLock: Bool { lockObstacle == nil }

    /// Why the app lock cannot be turned on: the device cannot ask its owner, and the vault has no passcode.
    package var lockObstacle: OwnerObstacle? {
        guard !hasPasscode, !showsLockOn, OwnerStep.allCases.allSatisfy({ obstacles[$0] != nil }) else { return nil }
        // Without a passcode of the device there is nothing that could be set up before it.
        return obstacles[.devicePasscode]
    }

    /// As ``canSwitch(_:)``, of the chip.
    package var canSwitchChip: Bool { chipObstacle == nil || showsChipOn }

    /// Whether a PIN can be set: the chip holds its share.
    package var canSetPIN: Bool { chipObstacle == nil }

    /// Makes the change that needs nothing typed. The device's owner confirms it, where the device can ask; if they do
    /// not, the switch goes back, nothing was changed, and ``failure`` says why.
    public func confirm() async {
        guard let change = wanted, needed == .confirmation, !isBusy, dialog.step == nil else { return }
        isBusy = true
        failure = nil
        let error = await dialog.run(.biometrics) { [lock = app.lock] prompts throws(VaultError) in
            try await SecuritySettingsModel.make(change, lock, prompts)
        }
        adopt(await SecuritySettingsModel.status(app.vault))
        await onChange()
        isBusy = false
        (wanted, needed) = (nil, nil)
        // Last: the switch is back when this is said.
        if let error { failure = Failure(change: change, problem: VaultProblem(error)) }
    }

    private nonisolated static func make(
        _ change: Change, _ lock: AppLock, _ prompts: OwnerPrompts
    ) async throws(VaultError) {
        switch change {
        case .lock(true): try await lock.requireOwner(prompts)
        case .lock(false): try await lock.stopAsking(prompts)
        case .ownerAnew:
            let proof = try await lock.prove(by: .devicePasscode, prompts)
            try await lock.requireOwner(prompts, proving: proof)
        case .timing(let timing): try await lock.setTiming(timing, proving: lock.prove(prompts))
        case .attemptLimit(let limit):
            try await lock.changePolicy(proving: lock.prove(prompts)) { policy throws(VaultError) in
                policy.attemptLimit = limit
            }
        case .countsBiometrics(let isOn):
            try await lock.changePolicy(proving: lock.prove(prompts)) { policy throws(VaultError) in
                policy.countsBiometricFailures = isOn
            }
        case .owner, .chip, .pinRemoval, .hardware:
            throw VaultError(.proofTooWeak, "this belongs to a vault with a passcode")
        }
    }

    /// Reads what holds.
    package func load() async { adopt(await SecuritySettingsModel.status(app.vault)) }

    /// Finds out what the machine can do. Asks for nothing; needs a few seconds if a part does not respond.
    public func look() async {
        for step in OwnerStep.allCases {
            let found = OwnerObstacle(await app.lock.ownerCapability(of: step))
            if found != obstacles[step] { obstacles[step] = found }
        }
        let chip = await SecuritySettingsModel.look(app, lookAtChip)
        if chip != chipObstacle { chipObstacle = chip }
    }

    /// Asks for the app lock to be turned on or off; ``confirm()`` does it, and the device asks its owner where the
    /// vault has no passcode.
    public func requestLock(_ isOn: Bool) { request(.lock(isOn)) }

    /// Asks for another number of wrong secrets until one attempt an hour, or self-destruct; ``confirm()`` does it.
    public func requestAttemptLimit(_ limit: Int) { request(.attemptLimit(limit)) }

    /// Asks for a change; ``needed`` says what has to be given for it.
    package func request(_ change: Change) {
        guard !isBusy, dialog.step == nil else { return }
        failure = nil
        wanted = holds(change) ? nil : change
        needed = wanted.map { hasPasscode ? SecuritySettingsModel.proof(for: $0) : .confirmation }
    }

    /// The user cancelled: nothing changes, the switch goes back.
    package func cancel() {
        guard !isBusy else { return }
        dialog.cancel()
        (wanted, needed) = (nil, nil)
    }

    /// Has the system ask its owner for the way that is to be switched on. Confirmed, the passcode is needed next; if
    /// not, the switch goes back.
    package func proveOwner() async {
        guard let change = wanted, case .owner(let step) = needed, dialog.step == nil else { return }
        failure = nil
        let error = await dialog.run(step) { [lock = app.lock] prompts throws(VaultError) in
            try await lock.rehearseOwner(step, prompts)
        }
        // Meanwhile the lock may have fallen, or the user may have cancelled.
        guard wanted == change, needed == .owner(step) else { return }
        guard let error else { return needed = .passcode }
        (wanted, needed) = (nil, nil)
        if error.code != .cancelled { failure = Failure(change: change, problem: VaultProblem(error)) }
    }

    /// Proves the change that is wanted and makes it. Refused, the switch goes back and ``failure`` says why.
    package func prove(passcode: consuming SecretBytes) async {
        guard let change = wanted, needed == .passcode else { return }
        await make(change, passcode, nil)
    }

    /// As ``prove(passcode:)``, for a change that makes the recovery phrase the only other way in.
    /// - Parameters:
    ///   - passcode: The passcode as it was typed.
    ///   - text: The phrase as it was typed.
    package func prove(passcode: consuming SecretBytes, phrase text: consuming SecretBytes) async {
        guard let change = wanted, needed == .passcodeAndPhrase, !isBusy else { return }
        do throws(RecoveryPhraseError) {
            await make(change, passcode, try RecoveryPhrase(parsing: text))
        } catch {
            failure = Failure(change: change, problem: .unreadablePhrase(error))
            (wanted, needed) = (nil, nil)
        }
    }

    /// Gives the vault another passcode.
    /// - Parameters:
    ///   - old: The present one.
    ///   - new: 1 to 1,024 bytes.
    ///   - takesWeak: Whether the user insists on a passcode that is guessed at once.
    /// - Returns: Why not; nil when it was done.
    package func changePasscode(
        from old: consuming SecretBytes, to new: consuming SecretBytes, takingWeak takesWeak: Bool = false
    ) async -> VaultProblem? {
        guard !isBusy else { return .busy }
        if let problem = PasscodeFloor.problem(of: new, takingWeak: takesWeak) { return problem }
        isBusy = true
        defer { isBusy = false }
        do throws(VaultError) {
            try await SecuritySettingsModel.changePasscode(app.vault, old, new)
            return nil
        } catch {
            adopt(await SecuritySettingsModel.status(app.vault))
            return VaultProblem(error)
        }
    }

    /// Gives the vault a PIN under the machine's chip, in place of the one that it may have.
    /// - Returns: Why not; nil when it was done.
    package func setPIN(_ pin: consuming SecretBytes, passcode: consuming SecretBytes) async -> VaultProblem? {
        guard !isBusy else { return .busy }
        isBusy = true
        defer { isBusy = false }
        let problem = await SecuritySettingsModel.setPIN(app.vault, pin, passcode)
        adopt(await SecuritySettingsModel.status(app.vault))
        guard problem == nil else { return problem }
        await onPIN()
        return nil
    }

    /// What belongs to an open vault is forgotten.
    package func drop() {
        dialog.cancel()
        if !isBusy { (wanted, needed) = (nil, nil) }
        failure = nil
    }

    private static func proof(for change: Change) -> Proof {
        switch change {
        case .owner(let step, true): .owner(step)
        case .chip(true): .passcodeAndPhrase
        case .lock, .ownerAnew, .timing, .attemptLimit, .owner(_, false), .chip(false), .pinRemoval, .countsBiometrics,
            .hardware:
            .passcode
        }
    }

    private func holds(_ change: Change) -> Bool {
        guard let policy else { return false }
        return switch change {
        case .lock(let isOn): policy.isLockEnabled == isOn
        case .ownerAnew: !offersOwnerAnew
        case .timing(let timing): policy.lockTiming == timing
        case .attemptLimit(let limit): policy.attemptLimit == limit
        case .owner(let step, let isOn): policy.asks(for: step) == isOn
        case .chip(let isOn): isUnderChip == isOn
        case .pinRemoval: !hasPIN
        case .countsBiometrics(let isOn): policy.countsBiometricFailures == isOn
        case .hardware: !leavesHardware
        }
    }

    private func adopt(_ found: Found) {
        leavesHardware = found.leavesHardware
        guard let status = found.status else { return }
        level = found.level
        enrollmentChanged = found.enrollmentChanged && found.level == .owner
        hasPasscode = status.slots.contains(.passcode)
        hasPhrase = status.slots.contains(.recoveryPhrase)
        policy = status.policy
        passcodeAssurance = status.passcodeAssurance
        isUnderChip = status.hasHardwareShare
        hasPIN = status.hasPIN
    }
}

// The changes themselves.
extension SecuritySettingsModel {
    private func make(
        _ change: Change, _ passcode: consuming SecretBytes, _ phrase: consuming RecoveryPhrase?
    ) async {
        guard !isBusy else { return }
        isBusy = true
        failure = nil
        do throws(VaultError) {
            switch change {
            case .lock(let isOn): try await app.lock.setEnabled(isOn, passcode: passcode)
            case .ownerAnew: throw VaultError(.invalidPolicy, "this belongs to a vault without a passcode")
            case .timing(let timing): try await app.lock.setTiming(timing, passcode: passcode)
            case .attemptLimit(let limit): try await edit(passcode) { $0.attemptLimit = limit }
            case .owner(let step, true): try await app.lock.enrollOwner(step, passcode: passcode)
            case .owner(let step, false): try await app.lock.removeOwner(step, passcode: passcode)
            case .chip(true): try await SecuritySettingsModel.enrollChip(app.vault, passcode, phrase)
            case .chip(false): try await SecuritySettingsModel.removeChip(app.vault, passcode)
            case .pinRemoval: try await SecuritySettingsModel.removePIN(app.vault, passcode)
            case .countsBiometrics(let isOn): try await edit(passcode) { $0.countsBiometricFailures = isOn }
            case .hardware(let decision): try await SecuritySettingsModel.settle(app.vault, passcode, decision)
            }
        } catch { failure = Failure(change: change, problem: VaultProblem(error)) }
        adopt(await SecuritySettingsModel.status(app.vault))
        await onChange()
        isBusy = false
        (wanted, needed) = (nil, nil)
    }

    private func edit(
        _ passcode: borrowing SecretBytes, _ change: @escaping @Sendable (inout VaultPolicy) -> Void
    ) async throws(VaultError) {
        try await SecuritySettingsModel.edit(app.vault, passcode, change)
    }

    /// What the vault says of itself.
    private struct Found: Sendable {
        let status: Vault.Status?
        let level: VaultLevel?
        let enrollmentChanged: Bool
        let leavesHardware: Bool
    }

    @concurrent
    private nonisolated static func status(_ vault: Vault) async -> Found {
        Found(
            status: try? vault.status(), level: try? vault.protection().level,
            enrollmentChanged: vault.ownerKeeper.expiry(of: .biometrics) == .enrollmentChanged,
            leavesHardware: vault.leavesHardware)
    }

    @concurrent
    private nonisolated static func edit(
        _ vault: Vault, _ passcode: borrowing SecretBytes, _ change: @Sendable (inout VaultPolicy) -> Void
    ) async throws(VaultError) {
        let attempt = try vault.burnAttempt()
        try vault.changePolicy(passcode: passcode, spending: attempt) { policy throws(VaultError) in change(&policy) }
    }

    @concurrent
    private nonisolated static func changePasscode(
        _ vault: Vault, _ old: borrowing SecretBytes, _ new: borrowing SecretBytes
    ) async throws(VaultError) {
        let attempt = try vault.burnAttempt()
        try vault.changePasscode(from: old, spending: attempt, to: new)
    }

    @concurrent
    private nonisolated static func removeChip(
        _ vault: Vault, _ passcode: borrowing SecretBytes
    ) async throws(VaultError) {
        let attempt = try vault.burnAttempt()
        try vault.removeHardware(passcode: passcode, spending: attempt)
    }

    /// On a separate thread, because a chip that does not respond would block other users of the thread.
    nonisolated static func look(_ app: HoldfastApp, _ lookAtChip: @escaping LookAtChip) async -> OwnerObstacle? {
        await withCheckedContinuation { answer in
            if !DetachedThread.start({ answer.resume(returning: lookAtChip(app)) }) { answer.resume(returning: .busy) }
        }
    }
}
