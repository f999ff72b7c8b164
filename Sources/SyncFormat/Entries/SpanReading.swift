internal import VaultFormat

// Reads out of bytes that may be secret and so stay where they are: what comes out are numbers, ids and ranges. Every
// read is bounds-checked, and moves `offset` behind what was read.
extension RawSpan {
    func next<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, _ offset: inout Int) throws(FormatError) -> T {
        guard let value = integer(at: offset, as: type) else { throw .wrongSize }
        offset += MemoryLayout<T>.size
        return value
    }

    /// The place of the next `count` bytes.
    func next(_ count: Int, _ offset: inout Int) throws(FormatError) -> Range<Int> {
        guard count >= 0, count <= byteCount - offset else { throw .wrongSize }
        defer { offset += count }
        return offset..<offset + count
    }

    /// A copy, of what is no secret.
    func nextCopy(_ count: Int, _ offset: inout Int) throws(FormatError) -> [UInt8] {
        copied(try next(count, &offset))
    }

    func nextID<Named>(_ named: Named.Type, _ offset: inout Int) throws(FormatError) -> SyncID<Named> {
        guard let id = SyncID<Named>(try nextCopy(SyncID<Named>.size, &offset)) else { throw .wrongSize }
        return id
    }

    func nextHead(_ offset: inout Int) throws(FormatError) -> StreamHead {
        let stream = try nextID(SyncStream.self, &offset)
        let number = try next(UInt64.self, &offset)
        return StreamHead(stream: stream, number: number, hash: try nextCopy(EntryFront.hashSize, &offset))
    }

    /// Everything from `offset` on must be zero.
    func expectZeros(from offset: Int, _ field: StaticField) throws(FormatError) {
        for place in offset..<byteCount where present(at: place, as: UInt8.self) != 0 { throw .invalid(field: field) }
    }
}

extension MutableRawSpan {
    mutating func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, _ offset: inout Int) {
        store(value, at: offset)
        offset += MemoryLayout<T>.size
    }

    mutating func put(_ bytes: [UInt8], _ offset: inout Int) {
        unsafe store(copying: bytes.span.bytes, at: offset)
        offset += bytes.count
    }

    mutating func put(_ head: StreamHead, _ offset: inout Int) {
        put(head.stream.bytes, &offset)
        put(head.number, &offset)
        put(head.hash, &offset)
    }

    mutating func zeros(from offset: Int) {
        for place in offset..<byteCount { store(UInt8(0), at: place) }
    }
}

extension StreamHead {
    /// Bytes of it: stream, number, hash.
    static let size = StreamID.size + 8 + EntryFront.hashSize

    /// Whether a stream can have such a head.
    var isPossible: Bool {
        (1...SyncLimits.entries).contains(number) && hash.count == EntryFront.hashSize && hash.contains { $0 != 0 }
    }
}
