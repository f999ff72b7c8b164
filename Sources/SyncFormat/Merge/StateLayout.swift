package import VaultFormat

/// An item's id in a group: an item's own, or what a plain value's name gives.
package enum SyncItem: Sendable {}
package typealias SyncItemID = SyncID<SyncItem>

/// Where everything is in the bytes of an ``ItemState``, which are a change on a road and a shadow in the vault alike.
/// The values stay with the caller, in memory for secrets; what is kept here are numbers.
///
/// Layout, little-endian: version (u8), form (u8), id (16), number of streams (u16) and the streams, id (16) and life
/// (u32); removals and context, each a count (u16) and as often a stream's index (u16) and a number (u64); the stamps,
/// a count (u16) and as often a stream's index (u16), a number (u64) and a time (i64); the versions, a count (u16) and
/// as often a stamp's index (u16); the values, a count (u16) and as often a part (u8), a field's id (16) where the part
/// is one, a stamp's index (u16) and the value behind its size (u32). All lists are in ascending order, and streams and
/// stamps that nothing names are not there: equal states have equal bytes.
package struct StateLayout: Sendable, Hashable {
    /// What the record is: its bytes mean nothing to us, or it is an item.
    package enum Form: UInt8, Sendable, Hashable {
        case value = 0
        case item = 1
    }

    /// A value's place.
    package struct Element: Sendable, Hashable {
        package let part: ItemPart
        package let stamp: Stamp
        package let value: Range<Int>

        package init(_ part: ItemPart, _ stamp: Stamp, _ value: Range<Int>) {
            self.part = part
            self.stamp = stamp
            self.value = value
        }
    }

    static let version: UInt8 = 1
    static let frontSize = 20

    package let id: SyncItemID
    package let form: Form
    package private(set) var elements: [Element] = []
    package private(set) var versions: [Stamp] = []
    package private(set) var context = CausalContext()
    package private(set) var removals = CausalContext()
    /// Bytes of all of it.
    private let size: Int

    /// Reads what lies in a part of the bytes.
    /// - Throws: ``FormatError/newerVersion(_:)``, ``FormatError/wrongSize``, ``FormatError/invalid(field:)`` for
    ///   whatever no writer writes.
    package init(parsing bytes: RawSpan, in region: Range<Int>) throws(FormatError) {
        guard region.count <= StateLimits.size else { throw .wrongSize }
        let seen = try StateSeen(parsing: bytes, in: region)
        (form, id, removals, context) = (seen.form, seen.id, seen.removals, seen.context)
        size = region.count
        let streams = seen.streams
        var reader = seen.reader
        let stamps = try StateLayout.stamps(bytes, &reader, streams)
        for _ in 0..<(try reader.count(bytes, StateLimits.stamps)) {
            let stamp = try reader.one(bytes, of: stamps)
            guard versions.last.map({ $0 < stamp }) ?? true, context.covers(stamp.dot) else {
                throw .invalid(field: "state versions")
            }
            versions.append(stamp)
        }
        for _ in 0..<(try reader.count(bytes, StateLimits.elements)) { try addElement(bytes, &reader, stamps) }
        guard reader.isAtEnd else { throw .wrongSize }
        guard isMinimal(streams, stamps) else { throw .invalid(field: "state streams") }
    }

    /// Whether a part of these kinds has more than one value, equal ones among them.
    package func hasSeveralValues(in kinds: Set<ItemPart.Kind>) -> Bool {
        // A part's values follow each other.
        zip(elements, elements.dropFirst()).contains { $0.part == $1.part && kinds.contains($0.part.kind) }
    }

    /// Whether it names writes of no stream that are not known: a number that nobody wrote would take away what its
    /// writer writes later.
    /// - Parameter heads: The last entry that was taken of each stream. A stream of what was met first has one.
    package func isWithin(_ heads: [StreamID: UInt64]) -> Bool {
        (context.highest + removals.highest).allSatisfy { $0.number <= heads[$0.stream] ?? 1 }
    }

    /// Whether an entry may have it.
    package var fitsEntry: Bool {
        var streams = Set(removals.highest.map(\.origin))
        streams.formUnion(context.highest.map(\.origin))
        var stamps = Set(versions)
        for element in elements { stamps.insert(element.stamp) }
        return size <= StateLimits.InEntry.size && streams.count <= StateLimits.InEntry.streams
            && stamps.count <= StateLimits.InEntry.stamps && elements.count <= StateLimits.InEntry.elements
    }

    fileprivate static func streams(_ bytes: RawSpan, _ reader: inout StateReader) throws(FormatError) -> [StreamLife] {
        var streams: [StreamLife] = []
        for _ in 0..<(try reader.count(bytes, StateLimits.streams)) {
            let stream = StreamLife(try reader.id(bytes), life: try reader.integer(bytes, UInt32.self))
            guard stream.life <= StateLimits.life, streams.last.map({ $0 < stream }) ?? true else {
                throw .invalid(field: "state streams")
            }
            streams.append(stream)
        }
        return streams
    }

    fileprivate static func context(
        _ bytes: RawSpan, _ reader: inout StateReader, _ streams: [StreamLife]
    ) throws(FormatError) -> CausalContext {
        var dots: [Dot] = []
        for _ in 0..<(try reader.count(bytes, StateLimits.streams)) {
            dots.append(Dot(try reader.one(bytes, of: streams), try reader.integer(bytes, UInt64.self)))
        }
        guard let context = CausalContext(ascending: dots) else { throw .invalid(field: "state context") }
        return context
    }

    private static func stamps(
        _ bytes: RawSpan, _ reader: inout StateReader, _ streams: [StreamLife]
    ) throws(FormatError) -> [Stamp] {
        var stamps: [Stamp] = []
        for _ in 0..<(try reader.count(bytes, StateLimits.stamps)) {
            let dot = Dot(try reader.one(bytes, of: streams), try reader.integer(bytes, UInt64.self))
            let stamp = Stamp(dot, time: Int64(bitPattern: try reader.integer(bytes, UInt64.self)))
            guard dot.number > 0, stamps.last.map({ $0 < stamp }) ?? true else { throw .invalid(field: "state stamps") }
            stamps.append(stamp)
        }
        return stamps
    }

    private mutating func addElement(
        _ bytes: RawSpan, _ reader: inout StateReader, _ stamps: [Stamp]
    ) throws(FormatError) {
        guard let kind = ItemPart.Kind(rawValue: try reader.integer(bytes, UInt8.self)) else {
            throw .invalid(field: "state part")
        }
        let field: FieldID? = kind == .field ? try reader.id(bytes) : nil
        guard let part = ItemPart(kind, field: field) else { throw .invalid(field: "state part") }
        let stamp = try reader.one(bytes, of: stamps)
        guard context.covers(stamp.dot) else { throw .invalid(field: "state context") }
        let element = Element(part, stamp, try reader.value(bytes))
        guard PartValue.isValid(bytes.extracting(element.value), of: kind, in: form) else {
            throw .invalid(field: "state value")
        }
        guard elements.last.map({ StateLayout.isBefore($0, element, in: bytes) }) ?? true else {
            throw .invalid(field: "state order")
        }
        elements.append(element)
    }

    private static func isBefore(_ left: Element, _ right: Element, in bytes: RawSpan) -> Bool {
        if left.part != right.part { return left.part < right.part }
        if left.stamp != right.stamp { return left.stamp < right.stamp }
        return bytes.extracting(left.value).isBefore(bytes.extracting(right.value))
    }

    /// Whether every stream and stamp is named, so that there is one spelling only.
    private func isMinimal(_ streams: [StreamLife], _ stamps: [Stamp]) -> Bool {
        var named = Set(removals.highest.map(\.origin))
        named.formUnion(context.highest.map(\.origin))
        var used = Set(versions)
        for element in elements { used.insert(element.stamp) }
        return named.count == streams.count && used.count == stamps.count
    }
}

