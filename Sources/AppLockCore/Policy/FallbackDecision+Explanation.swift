package import VaultFormat

extension FallbackDecision {
    /// Sentences: what is done now, why the steps before it are not used, when those behind it would be, what
    /// cancelling does, and how strong the result is.
    package func explanation(under policy: FallbackPolicy) -> [String] {
        [doing] + lines.compactMap { sentence($0, policy) } + [cancelling(policy), strength]
    }

    private var doing: String {
        switch action {
        case .ask(let step): "Unlocking asks for \(step.words)."
        case .useOpenCompartment: "Uses the open compartment. The protected one stays locked."
        case .stop(let stop): "Stays locked: \(stop)."
        }
    }

    private func sentence(_ line: Line, _ policy: FallbackPolicy) -> String? {
        let name = line.step.words
        switch line.finding {
        case .used: return nil
        case .asked(let outcome): return "\(name.capitalisedFirst) \(outcome.words)."
        case .passedOver(_, let why): return "Not \(name): \(why)."
        case .notCalledFor(let condition):
            return "Not \(name): the policy does not offer it when the step before \(condition.words)."
        case .notReached:
            guard let rule = policy[line.step], let index = policy.rules.firstIndex(of: rule), index > 0 else {
                return nil
            }
            let conditions = rule.conditions.subtracting([.cancelled]).sorted { $0.rawValue < $1.rawValue }
            guard !conditions.isEmpty else { return nil }
            let words = conditions.map(\.words)
            let first = words.dropLast().joined(separator: ", ")
            let reasons = (first.isEmpty ? "" : first + " or ") + words[words.count - 1]
            let before = index == 1 ? policy.rules[0].step.words : "a step before it"
            let verb = line.step == .openCompartment ? "is used" : "is offered"
            return "\(name.capitalisedFirst) \(verb) instead if \(before) \(reasons)."
        }
    }

    private func cancelling(_ policy: FallbackPolicy) -> String {
        guard policy[.openCompartment]?.conditions.contains(.cancelled) ?? false else {
            return "Cancelling leaves everything locked."
        }
        return "The policy says in writing: \(FallbackPolicy.cancelWords)."
    }

    private var strength: String {
        for case .used(let assurance) in lines.map(\.finding) {
            return "How strong this is here: \(assurance.words); \(assurance.meaning)."
        }
        return "Nothing opens now."
    }
}

extension FallbackStop: CustomStringConvertible {
    /// What ended the chain, without a full stop.
    package var description: String {
        let name = step?.words ?? "a step"
        switch code {
        case .cancelled: return "\(name) was cancelled, and cancelling never leads to a weaker step"
        case .refused: return "\(name) was refused, and the policy has no step for that"
        case .nothingLeft:
            return "\(name) \(condition?.words ?? "cannot be used"), and the policy has no step for that"
        case .inconsistent: return "an outcome of \(name) was reported that cannot be"
        }
    }
}

extension String {
    fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
