internal import VaultFormat

/// Whether the agent asks the user before a program gets what an item holds, as the item's tags say (items.md 10).
package enum AskRule: Sendable, Hashable {
    /// Nothing is asked.
    case never
    /// What was allowed stays so until the vault locks.
    case untilLock
    /// What was allowed stays so for some minutes.
    case minutes(Int)
    /// Every use is asked for.
    case eachTime

    /// Minutes that a tag can name.
    package static let minutes = 1...1440

    /// The strictest rule that the tags name; one that is misspelled asks each time (``GuardTag``).
    package init(tags: some Sequence<String>) {
        self =
            tags.compactMap { tag in
                guard case .ask(let rule) = GuardTag(tag) else { return nil }
                return rule
            }.max { $0.strictness < $1.strictness } ?? .never
    }

    package func isStricter(than other: AskRule) -> Bool { strictness > other.strictness }

    private var strictness: Int {
        switch self {
        case .never: 0
        case .untilLock: 1
        case .minutes(let minutes): 2 + AskRule.minutes.upperBound - minutes
        case .eachTime: .max
        }
    }
}

extension Item {
    /// What its tags say about asking.
    package var askRule: AskRule { AskRule(tags: tags) }
}
