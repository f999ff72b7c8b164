/// Everything that the security log knows. Never a secret, and never the name of a record.
///
/// This file has everything that an event is but its texts: its case, then number, word and fields, then how it
/// is read. The document of the format and the second reader have the same table, which the tests compare.
package enum SecurityEvent: Sendable, Hashable {
    /// The vault was made, and its log with it. Only ever the first entry of a chain.
    case created
    /// A new chain was begun in a vault that exists.
    case restarted(LogRestart)
    /// The segment before was full.
    case rotated(previous: LogLink)
    /// The files were not as the last writer left them; a new segment was begun.
    case altered(LogAlteration)
    /// So many events could not be written before; the first one then, in milliseconds since 1970.
    case missed(count: UInt32, since: Int64)

    /// The vault was opened.
    case unlocked(LogUnlock)
    /// The right passcode was given without opening anything.
    case confirmed
    /// The vault was locked on request. A process that only ends writes nothing.
    case locked(LogLockReason)
    /// So many attempts had been burned and never checked; a success settled them.
    case unsettled(count: UInt32)
    /// What needs no secret, and the run of such events up to it.
    case unproven(UnprovenEvent, LogRun)
    /// The end of a run whose last events have no entry of their own. The entry's time is that of the last of them.
    case runEnded(LogRun)
    /// The way to unlock that was used in place of the first one, and why.
    case fallbackUsed(FallbackStep, FallbackCondition)
    /// Fingers were added or removed, or the key store was reset, since the passcode was given: it is asked again.
    case enrollmentChanged(OwnerStep)

    /// Rules in the header were changed; which.
    case policyChanged(LogRules)
    /// The passcode was changed.
    case passcodeChanged
    /// New keys; the epoch that began.
    case rekeyed(epoch: UInt32)
    /// A new passcode by the recovery phrase.
    case recovered(headerWasAltered: Bool)
    /// The vault was given a recovery phrase, or its phrase was taken away.
    case recoveryPhraseSet(isThere: Bool)
    /// The vault was given a PIN under the chip, or its PIN was taken away.
    case pinSet(isThere: Bool)

    /// The vault came to another level.
    case levelChanged(from: VaultLevel, to: VaultLevel)
    /// The header had a slot that opens for nobody, and a lock that was to ask: nothing of ours writes both.
    case levelContradicted
    /// What the key store said the vault is at least was not so, and the user confirmed it; the level it said.
    case floorReplaced(LogFloor, was: VaultLevel)
    /// So many records were under earlier keys and did not fit; they were set aside.
    case recordsSetAside(count: UInt32)

    /// Self-destruct, or its countdown, was turned on or off.
    case selfDestruct(LogSelfDestruct)
    /// Whether the user asked for it; else the limit was reached.
    case wipeBegun(isDeliberate: Bool)
    /// A device of the identity; 32 bytes that name it.
    case device(LogDeviceChange, digest: [UInt8])
    /// The identity; 32 bytes that name it.
    case identity(LogIdentityChange, digest: [UInt8])
    /// So many records came out of the open compartment.
    case inboxMigrated(count: UInt32)
    /// A recovery drill.
    case drill(passed: Bool)
}

extension SecurityEvent {
    /// What an event is on disk and for programs.
    struct Form {
        let code: UInt8
        let name: String
        let fields: [LogField]

        init(_ code: UInt8, _ name: String, _ fields: LogField...) {
            self.code = code
            self.name = name
            self.fields = fields
        }
    }