/// The begin of a state: what was seen of the item. It is read without the values, which may lie elsewhere.
package struct StateSeen: Sendable {
    package let id: SyncItemID
    package let form: StateLayout.Form
    package let removals: CausalContext
    package let context: CausalContext
    fileprivate let streams: [StreamLife]
    /// Stands behind it.
    fileprivate let reader: StateReader

    /// - Throws: As ``StateLayout/init(parsing:in:)``.
    package init(parsing bytes: RawSpan, in region: Range<Int>) throws(FormatError) {
        guard region.lowerBound >= 0, region.upperBound <= bytes.byteCount else { throw .wrongSize }
        var reader = StateReader(region)
        let version = try reader.integer(bytes, UInt8.self)
        guard version == StateLayout.version else {
            if version > StateLayout.version { throw .newerVersion(UInt32(version)) }
            throw .invalid(field: "state version")
        }
        guard let form = StateLayout.Form(rawValue: try reader.integer(bytes, UInt8.self)) else {
            throw .invalid(field: "state form")
        }
        self.form = form
        id = try reader.id(bytes)
        streams = try StateLayout.streams(bytes, &reader)
        removals = try StateLayout.context(bytes, &reader, streams)
        context = try StateLayout.context(bytes, &reader, streams)
        self.reader = reader
    }

    /// How many streams it names beside those that are known.
    package func unknownStreams(beside known: (StreamID) -> Bool) -> Int {
        Set(streams.map(\.stream)).count { !known($0) }
    }

    /// Whether it names an entry of a stream behind one.
    package func names(_ stream: StreamID, after last: UInt64) -> Bool {
        context.names(stream, after: last) || removals.names(stream, after: last)
    }
}

