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

    /// The strictest rule that the tags name.
    package init(tags: some Sequence<String>) {
        self = tags.compactMap { AskRule(tag: $0) }.max { $0.strictness < $1.strictness } ?? .never
    }

    /// Nil for a tag that names no rule. One that begins as a time and is none asks each time: whoever wrote it wanted to be asked.
    init?(tag: String) {
        let tag = tag.lowercased()
        switch tag {
        case "ask-each-time": self = .eachTime
        case "ask-until-lock": self = .untilLock
        case _ where tag.hasPrefix(AskRule.timed):
            let number = tag.dropFirst(AskRule.timed.count)
            guard number.last == "m", number.dropLast().utf8.allSatisfy({ (48...57).contains($0) }),
                let minutes = Int(number.dropLast()), AskRule.minutes.contains(minutes)
            else {
                self = .eachTime
                return
            }
            self = .minutes(minutes)
        default: return nil
        }
    }

    private static let timed = "ask-every-"

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
