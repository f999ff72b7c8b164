internal import VaultFormat

/// What a member lacks and asks the others for.
package enum SyncWant: Sendable, Hashable {
    /// The piece with this id, 32 bytes.
    case piece([UInt8])
    /// Entries of a stream from this number on.
    case entries(StreamID, from: UInt64)
    /// All items: there are entries of an epoch whose key it has not.
    case epoch(UInt32)

    static let size = 33

    init(parsing bytes: RawSpan, _ offset: inout Int) throws(FormatError) {
        let kind = try bytes.next(UInt8.self, &offset)
        let end = try bytes.next(Self.size - 1, &offset).upperBound
        var place = end - (Self.size - 1)
        switch kind {
        case 1: self = .piece(try bytes.nextCopy(32, &place))
        case 2:
            let stream = try bytes.nextID(SyncStream.self, &place)
            self = .entries(stream, from: try bytes.next(UInt64.self, &place))
        case 3: self = .epoch(try bytes.next(UInt32.self, &place))
        default: throw .invalid(field: "entry want")
        }
        try bytes.extracting(0..<end).expectZeros(from: place, "entry want")
        guard isPossible else { throw .invalid(field: "entry want") }
    }

    func write(into bytes: inout MutableRawSpan, _ offset: inout Int) {
        let end = offset + Self.size
        switch self {
        case .piece(let id):
            bytes.put(UInt8(1), &offset)
            bytes.put(id, &offset)
        case .entries(let stream, let number):
            bytes.put(UInt8(2), &offset)
            bytes.put(stream.bytes, &offset)
            bytes.put(number, &offset)
        case .epoch(let epoch):
            bytes.put(UInt8(3), &offset)
            bytes.put(epoch, &offset)
        }
        while offset < end { bytes.put(UInt8(0), &offset) }
    }

    var isPossible: Bool {
        switch self {
        case .piece(let id): id.count == 32
        case .entries(_, let number): (1...SyncLimits.entries).contains(number)
        case .epoch(let epoch): epoch > 0
        }
    }
}
