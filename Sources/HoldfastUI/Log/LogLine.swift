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

    /// Its place in the log, counted from 0.
    package let id: UInt64
    /// What happened.
    package let event: SecurityEvent
    /// When.
    package let moment: LogMoment
    /// What kind of event it is.
    package let category: Category

    init(_ entry: SecurityLogEntry) {
        id = entry.index
        event = entry.event
        moment = entry.moment
        category = LogLine.category(of: entry.event)
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
