extension LogEvent {
    /// Its number on disk.
    package var code: UInt8 {
        switch self {
        case .created: 1
        case .restarted: 2
        case .rotated: 3
        case .altered: 4
        case .missed: 5
        case .unlocked: 16
        case .confirmed: 17
        case .locked: 18
        case .unsettled: 19
        case .fallbackUsed: 20
        case .enrollmentChanged: 21
        case .unproven(let kind, _): 32 + kind.rawValue
        case .runEnded: 48
        case .policyChanged: 64
        case .passcodeChanged: 65
        case .rekeyed: 66
        case .recovered: 67
        case .recoveryPhraseSet(let isThere): isThere ? 68 : 69
        case .pinSet(let isThere): isThere ? 70 : 71
        case .selfDestruct(let change): change.rawValue
        case .wipeBegun: 84
        case .device(let change, _): change.rawValue
        case .identity(let change, _): change.rawValue
        case .inboxMigrated: 112
        case .drill: 114
        }
    }

    func writeFields(to writer: inout ByteWriter) {
        switch self {
        case .created, .confirmed, .passcodeChanged, .recoveryPhraseSet, .pinSet, .selfDestruct: break
        case .restarted(let restart):
            writer.integer(restart.reason.rawValue)
            LogEvent.write(restart.previous, to: &writer)
            writer.integer(restart.found)
            writer.integer(restart.refused)
            writer.integer(restart.unsettled)
            writer.append(restart.digest)
        case .rotated(let previous): LogEvent.write(previous, to: &writer)
        case .altered(let alteration):
            writer.integer(alteration.kind.rawValue)
            LogEvent.write(alteration.previous, to: &writer)
            writer.integer(alteration.position)
        case .missed(let count, let since):
            writer.integer(count)
            writer.integer(UInt64(bitPattern: since))
        case .unlocked(let unlock):
            writer.integer(unlock.method.rawValue)
            writer.integer(unlock.refused)
        case .locked(let reason): writer.integer(reason.rawValue)
        case .unsettled(let count): writer.integer(count)
        case .unproven(_, let run), .runEnded(let run): run.write(to: &writer)
        case .fallbackUsed(let step, let condition):
            writer.integer(step.rawValue)
            writer.integer(condition.rawValue)
        case .enrollmentChanged(let step): writer.integer(step.rawValue)
        case .policyChanged(let fields): writer.integer(fields.rawValue)
        case .rekeyed(let epoch): writer.integer(epoch)
        case .recovered(let flag), .wipeBegun(let flag), .drill(let flag):
            writer.integer(UInt8(flag ? 1 : 0))
        case .device(_, let digest), .identity(_, let digest):
            writer.append(Array(digest.prefix(32)))
            writer.append([UInt8](repeating: 0, count: max(0, 32 - digest.count)))
        case .inboxMigrated(let count): writer.integer(count)
        }
    }
}

extension LogEvent {
    /// Reads the fields of the event with this code; a code that no version writes is an error.
    init(code: UInt8, reading reader: inout ByteReader) throws(FormatError) {
        switch code {
        case 1: self = .created
        case 2: self = .restarted(try LogRestart(reading: &reader))
        case 3:
            guard let previous = try LogEvent.link(&reader) else { throw .invalid(field: "log link") }
            self = .rotated(previous: previous)
        case 4: self = .altered(try LogAlteration(reading: &reader))
        case 5:
            let count = try reader.integer(UInt32.self)
            self = .missed(count: count, since: Int64(bitPattern: try reader.integer(UInt64.self)))
        case 16: self = .unlocked(try LogUnlock(reading: &reader))
        case 17: self = .confirmed
        case 18: self = .locked(try LogEvent.known(reader.integer(UInt8.self)))
        case 19: self = .unsettled(count: try reader.integer(UInt32.self))
        case 20:
            self = .fallbackUsed(
                try LogEvent.known(reader.integer(UInt8.self)), try LogEvent.known(reader.integer(UInt8.self)))
        case 21: self = .enrollmentChanged(try LogEvent.known(reader.integer(UInt8.self)))
        case 48: self = .runEnded(try LogRun(reading: &reader))
        case 65: self = .passcodeChanged
        case 66: self = .rekeyed(epoch: try reader.integer(UInt32.self))
        case 67: self = .recovered(headerWasAltered: try LogEvent.flag(&reader))
        case 68, 69: self = .recoveryPhraseSet(isThere: code == 68)
        case 70, 71: self = .pinSet(isThere: code == 70)
        case 84: self = .wipeBegun(isDeliberate: try LogEvent.flag(&reader))
        case 112: self = .inboxMigrated(count: try reader.integer(UInt32.self))
        case 114: self = .drill(passed: try LogEvent.flag(&reader))
        default: try self.init(familyCode: code, reading: &reader)
        }
    }

