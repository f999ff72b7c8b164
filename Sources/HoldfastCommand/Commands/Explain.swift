internal import AgentMessages
internal import CommandLineArguments
internal import DeviceOwner
internal import Holdfast
internal import HoldfastAgent

extension Command {
    private static let explanation = Command(
        "explain", synonyms: ["how"], summary: "say which unlock method is used now, and why",
        details: [
            "Goes through the steps of the vault's fallback policy as they apply on this machine now: which one is "
                + "used, why the others are not, what cancelling does, and how strong the result is. Asks for nothing "
                + "and changes nothing. holdfast doctor says how to get what is missing."
        ],
        example: "holdfast explain",
        options: [Options.home.option, Options.json.option], run: explainPolicy)

    static let explain = explanation.earlier("explain", successor: "holdfast status --long")
    static let lockPolicyExplain = explanation.earlier("lock-policy", "explain", successor: "holdfast status --long")
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

/// Which unlock method is used now, and why.
struct Explanation {
    let lines: [String]
    let json: JSON

    init(_ arguments: Arguments) throws(CommandError) {
        let vault = try Unlocking.find(arguments)
        var status = try vaultCall { try vault.status() }
        // Only what works here: not a PIN of another machine's TPM, nor one whose attempts are used up.
        if vault.remainingAtChip(.pin) == 0 { status.pinAssurance = nil }
        // A vault that opens without asking takes no step of its rules.
        if try Unlocking.asksNobody(vault) {
            let sentence = "The vault opens without asking, so none of its policy's steps is taken."
            lines = [sentence + " holdfast open-without-asking off gives it a passcode."]
            json = .object([
                "action": .object(["kind": .text("open")]), "steps": .array([]), "sentences": .array([.text(sentence)]),
            ])
            return
        }
        let policy = status.policy
        let facts = OwnerFacts(arguments, for: policy)
        let report = PolicyReport(status: status, owner: facts.capabilities)
        let decision = facts.decision(status)
        var sentences = decision.explanation(under: policy.fallback)
        if case .ask(.appPasscode) = decision.action, let sentence = Explanation.ofPIN(status) {
            sentences.insert(sentence, at: 1)
        }
        let order = policy.fallback.rules.map(\.step.words).joined(separator: ", then ")
        let name = policy.fallback.presetName.map { "The policy \"\(Words.typed($0))\"" } ?? "The vault's own policy"
        if !policy.remembersPasscode { sentences.append(Explanation.forgetful) }
        lines = ["\(name): \(order)."] + sentences.map(Escaping.sentence)
        json = decision.json(sentences, report)
    }

    private static let forgetful =
        "The policy lets no command leave the vault open behind it (remember=never): each command asks, until holdfast unlock."

    /// What is asked for if the vault has a PIN for this machine's TPM.
    private static func ofPIN(_ status: Vault.Status) -> String? {
        guard status.pinAssurance != nil else { return nil }
        let passcode = status.passcodeAssurance.map { ", which is \($0.words)" } ?? ""
        return
            "The PIN is asked for instead, and counted by the TPM; press Enter at its prompt to use the passcode\(passcode)."
    }
}

private func explainPolicy(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let explanation = try Explanation(arguments)
    if arguments[Options.json] {
        try Output.write(explanation.json)
    } else {
        for line in explanation.lines { try Output.write(line + "\n") }
    }
    return .done
}

extension FallbackDecision {
    func json(_ sentences: [String], _ report: PolicyReport) -> JSON {
        .object([
            "action": action.json,
            "steps": .array(lines.map { $0.json(report.capabilities[$0.step]) }),
            "sentences": .array(sentences.map { .text($0) }),
            "preset": report.status.policy.fallback.presetName.map { .text($0) } ?? .null,
            "storageAssurance": .text(report.storageAssurance.name),
            "remember": .text(report.status.policy.rememberWord),
        ])
    }
}

extension FallbackDecision.Action {
    fileprivate var json: JSON {
        switch self {
        case .ask(let step): .object(["kind": .text("ask"), "step": .text(step.name)])
        case .useOpenCompartment: .object(["kind": .text("useOpenCompartment")])
        case .stop(let stop):
            .object([
                "kind": .text("stop"), "code": .text(stop.code.rawValue),
                "step": stop.step.map { .text($0.name) } ?? .null,
                "condition": stop.condition.map { .text($0.name) } ?? .null,
            ])
        }
    }
}

extension FallbackDecision.Line {
    fileprivate func json(_ capability: StepCapability?) -> JSON {
        var members: [String: JSON] = ["step": .text(step.name)]
        switch finding {
        case .used(let assurance):
            members["finding"] = .text("used")
            members["assurance"] = .text(assurance.name)
        case .asked(let outcome):
            members["finding"] = .text("asked")
            members["outcome"] = .text(outcome.rawValue)
        case .passedOver(let condition, let why):
            members["finding"] = .text("passedOver")
            members["condition"] = .text(condition.name)
            members["why"] = .text(why)
        case .notCalledFor(let condition):
            members["finding"] = .text("notCalledFor")
            members["condition"] = .text(condition.name)
        case .notReached: members["finding"] = .text("notReached")
        }
        members["capability"] = capability.map { .text($0.name) } ?? .null
        return .object(members)
    }
}

extension StepCapability {
    /// Its word in JSON.
    fileprivate var name: String {
        switch self {
        case .available: "available"
        case .notEnrolled: "notEnrolled"
        case .lockedOut: "lockedOut"
        case .busy: "busy"
        case .missing: "missing"
        }
    }
}

extension Command {
    static let help = Command(.help(of: "holdfast", example: "holdfast help passcode change")) {
        arguments throws(CommandError) in
        try Output.write(usage(CommandTable.program.help(for: arguments.places)))
        return .done
    }

    /// For `make man`.
    static let manual = Command(
        "manual", summary: "print what the manual page has of the command table",
        details: ["Prints the parts of the manual page that scripts/man puts into it."], example: "holdfast manual",
        options: []
    ) { _ throws(CommandError) in
        try Output.write(CommandTable.program.manual)
        return .done
    }
}
