public import Holdfast
public import Observation

/// The security settings: each change is proved with the passcode, and shown as it was until it holds.
@MainActor @Observable
public final class SecuritySettingsModel {
    /// A change that the owner asked for.
    public enum Change: Sendable, Hashable {
        /// The app lock on or off.
        case lock(Bool)
        /// How long the app may be away.
        case timing(LockTiming)
        /// Wrong passcodes before the last consequence; 3 to 10.
        case attemptLimit(Int)
        /// Whether a fingerprint or a face may be asked for.
        case biometrics(Bool)
        /// Whether a failed biometric prompt counts while self-destruct is on.
        case countsBiometrics(Bool)
    }

    /// Why a switch cannot be used.
    public enum Obstacle: Sendable, Hashable {
        /// The step is not there, or not reachable.
        case missing
        /// The owner has set nothing up for it.
        case notEnrolled
        /// The system takes no try now.
        case lockedOut
        /// Something else uses it.
        case busy
    }

    /// A change that did not come to hold, and why.
    public struct Failure: Sendable, Hashable {
        /// What was asked for.
        public let change: Change
        /// Why it does not hold.
        public let problem: VaultProblem
    }

    /// The rules that hold; nil until they were read.
    public private(set) var policy: VaultPolicy?
    /// What an unlock with the passcode proves.
    public private(set) var passcodeAssurance: Assurance?
    /// Why biometrics cannot be switched on; nil when they can.
    public private(set) var biometricsObstacle: Obstacle? = .missing
    /// The change that waits for the passcode. The switch shows it as wanted until it is proved, then as it is.
    public private(set) var wanted: Change?
    /// Whether a passcode is being checked.
    public private(set) var isBusy = false
    /// The last change that did not come to hold: the switch is back, and this says why.
    public var failure: Failure?

    @ObservationIgnored private let app: HoldfastApp

    /// The settings of this app.
    public init(_ app: HoldfastApp) { self.app = app }

    /// Whether the switch of the app lock stands on: as it is, or as it is wanted while the passcode is asked for.
    public var showsLockOn: Bool {
        if case .lock(let isOn) = wanted { return isOn }
        return policy?.isLockEnabled ?? false
    }

    /// The timing to show, as with ``showsLockOn``.
    public var shownTiming: LockTiming {
        if case .timing(let timing) = wanted { return timing }
        return policy?.lockTiming ?? .immediately
    }

    /// The attempt limit to show, as with ``showsLockOn``.
    public var shownAttemptLimit: Int {
        if case .attemptLimit(let limit) = wanted { return limit }
        return policy?.attemptLimit ?? VaultPolicy.standard.attemptLimit
    }

    /// Whether the switch of biometrics stands on, as with ``showsLockOn``.
    public var showsBiometricsOn: Bool {
        if case .biometrics(let isOn) = wanted { return isOn }
        return policy?.usesBiometrics ?? false
    }

    /// Reads what holds.
    public func load() async { adopt(await SecuritySettingsModel.status(app.vault)) }

    /// Asks for a change: the passcode has to be given for it.
    public func request(_ change: Change) {
        guard !isBusy else { return }
        failure = nil
        wanted = holds(change) ? nil : change
    }

    /// The owner turned away: nothing changes, the switch goes back.
    public func cancel() {
        guard !isBusy else { return }
        wanted = nil
    }

    /// Proves the change that is wanted and makes it. Refused, the switch goes back and ``failure`` says why.
    public func prove(passcode: consuming SecretBytes) async {
        guard let change = wanted, !isBusy else { return }
        isBusy = true
        failure = nil
        do throws(VaultError) {
            switch change {
            case .lock(let isOn): try await app.lock.setEnabled(isOn, passcode: passcode)
            case .timing(let timing): try await app.lock.setTiming(timing, passcode: passcode)
            case .attemptLimit(let limit):
                try await edit(passcode) { $0.attemptLimit = limit }
            case .biometrics(let isOn): try await edit(passcode) { $0.usesBiometrics = isOn }
            case .countsBiometrics(let isOn): try await edit(passcode) { $0.countsBiometricFailures = isOn }
            }
        } catch { failure = Failure(change: change, problem: VaultProblem(error)) }
        adopt(await SecuritySettingsModel.status(app.vault))
        isBusy = false
        wanted = nil
    }

    /// Gives the vault another passcode.
    /// - Returns: Why not; nil when it was done.
    public func changePasscode(
        from old: consuming SecretBytes, to new: consuming SecretBytes
    ) async -> VaultProblem? {
        guard !isBusy else { return .busy }
        isBusy = true
        defer { isBusy = false }
        do throws(VaultError) {
            try await SecuritySettingsModel.changePasscode(app.vault, old, new)
            return nil
        } catch { return VaultProblem(error) }
    }

    /// What belongs to an open vault is forgotten.
    public func drop() {
        if !isBusy { wanted = nil }
        failure = nil
    }

    private func holds(_ change: Change) -> Bool {
        guard let policy else { return false }
        return switch change {
        case .lock(let isOn): policy.isLockEnabled == isOn
        case .timing(let timing): policy.lockTiming == timing
        case .attemptLimit(let limit): policy.attemptLimit == limit
        case .biometrics(let isOn): policy.usesBiometrics == isOn
        case .countsBiometrics(let isOn): policy.countsBiometricFailures == isOn
        }
    }

    private func adopt(_ status: Vault.Status?) {
        guard let status else { return }
        policy = status.policy
        passcodeAssurance = status.passcodeAssurance
        biometricsObstacle = Obstacle([FallbackStep: StepCapability](status)[.biometrics])
    }

    private func edit(
        _ passcode: borrowing SecretBytes, _ change: @escaping @Sendable (inout VaultPolicy) -> Void
    ) async throws(VaultError) {
        try await SecuritySettingsModel.edit(app.vault, passcode, change)
    }

    @concurrent
    private nonisolated static func status(_ vault: Vault) async -> Vault.Status? { try? vault.status() }

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
}

extension SecuritySettingsModel.Obstacle {
    init?(_ capability: StepCapability?) {
        switch capability {
        case .available: return nil
        case .notEnrolled: self = .notEnrolled
        case .lockedOut: self = .lockedOut
        case .busy: self = .busy
        case .missing, nil: self = .missing
        }
    }
}
