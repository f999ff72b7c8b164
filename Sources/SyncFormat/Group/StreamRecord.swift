package import VaultFormat

/// What a device knows of a stream (``StreamReader``), but for its marks. These lie in records of their own: each entry
/// brings one more, and only the last of these records is written again.
package struct StreamRecord: Sendable, Hashable {
    /// Marks in each of their records but the last.
    package static let marksPerRecord = 512
    private static let version: UInt8 = 1

    /// What is there.
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let head = Flags(rawValue: 1)
        static let last = Flags(rawValue: 2)
        static let named = Flags(rawValue: 4)
        static let adopting = Flags(rawValue: 8)
        static let frozen = Flags(rawValue: 16)
        static let all: Flags = [.head, .last, .named, .adopting, .frozen]
    }

    package let stream: StreamID
    /// Whose it is.
    package let member: SyncMemberID
    /// The number of the last entry of this stream that an own entry has named as a head; 0 for none.
    package let told: UInt64
    /// Whether what was taken of it behind its end is still to be written as this device's own.
    package let isAdopting: Bool
    /// As in ``StreamReader``.
    package let head: StreamHead?
    package let last: UInt64?
    package let named: StreamHead?
    /// The last entry that counts whatever a roster says: behind it there is a fork, or what no writer writes.
    package let frozen: UInt64?

    /// - Parameter told: Not behind the reader's head: what was not taken cannot have been named, and none that is
    ///   higher is kept.
    package init(
        _ reader: StreamReader, member: SyncMemberID, told: UInt64, isAdopting: Bool = false, frozen: UInt64? = nil
    ) {
        (self.isAdopting, self.frozen) = (isAdopting, frozen)
        (stream, self.member, self.told) = (reader.stream, member, min(told, reader.head?.number ?? 0))
        (head, last, named) = (reader.head, reader.last, reader.named)
    }

    /// - Throws: ``FormatError/newerVersion(_:)``, ``FormatError/wrongSize``, ``FormatError/invalid(field:)``.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        try reader.version(Self.version, "stream version")
        let flags = Flags(rawValue: try reader.integer(UInt8.self))
        guard flags.isSubset(of: .all) else { throw .invalid(field: "stream flags") }
        isAdopting = flags.contains(.adopting)
        stream = try reader.id()
        member = try reader.id()
        told = try reader.integer(UInt64.self)
        head = flags.contains(.head) ? try reader.head(of: stream, "stream head") : nil
        last = flags.contains(.last) ? try reader.integer(UInt64.self) : nil
        named = flags.contains(.named) ? try reader.head(of: stream, "stream named") : nil
        frozen = flags.contains(.frozen) ? try reader.integer(UInt64.self) : nil
        try reader.expectEnd()
        guard frozen.map({ $0 >= last ?? .max }) ?? true else { throw .invalid(field: "stream frozen") }
        guard !isAdopting || last != nil else { throw .invalid(field: "stream flags") }
        guard told <= head?.number ?? 0 else { throw .invalid(field: "stream told") }
        if let named, named.number < last ?? 0 { throw .invalid(field: "stream named") }
    }

    package var encoded: [UInt8] {
        var flags: Flags = []
        if head != nil { flags.insert(.head) }
        if last != nil { flags.insert(.last) }
        if named != nil { flags.insert(.named) }
        if isAdopting { flags.insert(.adopting) }
        if frozen != nil { flags.insert(.frozen) }
        var writer = ByteWriter()
        writer.integer(Self.version)
        writer.integer(flags.rawValue)
        writer.append(stream.bytes)
        writer.append(member.bytes)
        writer.integer(told)
        if let head { writer.head(head) }
        if let last { writer.integer(last) }
        if let named { writer.head(named) }
        if let frozen { writer.integer(frozen) }
        return writer.bytes
    }

    package static func recordName(_ stream: StreamID) -> String { "s\(stream)" }

    // MARK: - Marks

    /// Marks that belong to it: one for each entry that was taken.
    package var marks: Int { Int(clamping: head?.number ?? 0) }

    /// The reader with its marks; nil unless they are all, and the last is the head's.
    package func reader(marks: [UInt64]) -> StreamReader? {
        StreamReader(stream, head: head, marks: marks, last: last, named: named)
    }

    /// The record with the marks from `chunk * marksPerRecord` on.
    package static func marksName(_ stream: StreamID, _ chunk: Int) -> String { "s\(stream).\(chunk)" }

    /// The records of marks to be written when a stream with `old` marks has `new` ones. Marks never become fewer.
    package static func chunks(after old: Int, _ new: Int) -> Range<Int> {
        guard old >= 0, old < new else { return 0..<0 }
        return old / marksPerRecord..<(new - 1) / marksPerRecord + 1
    }

    /// What is in a record of marks: nothing in one behind the last.
    package static func bytes(of chunk: Int, _ marks: [UInt64]) -> [UInt8] {
        EntryMark.bytes(marks[range(of: chunk, marks.count)])
    }

    /// The marks in a record of them.
    /// - Parameter count: Marks of the stream: the record has exactly its share.
    /// - Throws: ``FormatError/wrongSize``.
    package static func marks(
        parsing bytes: RawSpan, chunk: Int, of count: Int
    ) throws(FormatError) -> [UInt64] {
        let range = range(of: chunk, count)
        guard !range.isEmpty, bytes.byteCount == range.count * EntryMark.size else { throw .wrongSize }
        return try EntryMark.marks(in: bytes)
    }

    private static func range(of chunk: Int, _ count: Int) -> Range<Int> {
        guard chunk >= 0, chunk <= count / marksPerRecord else { return 0..<0 }
        return chunk * marksPerRecord..<min((chunk + 1) * marksPerRecord, count)
    }
}