    /// Codes that are numbered by a type of their own.
    private init(familyCode code: UInt8, reading reader: inout ByteReader) throws(FormatError) {
        if code >= 32, let kind = UnprovenEvent(rawValue: code - 32) {
            self = .unproven(kind, try LogRun(reading: &reader))
        } else if code == 64 {
            let fields = LogPolicyFields(rawValue: try reader.integer(UInt32.self))
            guard fields.isSubset(of: .known) else { throw .invalid(field: "log event") }
            self = .policyChanged(fields)
        } else if let change = LogSelfDestruct(rawValue: code) {
            self = .selfDestruct(change)
        } else if let change = LogDeviceChange(rawValue: code) {
            self = .device(change, digest: try reader.take(32))
        } else if let change = LogIdentityChange(rawValue: code) {
            self = .identity(change, digest: try reader.take(32))
        } else {
            throw .invalid(field: "log event")
        }
    }

    fileprivate static func known<T: RawRepresentable>(_ value: UInt8) throws(FormatError) -> T
    where T.RawValue == UInt8 {
        guard let known = T(rawValue: value) else { throw .invalid(field: "log event") }
        return known
    }

    private static func flag(_ reader: inout ByteReader) throws(FormatError) -> Bool {
        let value = try reader.integer(UInt8.self)
        guard value <= 1 else { throw .invalid(field: "log event") }
        return value == 1
    }

    /// One byte that says whether there is one, then chain and index.
    fileprivate static func write(_ link: LogLink?, to writer: inout ByteWriter) {
        writer.integer(UInt8(link == nil ? 0 : 1))
        writer.append((link?.chain ?? .none).bytes)
        writer.integer(link?.first ?? 0)
    }

    fileprivate static func link(_ reader: inout ByteReader) throws(FormatError) -> LogLink? {
        let isPresent = try flag(&reader)
        guard let chain = LogChain(bytes: try reader.take(16)) else { throw .wrongSize }
        let first = try reader.integer(UInt64.self)
        guard isPresent || chain == .none && first == 0, first < LogFormat.mostEntries else {
            throw .invalid(field: "log link")
        }
        return isPresent ? LogLink(chain: chain, first: first) : nil
    }
}

extension LogRestart {
    fileprivate init(reading reader: inout ByteReader) throws(FormatError) {
        reason = try LogEvent.known(reader.integer(UInt8.self))
        previous = try LogEvent.link(&reader)
        found = try reader.integer(UInt64.self)
        refused = try reader.integer(UInt32.self)
        unsettled = try reader.integer(UInt32.self)
        digest = try reader.take(32)
        guard reason == .newKeys || digest == LogRestart.noDigest else { throw .invalid(field: "log digest") }
    }
}

extension LogAlteration {
    fileprivate init(reading reader: inout ByteReader) throws(FormatError) {
        kind = try LogEvent.known(reader.integer(UInt8.self))
        previous = try LogEvent.link(&reader)
        position = try reader.integer(UInt64.self)
    }
}

extension LogUnlock {
    fileprivate init(reading reader: inout ByteReader) throws(FormatError) {
        method = try LogEvent.known(reader.integer(UInt8.self))
        refused = try reader.integer(UInt32.self)
    }
}
