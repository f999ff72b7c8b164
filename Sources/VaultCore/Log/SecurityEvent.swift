package import VaultFormat

/// Something that the security log knows: a word, what belongs to it, and when. Never a secret, and never the name of a
/// record.
public struct SecurityEvent: Sendable, Hashable {
    /// A fact of an event.
    public enum Value: Sendable, Hashable {
        /// A number.
        case number(UInt64)
        /// One of the words that the manual lists, or hexadecimal digits.
        case text(String)
        /// Yes or no.
        case flag(Bool)
        /// Milliseconds since 1970 by the clock of the machine.
        case time(Int64)
        /// Several words.
        case list([String])
    }

    /// A fact and what it is called.
    public struct Detail: Sendable, Hashable {
        /// A stable word.
        public let name: String
        /// The fact.
        public let value: Value
    }

    /// A stable word.
    public let name: String
    /// What belongs to it.
    public let details: [Detail]
    /// Milliseconds since 1970 by the clock of the machine, which anybody may set: for display.
    public let time: Int64
    /// 16 bytes that name the boot.
    public let bootID: [UInt8]
    /// Milliseconds since that boot, sleep included.
    public let bootMilliseconds: UInt64

    /// The fact of this name.
    public subscript(name: String) -> Value? { details.first { $0.name == name }?.value }

    init(_ event: LogEvent, at moment: LogMoment) {
        name = event.name
        details = event.details.map { Detail(name: $0.0, value: $0.1) }
        time = moment.wall
        bootID = moment.bootID
        bootMilliseconds = moment.milliseconds
    }
}

extension LogEvent {
    package var name: String {
        switch self {
        case .created: "created"
        case .restarted: "restarted"
        case .rotated: "rotated"
        case .altered: "altered"
        case .missed: "missed"
        case .unlocked: "unlocked"
        case .confirmed: "confirmed"
        case .locked: "locked"
        case .unsettled: "unsettled"
        case .unproven(let kind, _): "\(kind)"
        case .runEnded: "runEnded"
        case .fallbackUsed: "fallbackUsed"
        case .enrollmentChanged: "enrollmentChanged"
        case .policyChanged: "policyChanged"
        case .passcodeChanged: "passcodeChanged"
        case .rekeyed: "rekeyed"
        case .recovered: "recovered"
        case .recoveryPhraseSet(let isThere): isThere ? "recoveryPhraseIssued" : "recoveryPhraseRemoved"
        case .pinSet(let isThere): isThere ? "pinEnrolled" : "pinRemoved"
        case .selfDestruct(let change):
            switch change {
            case .armed: "selfDestructArmed"
            case .enabled: "selfDestructEnabled"
            case .cancelled: "selfDestructCancelled"
            case .disabled: "selfDestructDisabled"
            }
        case .wipeBegun: "wipeBegun"
        case .device(let change, _): change == .linked ? "deviceLinked" : "deviceUnlinked"
        case .identity(let change, _):
            switch change {
            case .created: "identityCreated"
            case .rotated: "identityRotated"
            case .recovered: "identityRecovered"
            case .deleted: "identityDeleted"
            }
        case .inboxMigrated: "inboxMigrated"
        case .drill: "drill"
        }
    }

    fileprivate var details: [(String, SecurityEvent.Value)] {
        switch self {
        case .created, .confirmed, .passcodeChanged, .recoveryPhraseSet, .pinSet, .selfDestruct: []
        case .restarted(let restart):
            [
                ("reason", .text("\(restart.reason)")), ("found", .number(restart.found)),
                ("refused", .number(UInt64(restart.refused))), ("unsettled", .number(UInt64(restart.unsettled))),
            ] + LogEvent.details(restart.previous)
        case .rotated(let previous): LogEvent.details(previous)
        case .altered(let alteration):
            [("kind", .text("\(alteration.kind)")), ("position", .number(alteration.position))]
                + LogEvent.details(alteration.previous)
        case .missed(let count, let since): [("count", .number(UInt64(count))), ("since", .time(since))]
        case .unlocked(let unlock):
            [("method", .text("\(unlock.method)")), ("refused", .number(UInt64(unlock.refused)))]
        case .locked(let reason): [("reason", .text("\(reason)"))]
        case .unsettled(let count), .inboxMigrated(let count): [("count", .number(UInt64(count)))]
        case .unproven(_, let run), .runEnded(let run): LogEvent.details(run)
        case .fallbackUsed(let step, let condition): [("step", .text(step.name)), ("because", .text(condition.name))]
        case .enrollmentChanged(let step): [("step", .text(step.name))]
        case .policyChanged(let fields): [("keys", .list(fields.names))]
        case .rekeyed(let epoch): [("epoch", .number(UInt64(epoch)))]
        case .recovered(let wasAltered): [("headerWasAltered", .flag(wasAltered))]
        case .wipeBegun(let isDeliberate): [("isDeliberate", .flag(isDeliberate))]
        case .device(_, let digest), .identity(_, let digest): [("digest", .text(Hexadecimal.encode(digest)))]
        case .drill(let passed): [("passed", .flag(passed))]
        }
    }

    private static func details(_ link: LogLink?) -> [(String, SecurityEvent.Value)] {
        link.map { [("previousFirst", .number($0.first))] } ?? []
    }

    private static func details(_ run: LogRun) -> [(String, SecurityEvent.Value)] {
        let counts = UnprovenEvent.allCases.filter { run[$0] > 0 }.map { kind in
            ("\(kind)Count", SecurityEvent.Value.number(UInt64(run[kind])))
        }
        return counts + [("since", .time(run.since))]
    }
}
