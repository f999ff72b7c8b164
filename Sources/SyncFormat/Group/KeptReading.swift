internal import VaultFormat

// What the records that a device keeps of its group have in common (vault-format.md 26).

/// Whether each value is before the next one, so that a list has one order and nothing twice.
func isAscending<Value>(_ values: [Value], by isBefore: (Value, Value) -> Bool) -> Bool {
    zip(values, values.dropFirst()).allSatisfy(isBefore)
}

extension ByteReader {
    /// The version in front of a record.
    /// - Throws: ``FormatError/newerVersion(_:)``; ``FormatError/invalid(field:)`` for one that never was.
    mutating func version(_ known: UInt8, _ field: StaticField) throws(FormatError) {
        let version = try integer(UInt8.self)
        guard version <= known else { throw .newerVersion(UInt32(version)) }
        guard version == known else { throw .invalid(field: field) }
    }

    /// A hash of something that is there, and so not zeros.
    mutating func hash(_ field: StaticField) throws(FormatError) -> [UInt8] {
        let hash = try bytes(EntryFront.hashSize)
        guard !hash.isZero else { throw .invalid(field: field) }
        return hash
    }

    /// Ids in ascending order, each once, behind their number.
    mutating func ids<Named>(atMost most: Int, _ field: StaticField) throws(FormatError) -> [SyncID<Named>] {
        let count = Int(try integer(UInt16.self))
        guard count <= most else { throw .invalid(field: field) }
        var ids: [SyncID<Named>] = []
        for _ in 0..<count { ids.append(try id()) }
        guard isAscending(ids, by: <) else { throw .invalid(field: field) }
        return ids
    }

    /// A text of at least one byte behind its size.
    mutating func text(atMost most: Int, _ field: StaticField) throws(FormatError) -> String {
        let bytes = try counted(limit: most, field)
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else { throw .invalid(field: field) }
        return text
    }

    /// A head without the stream, which is known.
    mutating func head(of stream: StreamID, _ field: StaticField) throws(FormatError) -> StreamHead {
        let head = StreamHead(stream: stream, number: try integer(UInt64.self), hash: try bytes(EntryFront.hashSize))
        guard head.isPossible else { throw .invalid(field: field) }
        return head
    }
}

extension ByteWriter {
    mutating func ids<Named>(_ ids: [SyncID<Named>]) {
        integer(UInt16(clamping: ids.count))
        for id in ids { append(id.bytes) }
    }

    /// A head without its stream.
    mutating func head(_ head: StreamHead) {
        integer(head.number)
        append(head.hash)
    }
}
