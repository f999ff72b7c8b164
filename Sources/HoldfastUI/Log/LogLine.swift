package import Holdfast

/// One entry of the security log, for a list.
package struct LogLine: Sendable, Hashable, Identifiable {
    /// What kind of event it is, for a filter and an icon.
    package enum Category: Sendable, Hashable, CaseIterable {
        /// Opened or shut.
        case lock
        /// Refused, turned away, or otherwise worth a look.
        case warning
        /// Rules, passcode, keys, self-destruct.
        case settings
        /// What happened to the log itself.
        case log
        /// The identity and its devices.
        case identity
    }

    /// How often something happened in a run of events like these.
    package struct Count: Sendable, Hashable {
        /// What.
        package let kind: UnprovenEvent
        /// How often, by then.
        package let number: Int

        package init(kind: UnprovenEvent, number: Int) { (self.kind, self.number) = (kind, number) }
    }

    /// Its place in the log, counted from 0.
    package let id: UInt64
    /// What happened.
    package let event: SecurityEvent
    /// When.
    package let moment: LogMoment
    /// What kind of event it is.
    package let category: Category
    /// How often it had happened by then, of an event that comes in runs. What ends a run tells of each kind in it:
    /// they are no events of one kind, and their sum says nothing.
    package let counts: [Count]

    init(_ entry: SecurityLogEntry) {
        id = entry.index
        event = entry.event
        moment = entry.moment
        category = LogLine.category(of: entry.event)
        counts = LogLine.counts(of: entry.event)
    }

    static func counts(of event: SecurityEvent) -> [Count] {
        switch event {
        case .unproven(let kind, let run): [Count(kind: kind, number: Int(clamping: run[kind]))]
        case .runEnded(let run):
            UnprovenEvent.allCases.filter { run[$0] > 0 }.map { Count(kind: $0, number: Int(clamping: run[$0])) }
        default: []
        }
    }

    private static func category(of event: SecurityEvent) -> Category {
        switch event {
        case .unlocked(let unlock): unlock.refused > 0 ? .warning : .lock
        case .locked, .confirmed, .fallbackUsed: .lock
        case .unproven(.backedUp, _), .created, .rotated, .restarted, .inboxMigrated: .log
        case .unproven, .unsettled, .runEnded, .altered, .missed, .wipeBegun, .levelContradicted, .floorReplaced,
            .recordsSetAside:
            .warning
        case .levelChanged(let from, let to): to < from ? .warning : .settings
        case .device, .identity, .drill: .identity
        case .enrollmentChanged, .policyChanged, .passcodeChanged, .rekeyed, .recovered, .recoveryPhraseSet, .pinSet,
            .selfDestruct:
            .settings
        }
    }
}
