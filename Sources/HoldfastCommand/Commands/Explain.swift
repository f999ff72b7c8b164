internal import AgentMessages
internal import CommandLineArguments
internal import DeviceOwner
internal import Holdfast
internal import HoldfastAgent

extension Command {
    static let explain = Command(
        "explain", synonyms: ["how"], summary: "say which unlock method is used now, and why",
        details: [
            "Goes through the steps of the vault's fallback policy as they apply on this machine now: which one is "
                + "used, why the others are not, what cancelling does, and how strong the result is. Asks for nothing "
                + "and changes nothing. holdfast doctor says how to get what is missing."
        ],
        example: "holdfast explain",
        options: [Options.home.option, Options.json.option], run: explainPolicy)
}

/// What is known now about the owner steps, from the machine and from the agent.
struct OwnerFacts {
    var capabilities: [OwnerStep: OwnerCapability] = [:]
    var secondsSincePasscode: UInt64?
    var nonMatches = 0

    /// Asks the agent, where one runs; no person, and no sensor.
    init(_ arguments: Arguments, for policy: VaultPolicy) {
        let steps = OwnerStep.allCases.filter { policy.fallback[$0.fallback] != nil }
        guard !steps.isEmpty else { return }
        let authenticator = OwnerAuthenticator.standard
        for step in steps { capabilities[step] = authenticator.capability(of: step) }
        guard let client = try? AgentAccess.connect(arguments), let status = try? client.owner() else { return }
        nonMatches = Int(status.nonMatches)
        if status.expiry == nil { secondsSincePasscode = status.sincePasscode.map { $0 / 1000 } }
    }

    func decision(_ status: Vault.Status, _ outcomes: [FallbackFacts.Asked] = []) -> FallbackDecision {
        FallbackDecision(
            FallbackFacts(
                policy: status.policy, capabilities: [FallbackStep: StepCapability](status, owner: capabilities),
                outcomes: outcomes, secondsSincePasscode: secondsSincePasscode, nonMatches: nonMatches))
    }
}
