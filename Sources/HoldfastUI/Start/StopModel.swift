package import Holdfast
public import Observation

/// Why a vault does not open on this device, or cannot be begun, and what its user can do about that.
///
/// Nothing of it counts as an attempt, and nothing begins a new vault by itself.
@MainActor @Observable
public final class StopModel {
    /// What happened.
    package enum Reason: Sendable, Hashable, CaseIterable {
        /// The device remembers a vault that is not in the folder: it was moved, deleted, or left by an earlier
        /// installation.
        case missing
        /// The key store cannot be asked now: the device or the keyring is locked. Nothing was lost.
        case notNow
        /// The key store was asked and does not have the share that opens the vault.
        case lost
        /// It is another vault than the device remembers, or a less protected one.
        case another
        /// The vault would open without asking, and its rules ask for a lock.
        case contradicted
    }

    /// What the user can do.
    public enum Remedy: Sendable, Hashable, CaseIterable {
        /// The same once more.
        case tryAgain
        /// The vault is the right one: open it. The device's owner confirms, where the device can ask.
        case accept
        /// From now on the device's owner is asked: the vault and its rules agree again.
        case requireOwner
        /// From now on nobody is asked: the vault and its rules agree again. The device's owner confirms it, where the
        /// device can ask.
        case stopAsking
        /// Put the folder aside and begin a new vault. Nothing is deleted.
        case startOver
    }

    /// How a vault can begin where the device has no key store for it, or none that can be asked now.
    package enum Beginning: Sendable, Hashable, CaseIterable {
        /// The assistant gives it a passcode.
        case passcode
        /// Its key lies in a file beside it, which protects nothing.
        case file
    }

    /// What happened.
    package let reason: Reason
    /// What a key store that cannot be asked now waits for (``Reason/notNow``), where that is known.
    package let until: ShareWait?
    /// What can be done, the mildest first.
    public let remedies: [Remedy]
    /// The remedy that is under way.
    package private(set) var running: Remedy?
    /// Why the last remedy did not help.
    package var problem: VaultProblem?

    /// How a vault can begin; empty where there may be one.
    package let beginnings: [Beginning]
    /// Whether a vault is being made.
    package private(set) var isBeginning = false

    @ObservationIgnored private let start: @MainActor (Beginning) async -> VaultProblem?
    @ObservationIgnored private let act: @MainActor (Remedy) async -> VaultProblem?

    /// - Parameters:
    ///   - until: What the key store waits for.
    ///   - canStartOver: Whether there is somebody who puts the folder aside.
    ///   - beginnings: How a vault can begin.
    ///   - begin: Begins one, and tells why it did not.
    ///   - act: Does what a remedy says, and tells why it did not help.
    package init(
        _ reason: Reason, until: ShareWait? = nil, canStartOver: Bool, beginnings: [Beginning] = [],
        begin: @escaping @MainActor (Beginning) async -> VaultProblem? = { _ in nil },
        act: @escaping @MainActor (Remedy) async -> VaultProblem?
    ) {
        self.reason = reason
        self.until = until
        self.act = act
        self.beginnings = beginnings
        start = begin
        let wanted: [Remedy] =
            switch reason {
            case .missing: [.tryAgain, .startOver]
            case .notNow: [.tryAgain]
            case .lost: [.tryAgain, .startOver]
            case .another: [.accept, .startOver]
            case .contradicted: [.requireOwner, .stopAsking, .startOver]
            }
        remedies = wanted.filter { $0 != .startOver || canStartOver }
    }

    /// Does what a remedy says. ``AppModel/models``, ``AppModel/stop`` and ``LockModel/stop`` say the outcome.
    public func perform(_ remedy: Remedy) async {
        guard !isBusy, remedies.contains(remedy) else { return }
        (running, problem) = (remedy, nil)
        problem = await act(remedy)
        running = nil
    }

    /// Whether something is under way.
    package var isBusy: Bool { running != nil || isBeginning }

    /// Begins a vault. ``AppModel/phase`` says the outcome.
    package func begin(_ beginning: Beginning) async {
        guard !isBusy, beginnings.contains(beginning) else { return }
        (isBeginning, problem) = (true, nil)
        problem = await start(beginning)
        isBeginning = false
    }
}

extension StopModel.Reason {
    /// In the words that a user interface has for it.
    package var problem: VaultProblem {
        switch self {
        case .missing: .vaultMissing
        case .notNow: .shareUnavailable
        case .lost: .shareLost
        case .another, .contradicted: .levelLowered
        }
    }

    /// Nil for any other error.
    init?(_ error: VaultError) {
        switch error.code {
        case .vaultMissing: self = .missing
        case .shareUnavailable: self = .notNow
        case .shareLost: self = .lost
        case .levelLowered: self = .another
        case .levelContradicted: self = .contradicted
        default: return nil
        }
    }
}