/// What a state may hold. Checked before anything is read further, and before anything is written.
package enum StateLimits {
    /// Bytes of a state: an item of 1 MiB with every value in conflict on eight devices.
    package static let size = 8 << 20
    package static let streams = 1024
    /// Of these, streams that nobody in the group writes: those of items that were first met.
    package static let unknownStreams = 256
    /// Removals that were taken back, of one item by one device.
    package static let life: UInt32 = 65_535
    package static let stamps = 4096
    /// Values, those in conflict and the earlier ones too.
    package static let elements = 8192

    /// Of a state that is in an entry: half, so that any two can be joined.
    package enum InEntry {
        package static let size = StateLimits.size / 2
        package static let streams = StateLimits.streams / 2
        package static let stamps = StateLimits.stamps / 2
        package static let elements = StateLimits.elements / 2
    }
}

/// Reads a state's numbers; every read is bounds-checked.
private struct StateReader: Sendable {
    private var position: Int
    private let end: Int

    init(_ region: Range<Int>) {
        position = region.lowerBound
        end = region.upperBound
    }

    var isAtEnd: Bool { position == end }

    mutating func integer<T: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ bytes: RawSpan, _ type: T.Type
    ) throws(FormatError) -> T {
        guard end - position >= MemoryLayout<T>.size, let value = bytes.integer(at: position, as: type) else {
            throw .wrongSize
        }
        position += MemoryLayout<T>.size
        return value
    }

    mutating func id<Named>(_ bytes: RawSpan) throws(FormatError) -> SyncID<Named> {
        guard end - position >= 16, let id = SyncID<Named>(bytes.copied(position..<position + 16)) else {
            throw .wrongSize
        }
        position += 16
        return id
    }

    mutating func count(_ bytes: RawSpan, _ limit: Int) throws(FormatError) -> Int {
        let count = Int(try integer(bytes, UInt16.self))
        guard count <= limit else { throw .invalid(field: "state count") }
        return count
    }

    mutating func one<T>(_ bytes: RawSpan, of all: [T]) throws(FormatError) -> T {
        let index = Int(try integer(bytes, UInt16.self))
        guard index < all.count else { throw .invalid(field: "state index") }
        return all[index]
    }

    mutating func value(_ bytes: RawSpan) throws(FormatError) -> Range<Int> {
        let size = Int(try integer(bytes, UInt32.self))
        guard size <= end - position else { throw .wrongSize }
        defer { position += size }
        return position..<position + size
    }
}
