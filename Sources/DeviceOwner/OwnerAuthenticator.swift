package import VaultFormat
internal import SystemCalls

/// Asks the system whether its owner is in front of the device. A yes comes out only as a release of the keeper's
/// share.
package struct OwnerAuthenticator: Sendable {
    private let backends: [any OwnerBackend]

    /// - Parameter backends: Ways to ask; other than those of the system for tests alone.
    package init(_ backends: [any OwnerBackend]) { self.backends = backends }

    private func backend(_ step: OwnerStep) -> (any OwnerBackend)? { backends.first { $0.step == step } }

    /// What a way can do now. Asks no person, and ends within ``OwnerBackend/probeLimit``.
    package func capability(of step: OwnerStep) -> OwnerCapability {
        backend(step)?.capability() ?? .missing("not built into this version")
    }

    /// What is enrolled; nil where that cannot be told, so that no later look compares equal.
    package func enrollment(of step: OwnerStep) -> OwnerEnrollment? { backend(step)?.enrollment() }

    /// Prompts the user until there is a result, time runs out, or the user cancels. Blocks.
    /// - Parameters:
    ///   - keeper: Supplies the release; if it has none, there is no prompt.
    ///   - patience: Milliseconds for all of it.
    package func confirm(
        _ step: OwnerStep, keeper: OwnerKeeper, patience: UInt64 = 30_000, _ conversation: any OwnerConversation
    ) -> OwnerOutcome {
        if let expiry = keeper.expiry(of: step) { return .expired(expiry) }
        guard let backend = backend(step) else { return .impossible(.missing("not built into this version")) }
        guard conversation.cancellation.isPossible else {
            return .impossible(.missing("no descriptor can be had to be cancelled by"))
        }
        if backend.hasEnrollment {
            guard let enrollment = backend.enrollment() else { return .impossible(backend.capability().orMissing) }
            guard keeper.isUnchanged(enrollment) else { return .expired(keeper.expiry(of: step) ?? .enrollmentChanged) }
        }
        let deadline = MonotonicClock.milliseconds + patience
        switch backend.confirm(conversation, until: deadline, onNonMatch: { keeper.countNonMatch() }) {
        case .confirmed(let proof):
            // A cancel at the same moment wins.
            guard !conversation.cancellation.isCancelled else { return .cancelled }
            guard let release = keeper.release(step, proof) else {
                return .expired(keeper.expiry(of: step) ?? .noPasscode)
            }
            return .released(release)
        case .refused: return keeper.expiry(of: step).map { .expired($0) } ?? .refused
        case .cancelled: return .cancelled
        case .timedOut: return .timedOut
        case .impossible(let capability): return .impossible(capability)
        }
    }
}

extension OwnerCapability {
    /// For a part that could not say what is enrolled and yet calls itself available.
    fileprivate var orMissing: OwnerCapability { self == .available ? .missing("it does not answer") : self }
}

/// One way to ask. Named in this module and in HoldfastTesting only (checked by scripts/check-layout).
package protocol OwnerBackend: Sendable {
    var step: OwnerStep { get }
    /// Whether what is enrolled can change behind our back.
    var hasEnrollment: Bool { get }
    func capability() -> OwnerCapability
    func enrollment() -> OwnerEnrollment?
    /// - Parameters:
    ///   - deadline: Milliseconds of the `MonotonicClock`.
    ///   - onNonMatch: Told of each sample that did not match; says whether another one may be asked for.
    func confirm(
        _ conversation: any OwnerConversation, until deadline: UInt64, onNonMatch: () -> Bool
    ) -> OwnerVerdict
}
