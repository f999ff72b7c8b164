package import Cryptography
package import VaultStorage

/// When a password is taken for an old one.
package struct HealthRule: Sendable, Hashable {
    /// Days after which one is old, where nobody says otherwise.
    package static let standardDays = 365
    /// Days that can be said.
    package static let days = 1...36_500

    /// Days after which a password is old.
    package let oldAfterDays: Int

    package init(oldAfterDays: Int = HealthRule.standardDays) { self.oldAfterDays = oldAfterDays }
}

/// How far a look at all passwords is.
package enum HealthProgress: Sendable, Hashable {
    /// So many of all entries were read.
    case reading(done: Int, total: Int)
    /// So many of all passwords were looked for in the list of breached ones.
    case lookingUp(done: Int, total: Int)
}

/// What is known of the passwords of a vault. Nothing in it is a part of one, or made of one.
package struct HealthReport: Sendable, Hashable {
    /// One thing about one password.
    package struct Finding: Sendable, Hashable {
        /// The entry that has it.
        package let entry: EntryPath
        /// What its field is called.
        package let label: String
        /// What is wrong with it.
        package let reason: Reason
    }

    /// What is wrong with a password.
    package enum Reason: Sendable, Hashable {
        /// It is in the list of breached ones; how often it was seen, where the list says so.
        case breached(times: UInt64?)
        /// It is guessed soon.
        case weak(PasscodeStrength.Level)
        /// Other entries have it too.
        /// - Parameters:
        ///   - group: The same number for the same password, from 0.
        ///   - entries: How many entries have it.
        case reused(group: Int, entries: Int)
        /// It has not been changed for long; since when, in milliseconds since 1970.
        case old(since: Int64)

        /// The worst first.
        fileprivate var rank: Int {
            switch self {
            case .breached: 0
            case .weak: 1
            case .reused: 2
            case .old: 3
            }
        }
    }

    /// What was found: by reason, the worst first, then by password for those of several entries, then by entry.
    package let findings: [Finding]
    /// Entries that were read, and passwords in them.
    package let entries: Int
    package let passwords: Int
    /// Entries that were left out, because their user wants to be asked before what they hold is used.
    package let guarded: Int
    /// Passwords that nobody can tell of whether they are in the list: the folder has no file for their range.
    package let withoutRange: Int
    /// Collections that this unlock does not reach.
    package let outOfReach: Int

    init(_ findings: [Finding], _ counts: Counts) {
        self.findings = findings.sorted { left, right in
            guard left.reason.rank == right.reason.rank else { return left.reason.rank < right.reason.rank }
            if case .reused(let group, _) = left.reason, case .reused(let other, _) = right.reason, group != other {
                return group < other
            }
            return (left.entry.collection, left.entry.name, left.label)
                < (right.entry.collection, right.entry.name, right.label)
        }
        entries = counts.entries
        passwords = counts.passwords
        guarded = counts.guarded
        withoutRange = counts.withoutRange
        outOfReach = counts.outOfReach
    }

    struct Counts: Sendable {
        var entries = 0
        var passwords = 0
        var guarded = 0
        var withoutRange = 0
        var outOfReach = 0
    }
}

/// What keeps passwords from being looked at.
package enum HealthError: Error, Sendable, Hashable {
    case vault(VaultError)
    case list(BreachListError)
}
