package import VaultFormat

/// About items, tags, folders and the trash.
package enum ItemRequest: RequestArea {
    /// Send an item, or a plain value as one.
    case item(RecordName)
    /// Store an item that comes in ``TransferRequest/data(_:)`` messages: a new one, or in place of the write with this
    /// number.
    case putItem(RecordName, replacing: UInt64?)
    /// Move a record to the trash for so many seconds.
    case discard(RecordName, seconds: UInt32)
    /// Send what is in the trash.
    case trash
    /// Put something back from the trash, where it was or elsewhere.
    case restore(TrashKey, RecordName?)
    /// Remove one thing in the trash, or all of it, for good.
    case emptyTrash(TrashKey?)
    /// Send the tags that are in use.
    case tags
    /// Move, copy or remove all entries of a folder, or give records from earlier versions the place that they are
    /// written as; all or nothing.
    case folder(FolderCall)

    package enum Kind: UInt8, CaseIterable {
        case item = 26, putItem = 27, discard = 28, trash = 29, restore = 30, emptyTrash = 31, tags = 34
        case folder = 53
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .item: self = .item(try RecordName(&cursor, body))
        case .putItem:
            let sequence = try cursor.optional(body, UInt64.self, "sequence")
            self = .putItem(try RecordName(&cursor, body), replacing: sequence)
        case .discard:
            let seconds = try cursor.integer(body, UInt32.self)
            self = .discard(try RecordName(&cursor, body), seconds: seconds)
        case .trash: self = .trash
        case .restore:
            let key = try TrashKey(&cursor, body)
            self = .restore(key, try cursor.flag(body, "flags") ? try RecordName(&cursor, body) : nil)
        case .emptyTrash: self = .emptyTrash(try cursor.flag(body, "flags") ? try TrashKey(&cursor, body) : nil)
        case .tags: self = .tags
        case .folder: self = .folder(try FolderCall(&cursor, body))
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .item(let path):
            path.write(&writer)
            return .item
        case .putItem(let path, let sequence):
            writer.optional(sequence)
            path.write(&writer)
            return .putItem
        case .discard(let path, let seconds):
            writer.integer(seconds)
            path.write(&writer)
            return .discard
        case .trash: return .trash
        case .restore(let key, let path):
            key.write(&writer)
            writer.flag(path != nil)
            path?.write(&writer)
            return .restore
        case .emptyTrash(let key):
            writer.flag(key != nil)
            key?.write(&writer)
            return .emptyTrash
        case .tags: return .tags
        case .folder(let call):
            call.write(&writer)
            return .folder
        }
    }

    var request: Request { .items(self) }
}

/// What is done with all entries of a folder at once, or with all records from earlier versions.
package struct FolderCall: Sendable, Hashable {
    /// Bytes of what says which entries the client has seen.
    package static let digestSize = 32

    /// What is done.
    package let action: Action
    /// Of the entries that the client has seen, and where they go: what changed meanwhile is left alone.
    package let digest: [UInt8]

    /// What is done, and with which folder.
    package enum Action: Sendable, Hashable {
        case move(EntryFolder, to: EntryFolder)
        case copy(EntryFolder, to: EntryFolder)
        /// To the trash for so many seconds.
        case discard(EntryFolder, seconds: UInt32)
        /// For good.
        case remove(EntryFolder)
        /// Records from earlier versions get the place that they are written as.
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
        case 1: action = .move(try EntryFolder(&cursor, bytes), to: try EntryFolder(&cursor, bytes))
        case 2: action = .copy(try EntryFolder(&cursor, bytes), to: try EntryFolder(&cursor, bytes))
        case 3:
            let seconds = try cursor.integer(bytes, UInt32.self)
            action = .discard(try EntryFolder(&cursor, bytes), seconds: seconds)
        case 4: action = .remove(try EntryFolder(&cursor, bytes))
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

/// Something in the trash: two items of the same name may be there.
package struct TrashKey: Sendable, Hashable {
    /// Bytes of an item's id.
    package static let idSize = 16

    /// The collection that it was in.
    package let collection: String
    /// The id of the item, 16 bytes.
    package let id: [UInt8]

    /// Nil when a part has a size that it cannot have.
    package init?(collection: String, id: [UInt8]) {
        guard RecordName.collectionSizes.contains(collection.utf8.count), id.count == TrashKey.idSize else {
            return nil
        }
        self.collection = collection
        self.id = id
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        var id: [UInt8] = []
        for _ in 0..<TrashKey.idSize { id.append(try cursor.integer(bytes, UInt8.self)) }
        self.id = id
        collection = try cursor.text(bytes, RecordName.collectionSizes, "collection")
    }

    func write(_ writer: inout Writer) {
        for byte in id { writer.integer(byte) }
        writer.text(collection, atMost: RecordName.collectionSizes.upperBound)
    }
}

/// One line of the trash.
package struct TrashEntry: Sendable, Hashable {
    /// What it is.
    package let key: TrashKey
    /// What it was called.
    package let name: String
    /// When it was moved there: milliseconds since 1970.
    package let moved: Int64
    /// From when on it may be removed for good.
    package let expires: Int64

    package init(key: TrashKey, name: String, moved: Int64, expires: Int64) {
        self.key = key
        self.name = name
        self.moved = moved
        self.expires = expires
    }

    /// Bytes in a message.
    package var encodedSize: Int { TrashKey.idSize + 4 + key.collection.utf8.count + name.utf8.count + 16 }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        key = try TrashKey(&cursor, bytes)
        name = try cursor.text(bytes, RecordName.nameSizes, "name")
        moved = Int64(bitPattern: try cursor.integer(bytes, UInt64.self))
        expires = Int64(bitPattern: try cursor.integer(bytes, UInt64.self))
    }

    func write(_ writer: inout Writer) {
        key.write(&writer)
        writer.text(name, atMost: RecordName.nameSizes.upperBound)
        writer.integer(UInt64(bitPattern: moved))
        writer.integer(UInt64(bitPattern: expires))
    }
}

/// What goes before the bytes of an item.
package struct ItemHead: Sendable, Hashable {
    /// The number of the write that it was read from.
    package let sequence: UInt64
    /// Whether the record is a plain value, made an item only for this answer.
    package let isOfValue: Bool
    /// Bytes that follow.
    package let size: UInt32

    package init(sequence: UInt64, isOfValue: Bool, size: UInt32) {
        self.sequence = sequence
        self.isOfValue = isOfValue
        self.size = size
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        sequence = try cursor.integer(bytes, UInt64.self)
        isOfValue = try cursor.flag(bytes, "flags")
        size = try cursor.integer(bytes, UInt32.self)
    }

    func write(_ writer: inout Writer) {
        writer.integer(sequence)
        writer.flag(isOfValue)
        writer.integer(size)
    }
}
