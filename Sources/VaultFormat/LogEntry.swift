/// When something happened: by the wall clock, for display only, and by the clock of one boot, which nobody sets.
package struct LogMoment: Sendable, Hashable {
    static let size = 32

    /// Milliseconds since 1970 by the clock of the machine.
    package let wall: Int64
    /// 16 bytes that name a boot.
    package let bootID: [UInt8]
    /// Milliseconds since that boot, sleep included.
    package let milliseconds: UInt64

    package init(wall: Int64, bootID: [UInt8], milliseconds: UInt64) {
        self.wall = wall
        self.bootID = bootID.count == 16 ? bootID : [UInt8](repeating: 0, count: 16)
        self.milliseconds = milliseconds
    }

    package static let zero = LogMoment(wall: 0, bootID: [], milliseconds: 0)

    func write(to writer: inout ByteWriter) {
        writer.integer(UInt64(bitPattern: wall))
        writer.append(bootID)
        writer.integer(milliseconds)
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        wall = Int64(bitPattern: try reader.integer(UInt64.self))
        bootID = try reader.take(16)
        milliseconds = try reader.integer(UInt64.self)
    }
}

/// The plaintext of an entry: what happened and when. Never a secret, and never the name of a record.
package struct LogEntry: Sendable, Hashable {
    static let version: UInt8 = 1

    package let moment: LogMoment
    package let event: LogEvent

    package init(moment: LogMoment, event: LogEvent) {
        self.moment = moment
        self.event = event
    }

    /// ``LogFormat/plaintextSize`` bytes.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.integer(LogEntry.version)
        writer.integer(event.code)
        moment.write(to: &writer)
        event.writeFields(to: &writer)
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
        event = try LogEvent(code: code, reading: &reader)
        try reader.expectZeros("log entry padding")
    }
}
