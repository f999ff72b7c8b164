package import VaultFormat

/// One entry of the security log, proved to be what was written.
package struct SecurityLogEntry: Sendable, Hashable {
    /// Its place in the log, counted from 0; a log that was begun anew counts anew.
    package let index: UInt64
    /// What happened.
    package let event: SecurityEvent
    /// When.
    package let moment: LogMoment

    package init(index: UInt64, _ entry: LogEntry) {
        self.index = index
        event = entry.event
        moment = entry.moment
    }
}

/// Something in the log that is not as it was written.
package struct SecurityLogFinding: Sendable, Hashable {
    /// What kind of thing, for programs.
    package struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// A stable word.
        package let description: String
        private init(_ description: String) { self.description = description }

        /// Of a finding that another process made; a word that is new to this build stays what it is.
        package init(word: String) { self.init(word) }

        /// Entries were changed.
        package static let changed = Kind("changed")
        /// Entries are not there.
        package static let missing = Kind("missing")
        /// Something stands before or behind an entry that no writer wrote.
        package static let inserted = Kind("inserted")
        /// The newest entries were taken away.
        package static let cut = Kind("cut")
        /// The state is not that of the log.
        package static let state = Kind("state")
        /// The log was lost and begun anew.
        package static let restarted = Kind("restarted")
        /// Entries were sealed to a key that is not the vault's, by someone who can append to the log.
        package static let unreadable = Kind("unreadable")
        /// An entry says that the files had been altered.
        package static let altered = Kind("altered")
    }

    /// What kind of thing.
    package let kind: Kind
    /// The index of the first entry concerned.
    package let position: UInt64
    /// In words.
    package let text: String

    package init(_ kind: Kind, at position: UInt64, _ text: String) {
        self.kind = kind
        self.position = position
        self.text = text
    }

    static func missing(_ position: UInt64, _ count: UInt64) -> SecurityLogFinding {
        SecurityLogFinding(.missing, at: position, range(position, count, "is", "are") + " missing")
    }

    static func changed(_ position: UInt64, _ count: UInt64) -> SecurityLogFinding {
        SecurityLogFinding(.changed, at: position, range(position, count, "was", "were") + " changed")
    }

    /// `entry 7 is`, `entries 7 to 9 are`.
    private static func range(_ position: UInt64, _ count: UInt64, _ one: String, _ many: String) -> String {
        count <= 1 ? "entry \(position) \(one)" : "entries \(position) to \(position + count - 1) \(many)"
    }
}

/// What the log holds and whether it is whole.
package struct SecurityLogReport: Sendable, Hashable {
    /// The entries that are kept, oldest first.
    package internal(set) var entries: [SecurityLogEntry] = []
    /// What is not as it was written, in the order of the log.
    package internal(set) var findings: [SecurityLogFinding] = []
    /// What is worth saying and no damage.
    package internal(set) var notes: [String] = []

    /// Everything that was written and not rotated away is there and unchanged. A log that was put back to an older
    /// state together with its state file cannot be told from that.
    package var isIntact: Bool { findings.isEmpty }

    init() {}

    /// What another process proved.
    package init(entries: [SecurityLogEntry], findings: [SecurityLogFinding], notes: [String]) {
        self.entries = entries
        self.findings = findings
        self.notes = notes
    }
}
