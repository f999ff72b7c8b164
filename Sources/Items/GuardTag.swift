package import VaultStorage

/// A tag that says how an item is guarded (items.md 10), read so that a misspelled one guards too: whoever wrote it
/// wanted to.
package enum GuardTag: Sendable, Hashable {
    /// The user is asked before a value is given away.
    case ask(AskRule)
    /// An SSH key is not for hosts that the agent is forwarded to.
    case noForwarding

    /// Every spelling that stands for something, for messages; of times this one stands for all.
    private static let spellings = [eachTime, untilLock, timed + "10m", forwarding]
    package static let eachTime = "ask-each-time", forwarding = "no-forwarding"
    private static let untilLock = "ask-until-lock", timed = "ask-every-"

    /// Nil for a tag that guards nothing and is not meant to. Case does not matter; what only begins as one that asks
    /// asks each time, and what begins as one against forwarding is one.
    package init?(_ tag: String) {
        guard let reading = GuardTag.reading(tag) else { return nil }
        self = reading.guardTag
    }

    /// What was probably meant by a tag that begins as one of these and is none; nil for every other.
    package static func meant(by tag: String) -> String? {
        guard let reading = reading(tag), !reading.isSpelled else { return nil }
        let tag = tag.lowercased()
        return spellings.filter { $0.hasPrefix("no") == tag.hasPrefix("no") }
            .min { GuardTag.distance($0, tag) < GuardTag.distance($1, tag) }
    }

    private static func reading(_ tag: String) -> (guardTag: GuardTag, isSpelled: Bool)? {
        let tag = tag.lowercased()
        switch tag {
        case eachTime: return (.ask(.eachTime), true)
        case untilLock: return (.ask(.untilLock), true)
        case forwarding: return (.noForwarding, true)
        case _ where tag.hasPrefix(timed):
            guard let minutes = minutes(tag.dropFirst(timed.count)) else { return (.ask(.eachTime), false) }
            return (.ask(.minutes(minutes)), true)
        case _ where tag.hasPrefix("ask-") || tag.hasPrefix("ask_"): return (.ask(.eachTime), false)
        case _ where tag.hasPrefix("no-forward") || tag.hasPrefix("no_forward"): return (.noForwarding, false)
        default: return nil
        }
    }

    /// `10m` as 10.
    private static func minutes(_ text: Substring) -> Int? {
        guard text.last == "m", text.dropLast().utf8.allSatisfy({ (48...57).contains($0) }),
            let minutes = Int(text.dropLast()), AskRule.minutes.contains(minutes)
        else { return nil }
        return minutes
    }

    /// How many letters one text has to change to be the other (Levenshtein); a tag has 64 bytes at most.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8.prefix(64))
        var row = Array(0...right.count)
        for (index, letter) in left.utf8.enumerated() {
            var (diagonal, next) = (row[0], row)
            next[0] = index + 1
            for place in right.indices {
                let change = diagonal + (right[place] == letter ? 0 : 1)
                diagonal = row[place + 1]
                next[place + 1] = min(change, row[place + 1] + 1, next[place] + 1)
            }
            row = next
        }
        return row[right.count]
    }
}

extension Item {
    /// Whether it may not be used by hosts that the SSH agent is forwarded to.
    package var isKeptFromForwarding: Bool { tags.contains { GuardTag($0) == .noForwarding } }

    /// - Parameter before: The tags that were there before; asked for only where one would be refused.
    /// - Throws: `invalidItem` for a new tag that begins as one that guards and is none; what `before` throws.
    package func checkGuards(
        besides before: () throws(VaultError) -> [String] = { [] }
    ) throws(VaultError) {
        let unclear = tags.filter { GuardTag.meant(by: $0) != nil }
        guard !unclear.isEmpty else { return }
        let before = Set(try before().map { Array($0.utf8) })
        for tag in unclear where !before.contains(Array(tag.utf8)) { try Item.checkGuard(tag) }
    }

    /// - Throws: `invalidItem` for a tag that would not say what its writer meant.
    static func checkGuard(_ tag: String) throws(VaultError) {
        guard let meant = GuardTag.meant(by: tag) else { return }
        throw VaultError(
            .invalidItem,
            "this tag is no known guard tag; did you mean \(meant)?"
        )
    }
}
