public import Holdfast

/// One entry of the security log, for a list.
public struct LogLine: Sendable, Hashable, Identifiable {
    /// What kind of event it is, for a filter and an icon.
    public enum Category: Sendable, Hashable, CaseIterable {
        /// Opened or shut.
        case lock
        /// Refused, turned away, or otherwise worth a look.
        case warning
        /// Rules, passcode, keys, self-destruct.
        case settings
        /// What became of the log itself.
        case log
        /// The identity and its devices.
        case identity
    }

    /// Its place in the log, counted from 0.
    public let id: UInt64
    /// What happened.
    public let event: SecurityEvent
    /// What kind of event it is.
    public let category: Category

    init(_ entry: SecurityLogEntry) {
        id = entry.index
        event = entry.event
        category = LogLine.category(of: entry.event)
    }

    private static func category(of event: SecurityEvent) -> Category {
        switch event.name {
        case "unlocked": if case .number(let refused) = event["refused"], refused > 0 { .warning } else { .lock }
        case "locked", "confirmed", "fallbackUsed": .lock
        case "refused", "repeated", "wrongPhrase", "turnedAway", "biometricFailed", "unsettled", "runEnded",
            "rollbackReported", "altered", "missed", "wipeBegun":
            .warning
        case "created", "rotated", "restarted", "backedUp", "inboxMigrated": .log
        case "deviceLinked", "deviceUnlinked", "identityCreated", "identityRotated", "identityRecovered",
            "identityDeleted", "drill":
            .identity
        default: .settings
        }
    }
}
