internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let rules = Chapter(
        title: "The rules",
        steps: [
            Step("changed the rules with the passcode") { tour in
                let vault = try tour.openedApp().vault
                let passcode = try Tour.secret(tour.passcode)
                let policy = try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
                    policy.isLockEnabled = true
                    policy.lockTiming = .after(seconds: 300)
                    policy.fallback = .convenient
                    policy.collectionMinima = [Samples.items[0].collection: .hardwareBound]
                }
                try tour.expect(try vault.status().policy == policy, "the header has other rules")
                return "padlock on, lock after 5 min, \(policy.fallback.presetName ?? "own") fallback"
            },
            Step("told what would be asked, and why") { tour in
                let status = try tour.openedApp().vault.status()
                let facts = FallbackFacts(
                    policy: status.policy, capabilities: [FallbackStep: StepCapability](status))
                let decision = FallbackDecision(facts)
                try tour.expect(decision.action == .ask(.appPasscode), "\(decision.action) instead of the passcode")
                for sentence in decision.explanation(under: status.policy.fallback) { tour.show(sentence) }
                return status.policy.fallback.rules.map(\.step.name).joined(separator: ", ")
            },
            Step("shut a collection that asks for more") { tour in
                let vault = try tour.openedApp().vault
                let item = Samples.items[0]
                let error = try await tour.expectRefusal(.assuranceTooLow, "reading") {
                    try vault.withValue(for: item.name, in: item.collection) { _ in }
                }
                return error.reason
            },
            Step("took a cancel for what it is") { tour in
                let status = try tour.openedApp().vault.status()
                let facts = FallbackFacts(
                    policy: status.policy, capabilities: [FallbackStep: StepCapability](status),
                    outcomes: [FallbackFacts.Asked(.appPasscode, .cancelled)])
                guard case .stop(let stop) = FallbackDecision(facts).action else {
                    throw TourFailure(description: "cancelling led to another step")
                }
                return "\(stop)"
            },
            Step("gave back the rules of a new vault") { tour in
                let vault = try tour.openedApp().vault
                let passcode = try Tour.secret(tour.passcode)
                try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0 = .standard }
                return "\(Format.grouped(try tour.compareAll(vault))) bytes are the same"
            },
        ])
}
