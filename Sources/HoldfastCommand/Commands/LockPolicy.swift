internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let lockPolicyShow = Command(
        "lock-policy", "show", synonyms: ["get", "list"], summary: "show the vault's policy",
        details: [
            "Prints every setting with its key, and warnings about it. Nothing is asked for, so the settings are not "
                + "verified: the passcode opens the vault only with the policy it was set with."
        ],
        example: "holdfast lock-policy show",
        options: [Options.home.option, Options.json.option], run: showPolicy)

    static let lockPolicyExplain = Command(
        "lock-policy", "explain", synonyms: ["why"], summary: "say which unlock method is used now, and why",
        details: [
            "Goes through the steps of the fallback policy as they apply on this machine now: which one is used, why "
                + "the others are not, what cancelling does, and how strong the result is. Asks for nothing and "
                + "changes nothing."
        ],
        example: "holdfast lock-policy explain",
        options: [Options.home.option, Options.json.option], run: explainPolicy)
}

private func showPolicy(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let report = PolicyReport(status: try vaultCall { try vault.status() })
    if arguments[Options.json] {
        try Output.write(report.json)
        return .done
    }
    try Output.write(Facts.text(report.facts))
    for issue in report.issues { try Output.write("\(issue.severity): \(Escaping.sentence(issue.words))\n") }
    return .done
}

func explainPolicy(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    var status = try vaultCall { try vault.status() }
    // Only what works here: not a PIN of another machine's TPM, nor one whose attempts are used up.
    if vault.remainingAtChip(.pin) == 0 { status.pinAssurance = nil }
    if try Unlocking.asksNobody(vault) { return try explainUnasked(arguments) }
    let policy = status.policy
    let facts = OwnerFacts(arguments, for: policy)
    let report = PolicyReport(status: status, owner: facts.capabilities)
    let decision = facts.decision(status)
    var sentences = decision.explanation(under: policy.fallback)
    if case .ask(.appPasscode) = decision.action, let sentence = ofPIN(status) { sentences.insert(sentence, at: 1) }
    if arguments[Options.json] {
        try Output.write(decision.json(sentences, report))
        return .done
    }
    let order = policy.fallback.rules.map(\.step.words).joined(separator: ", then ")
    let name = policy.fallback.presetName.map { "The policy \"\($0)\"" } ?? "The vault's own policy"
    try Output.write("\(name): \(order).\n")
    for sentence in sentences { try Output.write(Escaping.sentence(sentence) + "\n") }
    return .done
}

/// A vault that opens without asking takes no step of its rules.
private func explainUnasked(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let sentence = "The vault opens without asking, so none of its policy's steps is taken."
    if arguments[Options.json] {
        try Output.write(
            .object([
                "action": .object(["kind": .text("open")]), "steps": .array([]), "sentences": .array([.text(sentence)]),
            ]))
    } else {
        try Output.write(sentence + " holdfast slots remove device gives it a passcode.\n")
    }
    return .done
}

/// What is asked for if the vault has a PIN for this machine's TPM.
private func ofPIN(_ status: Vault.Status) -> String? {
    guard status.pinAssurance != nil else { return nil }
    let passcode = status.passcodeAssurance.map { ", which is \($0.words)" } ?? ""
    return
        "The PIN is asked for instead, and counted by the TPM; press Enter at its prompt to use the passcode\(passcode)."
}

extension FallbackDecision {
    func json(_ sentences: [String], _ report: PolicyReport) -> JSON {
        .object([
            "action": action.json,
            "steps": .array(lines.map { $0.json(report.capabilities[$0.step]) }),
            "sentences": .array(sentences.map { .text($0) }),
            "preset": report.status.policy.fallback.presetName.map { .text($0) } ?? .null,
            "storageAssurance": .text(report.storageAssurance.name),
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
