internal import Holdfast

/// Why only the passcode is taken, although the rules take a finger or an account.
package enum PasscodeReason: Sendable, Hashable, CaseIterable {
    /// It was not given since the app started, or too long ago.
    case start
    /// Too many fingers did not match since.
    case nonMatches
    /// Fingers were added or removed since.
    case enrollmentChanged
    /// The rules were changed, or do not take it.
    case rules

    init(_ expiry: OwnerExpiry) {
        self =
            switch expiry {
            case .noPasscode: .start
            case .nonMatches: .nonMatches
            case .enrollmentChanged: .enrollmentChanged
            }
    }
}

/// Why the system cannot ask its owner, or a chip cannot be used.
package enum OwnerObstacle: Sendable, Hashable, CaseIterable {
    /// It is not there, or not reachable.
    case missing
    /// The user has set nothing up for it.
    case notEnrolled
    /// The system is locked out.
    case lockedOut
    /// Something else uses it.
    case busy
    /// The user has not allowed this app to use it: the system's settings do.
    case denied

    init?(_ capability: OwnerCapability) {
        switch capability {
        case .available: return nil
        case .notEnrolled: self = .notEnrolled
        case .lockedOut: self = .lockedOut
        case .busy: self = .busy
        case .denied: self = .denied
        case .missing, .broken: self = .missing
        }
    }
}

/// What a lock screen knows about the owner steps, read off the main thread.
struct OwnerFacts: Sendable {
    /// How the vault opens.
    let level: VaultLevel
    /// Whether the lock shut it, and not only a key store that could not be asked.
    let isShut: Bool
    /// The ways that the rules take and that nothing in this process stands in the way of.
    let steps: [OwnerStep]
    /// Why one of them is not taken; nil where the rules take none, or all are.
    let passcodeReason: PasscodeReason?
    /// The number of the prompt that the lock machine wants; nil where it wants none.
    let prompt: UInt64?
    private let status: Vault.Status
    private let secondsSincePasscode: UInt64?
    private let nonMatches: Int

    init(_ app: HoldfastApp, _ status: Vault.Status, _ protection: Protection, _ snapshot: AppLock.Snapshot) {
        level = protection.level
        isShut = snapshot.isLockScreenShown
        self.status = status
        if case .authenticating(let number) = snapshot.state { prompt = number } else { prompt = nil }
        let wanted = OwnerStep.allCases.filter { status.policy.asks(for: $0) }
        steps = wanted.filter { OwnerFacts.isOpen(app.lock, $0) }
        let state = app.vault.ownerState
        secondsSincePasscode = state.expiry == nil ? state.sincePasscode.map { $0 / 1000 } : nil
        nonMatches = state.nonMatches
        passcodeReason =
            steps.count == wanted.count ? nil : state.expiry.map(PasscodeReason.init) ?? .rules
    }

    private static func isOpen(_ lock: AppLock, _ step: OwnerStep) -> Bool {
        do throws(VaultError) { return try lock.ownerObstacle(step) == nil } catch { return false }
    }

    /// Follows the fallback chain as if the user requested the next step each time, and collects each owner step,
    /// because the screen has a button for each.
    /// - Parameters:
    ///   - capabilities: What the machine can do; anything unchecked is treated as missing.
    ///   - outcomes: How the ways that were asked ended.
    func offers(
        _ capabilities: [OwnerStep: OwnerCapability], after outcomes: [OwnerStep: StepOutcome]
    ) -> [OwnerStep] {
        let able = capabilities.filter { steps.contains($0.key) }
        var facts = FallbackFacts(
            policy: status.policy, capabilities: [FallbackStep: StepCapability](status, owner: able),
            secondsSincePasscode: secondsSincePasscode, nonMatches: nonMatches)
        var offers: [OwnerStep] = []
        for _ in FallbackStep.allCases {
            guard case .ask(let asked) = FallbackDecision(facts).action else { break }
            let step = OwnerStep.allCases.first { $0.fallback == asked }
            if let step { offers.append(step) }
            facts.outcomes.append(.init(asked, step.flatMap { outcomes[$0] } ?? .requestedOther))
        }
        return offers
    }
}
