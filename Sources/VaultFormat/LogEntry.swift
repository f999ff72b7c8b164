/// When something happened: by the wall clock, for display only, and by the clock of one boot, which cannot be set.
package struct LogMoment: Sendable, Hashable {
    static let size = 32

    /// Milliseconds since 1970 by the clock of the machine.
    package let time: Int64
    /// 16 bytes that name a boot.
    package let bootID: [UInt8]
    /// Milliseconds since that boot, sleep included.
    package let bootMilliseconds: UInt64

    package init(time: Int64, bootID: [UInt8], bootMilliseconds: UInt64) {
        self.time = time
        self.bootID = bootID.count == 16 ? bootID : [UInt8](repeating: 0, count: 16)
        self.bootMilliseconds = bootMilliseconds
    }

    package static let zero = LogMoment(time: 0, bootID: [], bootMilliseconds: 0)

    func write(to writer: inout ByteWriter) {
        writer.integer(UInt64(bitPattern: time))
        writer.append(bootID)
        writer.integer(bootMilliseconds)
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        time = Int64(bitPattern: try reader.integer(UInt64.self))
        bootID = try reader.bytes(16)
        bootMilliseconds = try reader.integer(UInt64.self)
    }
}

/// The plaintext of an entry: what happened and when. Never a secret, and never the name of a record.
package struct LogEntry: Sendable, Hashable {
    static let version: UInt8 = 1

    /// When.
    package let moment: LogMoment
    /// What.
    package let event: SecurityEvent

    package init(moment: LogMoment, event: SecurityEvent) {
        self.moment = moment
        self.event = event
    }

    /// ``LogFormat/plaintextSize`` bytes.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.integer(LogEntry.version)
        let form = event.form
        writer.integer(form.code)
        moment.write(to: &writer)
        for field in form.fields { field.write(to: &writer) }
        writer.pad(to: LogFormat.plaintextSize)
        return writer.bytes
    }

    /// Reads exactly what ``encoded()`` writes.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        guard bytes.count == LogFormat.plaintextSize else { throw .wrongSize }
        var reader = ByteReader(bytes)
        guard try reader.integer(UInt8.self) == LogEntry.version else { throw .invalid(field: "log entry version") }
        let code = try reader.integer(UInt8.self)
        moment = try LogMoment(reading: &reader)
        event = try SecurityEvent(code: code, reading: &reader)
        try reader.expectZeros("log entry padding")
    }
}
