/// What is wrong with a fallback policy, and where. Policies are no secrets, so it quotes what it found.
public struct FallbackPolicyError: Error, Sendable, Hashable {
    /// The kind of mistake.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Not one JSON text (RFC 8259), or one that is too large or too deep.
        case malformed = "malformed"
        /// Another type than the one that belongs here.
        case wrongType = "wrongType"
        /// A key that no policy has.
        case unknownKey = "unknownKey"
        /// A key that stands there twice.
        case doubledKey = "doubledKey"
        /// A key that must be there is not.
        case missingKey = "missingKey"
        /// A version that this program does not know.
        case unknownVersion = "unknownVersion"
        /// No steps.
        case emptyChain = "emptyChain"
        /// A step that does not exist.
        case unknownStep = "unknownStep"
        /// A step that was named before.
        case doubledStep = "doubledStep"
        /// A condition that does not exist.
        case unknownCondition = "unknownCondition"
        /// A condition named twice for one step.
        case doubledCondition = "doubledCondition"
        /// An assurance that does not exist.
        case unknownAssurance = "unknownAssurance"
        /// An assurance that this step never has.
        case impossibleAssurance = "impossibleAssurance"
        /// The first step needs no reason.
        case conditionOnFirstStep = "conditionOnFirstStep"
        /// Nothing leads to this step.
        case noCondition = "noCondition"
        /// Cancelling leads to something else than the open compartment.
        case cancelledElsewhere = "cancelledElsewhere"
        /// Cancelling leads to the open compartment, and the policy does not say so in the words for it.
        case cancelWithoutWords = "cancelWithoutWords"
        /// The words about cancelling where cancelling leads nowhere.
        case needlessWords = "needlessWords"
        /// The owner's wish for another way leads to the open compartment, which is no way to unlock.
        case requestedOpen = "requestedOpen"
        /// An age for a step that has none.
        case needlessAge = "needlessAge"
        /// A number outside its range.
        case outOfRange = "outOfRange"
    }

    /// The kind of mistake.
    package let code: Code
    /// Where, as `steps[1].when[0]`; for a text that is no JSON the byte's offset.
    public let place: String
    /// What stands there, printable and short; empty where nothing does.
    package let found: String

    init(_ code: Code, at place: String, _ found: String = "") {
        self.code = code
        self.place = FallbackPolicyError.printable(place, limit: 80)
        self.found = FallbackPolicyError.printable(found, limit: 40)
    }

    /// Foreign text must neither control a terminal nor fill it.
    private static func printable(_ text: String, limit: Int) -> String {
        let safe = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F ? String(scalar) : "?"
        }
        return safe.joined() + (text.unicodeScalars.count > limit ? "..." : "")
    }
}

extension FallbackPolicyError: CustomStringConvertible {
    /// Place, what stands there and what is allowed.
    public var description: String { place + ": " + (found.isEmpty ? "" : "\"\(found)\" ") + words }

    private var words: String {
        switch code {
        case .malformed: "is not JSON"
        case .wrongType: "has the wrong type"
        case .unknownKey: "is no key of a fallback policy"
        case .doubledKey: "stands there twice"
        case .missingKey: "is missing"
        case .unknownVersion: "is a version that this program does not know; it knows 1"
        case .emptyChain: "is empty; a policy has at least one step"
        case .unknownStep: "is no step; steps are " + FallbackStep.allCases.map(\.name).joined(separator: ", ")
        case .doubledStep: "was named before; each step is allowed once"
        case .unknownCondition:
            "is no condition; conditions are " + FallbackCondition.allCases.map(\.name).joined(separator: ", ")
        case .doubledCondition: "stands there twice"
        case .unknownAssurance: "is no assurance; there are " + Assurance.allCases.map(\.name).joined(separator: ", ")
        case .impossibleAssurance: "is an assurance that this step never has"
        case .conditionOnFirstStep: "is not allowed for the first step, which needs no reason"
        case .noCondition: "names no condition, so nothing would lead to this step"
        case .cancelledElsewhere: "is not allowed here: cancelling leads to nothing but openCompartment"
        case .cancelWithoutWords: "must say \"\(FallbackPolicy.cancelWords)\""
        case .needlessWords: "belongs only where \"cancelled\" is among the conditions"
        case .requestedOpen: "is not allowed here: the open compartment is no way to unlock"
        case .needlessAge: "is only for biometrics and devicePasscode"
        case .outOfRange:
            "is outside what is allowed; hours are \(FallbackPolicy.hours.lowerBound) to \(FallbackPolicy.hours.upperBound)"
        }
    }
}