    /// Its number on disk, its stable word, and its fields in the order of their bytes.
    var form: Form {
        switch self {
        case .created: Form(1, "created")
        case .restarted(let restart):
            Form(
                2, "restarted", .word("reason", restart.reason), .link(restart.previous),
                .number("found", restart.found),
                .count("refused", restart.refused), .count("unsettled", restart.unsettled), .hash(restart.digest))
        case .rotated(let previous): Form(3, "rotated", .link(previous))
        case .altered(let alteration):
            Form(
                4, "altered", .word("kind", alteration.kind), .link(alteration.previous),
                .number("position", alteration.position))
        case .missed(let count, let since): Form(5, "missed", .count("count", count), .time("since", since))
        case .unlocked(let unlock):
            Form(16, "unlocked", .word("method", unlock.method), .count("refused", unlock.refused))
        case .confirmed: Form(17, "confirmed")
        case .locked(let reason): Form(18, "locked", .word("reason", reason))
        case .unsettled(let count): Form(19, "unsettled", .count("count", count))
        case .fallbackUsed(let step, let condition):
            Form(20, "fallbackUsed", .word("step", step), .word("because", condition))
        case .enrollmentChanged(let step): Form(21, "enrollmentChanged", .word("step", step))
        case .unproven(let kind, let run): Form(32 + kind.rawValue, kind.name, .run(run))
        case .runEnded(let run): Form(48, "runEnded", .run(run))
        case .policyChanged(let rules): Form(64, "policyChanged", .rules("keys", rules))
        case .passcodeChanged: Form(65, "passcodeChanged")
        case .rekeyed(let epoch): Form(66, "rekeyed", .count("epoch", epoch))
        case .recovered(let wasAltered): Form(67, "recovered", .flag("headerWasAltered", wasAltered))
        case .recoveryPhraseSet(true): Form(68, "recoveryPhraseIssued")
        case .recoveryPhraseSet(false): Form(69, "recoveryPhraseRemoved")
        case .pinSet(true): Form(70, "pinEnrolled")
        case .pinSet(false): Form(71, "pinRemoved")
        case .levelChanged(let from, let to): Form(72, "levelChanged", .word("from", from), .word("to", to))
        case .levelContradicted: Form(73, "levelContradicted")
        case .floorReplaced(let kind, let was): Form(74, "floorReplaced", .word("kind", kind), .word("was", was))
        case .recordsSetAside(let count): Form(75, "recordsSetAside", .count("count", count))
        case .selfDestruct(let change): Form(change.rawValue, change.name)
        case .wipeBegun(let isDeliberate): Form(84, "wipeBegun", .flag("isDeliberate", isDeliberate))
        case .device(let change, let digest): Form(change.rawValue, change.name, .digest("digest", digest))
        case .identity(let change, let digest): Form(change.rawValue, change.name, .digest("digest", digest))
        case .inboxMigrated(let count): Form(112, "inboxMigrated", .count("count", count))
        case .drill(let passed): Form(114, "drill", .flag("passed", passed))
        }
    }

    /// Reads the fields of the event with this code; a code that no version writes is an error.
    init(code: UInt8, reading reader: inout ByteReader) throws(FormatError) {
        switch code {
        case 1: self = .created
        case 2: self = .restarted(try LogRestart(reading: &reader))
        case 3:
            guard let previous = try reader.logLink() else { throw .invalid(field: "log link") }
            self = .rotated(previous: previous)
        case 4: self = .altered(try LogAlteration(reading: &reader))
        case 5: self = .missed(count: try reader.integer(UInt32.self), since: try reader.time())
        case 16: self = .unlocked(try LogUnlock(reading: &reader))
        case 17: self = .confirmed
        case 18: self = .locked(try reader.word())
        case 19: self = .unsettled(count: try reader.integer(UInt32.self))
        case 20: self = .fallbackUsed(try reader.word(), try reader.word())
        case 21: self = .enrollmentChanged(try reader.word())
        case 48: self = .runEnded(try LogRun(reading: &reader))
        case 64: self = .policyChanged(try LogRules(reading: &reader))
        case 65: self = .passcodeChanged
        case 66: self = .rekeyed(epoch: try reader.integer(UInt32.self))
        case 67: self = .recovered(headerWasAltered: try reader.flag())
        case 68, 69: self = .recoveryPhraseSet(isThere: code == 68)
        case 70, 71: self = .pinSet(isThere: code == 70)
        case 72:
            let (from, to): (VaultLevel, VaultLevel) = (try reader.word(), try reader.word())
            guard from != to else { throw .invalid(field: "log event") }
            self = .levelChanged(from: from, to: to)
        case 73: self = .levelContradicted
        case 74: self = .floorReplaced(try reader.word(), was: try reader.word())
        case 75: self = .recordsSetAside(count: try reader.integer(UInt32.self))
        case 84: self = .wipeBegun(isDeliberate: try reader.flag())
        case 112: self = .inboxMigrated(count: try reader.integer(UInt32.self))
        case 114: self = .drill(passed: try reader.flag())
        default: try self.init(familyCode: code, reading: &reader)
        }
    }

    /// Codes that are numbered by a type of their own.
    private init(familyCode code: UInt8, reading reader: inout ByteReader) throws(FormatError) {
        if code >= 32, let kind = UnprovenEvent(rawValue: code - 32) {
            self = .unproven(kind, try LogRun(reading: &reader))
        } else if let change = LogSelfDestruct(rawValue: code) {
            self = .selfDestruct(change)
        } else if let change = LogDeviceChange(rawValue: code) {
            self = .device(change, digest: try reader.bytes(32))
        } else if let change = LogIdentityChange(rawValue: code) {
            self = .identity(change, digest: try reader.bytes(32))
        } else {
            throw .invalid(field: "log event")
        }
    }
}

extension SecurityEvent {
    /// Its number on disk, which never changes.
    package var code: UInt8 { form.code }

    /// Its stable word, for programs; the manual lists them.
    package var name: String { form.name }

    /// A fact of an event.
    package enum Value: Sendable, Hashable {
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
    package struct Detail: Sendable, Hashable {
        /// A stable word.
        package let name: String
        /// The fact.
        package let value: Value
    }

    /// What belongs to it, for programs.
    package var details: [Detail] { form.fields.flatMap(\.details) }

    /// The fact of this name.
    package subscript(name: String) -> Value? { details.first { $0.name == name }?.value }
}
