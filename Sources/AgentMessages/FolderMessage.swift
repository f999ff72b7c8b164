/// What is done with all entries of a folder at once, or with all records of before.
package struct FolderCall: Sendable, Hashable {
    /// Bytes of what says which entries the client has seen.
    package static let digestSize = 32

    /// What is done.
    package let action: Action
    /// Of the entries that the client has seen, and where they go: what changed meanwhile is left alone.
    package let digest: [UInt8]

    /// What is done, and with which folder.
    package enum Action: Sendable, Hashable {
        case move(FolderPath, to: FolderPath)
        case copy(FolderPath, to: FolderPath)
        /// To the trash for so many seconds.
        case discard(FolderPath, seconds: UInt32)
        /// For good.
        case remove(FolderPath)
        /// Records of before get the place that they are written as.
        case adopt

        fileprivate var number: UInt8 {
            switch self {
            case .move: 1
            case .copy: 2
            case .discard: 3
            case .remove: 4
            case .adopt: 5
            }
        }
    }

    /// Nil for a digest of another size.
    package init?(_ action: Action, digest: [UInt8]) {
        guard digest.count == FolderCall.digestSize else { return nil }
        self.action = action
        self.digest = digest
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        let number = try cursor.integer(bytes, UInt8.self)
        var digest: [UInt8] = []
        for _ in 0..<FolderCall.digestSize { digest.append(try cursor.integer(bytes, UInt8.self)) }
        self.digest = digest
        switch number {
        case 1: action = .move(try FolderPath(&cursor, bytes), to: try FolderPath(&cursor, bytes))
        case 2: action = .copy(try FolderPath(&cursor, bytes), to: try FolderPath(&cursor, bytes))
        case 3:
            let seconds = try cursor.integer(bytes, UInt32.self)
            action = .discard(try FolderPath(&cursor, bytes), seconds: seconds)
        case 4: action = .remove(try FolderPath(&cursor, bytes))
        case 5: action = .adopt
        default: throw .invalid(field: "action")
        }
    }

    func write(_ writer: inout Writer) {
        writer.integer(action.number)
        for byte in digest { writer.integer(byte) }
        switch action {
        case .move(let source, let target), .copy(let source, let target):
            source.write(&writer)
            target.write(&writer)
        case .discard(let source, let seconds):
            writer.integer(seconds)
            source.write(&writer)
        case .remove(let source): source.write(&writer)
        case .adopt: break
        }
    }
}

/// A folder as names are written: its first part, and the rest of it, which may be empty.
package struct FolderPath: Sendable, Hashable {
    private static let restSizes = 0...RecordPath.nameSizes.upperBound

    /// Its first part.
    package let first: String
    /// What follows the slash behind that.
    package let rest: String

    /// Nil when one of the two has a size that no folder's has.
    package init?(first: String, rest: String) {
        guard RecordPath.collectionSizes.contains(first.utf8.count), FolderPath.restSizes.contains(rest.utf8.count)
        else { return nil }
        self.first = first
        self.rest = rest
    }

    /// By their bytes, as places of records.
    package static func == (left: FolderPath, right: FolderPath) -> Bool {
        left.first.utf8.elementsEqual(right.first.utf8) && left.rest.utf8.elementsEqual(right.rest.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in first.utf8 { hasher.combine(byte) }
        for byte in rest.utf8 { hasher.combine(byte) }
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        first = try cursor.text(bytes, RecordPath.collectionSizes, "folder")
        rest = try cursor.text(bytes, FolderPath.restSizes, "folder")
    }

    func write(_ writer: inout Writer) {
        writer.text(first, atMost: RecordPath.collectionSizes.upperBound)
        writer.text(rest, atMost: FolderPath.restSizes.upperBound)
    }
}
