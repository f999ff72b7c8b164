package import VaultFormat

/// About the inbox, the security log, and everything that is stored.
package enum MaintenanceRequest: RequestArea {
    /// Send what waits in the inbox.
    case inbox
    /// Store an item of the inbox among the records; answered with its collection and name.
    case acceptInbox(Acceptance)
    /// Remove an item of the inbox.
    case rejectInbox(String)
    /// Prove the security log and send it.
    case securityLog
    /// Check everything that is stored.
    case verify

    package enum Kind: UInt8, CaseIterable {
        case inbox = 46, acceptInbox = 47, rejectInbox = 48, securityLog = 49, verify = 50
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .inbox: self = .inbox
        case .acceptInbox: self = .acceptInbox(try Acceptance(&cursor, body))
        case .rejectInbox: self = .rejectInbox(try cursor.text(body, RecordName.nameSizes, "name"))
        case .securityLog: self = .securityLog
        case .verify: self = .verify
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .inbox: return .inbox
        case .acceptInbox(let acceptance):
            acceptance.write(&writer)
            return .acceptInbox
        case .rejectInbox(let name):
            writer.text(name, atMost: RecordName.nameSizes.upperBound)
            return .rejectInbox
        case .securityLog: return .securityLog
        case .verify: return .verify
        }
    }

    var request: Request { .maintenance(self) }
}

/// One line of the inbox: what was written while the vault was locked.
package struct InboxEntry: Sendable, Hashable {
    /// What it is called in the inbox.
    package let name: String
    /// Where its writer wanted it.
    package let original: RecordName
    /// Bytes of content.
    package let size: UInt64
    /// Milliseconds since 1970, as its writer set it.
    package let created: Int64
    /// As ``created``, of the last write.
    package let modified: Int64
    /// Whether it was sealed to the vault.
    package let wasSealed: Bool

    package init(
        name: String, original: RecordName, size: UInt64, created: Int64, modified: Int64, wasSealed: Bool
    ) {
        self.name = name
        self.original = original
        self.size = size
        self.created = created
        self.modified = modified
        self.wasSealed = wasSealed
    }

    /// Bytes in a message.
    package var encodedSize: Int {
        31 + name.utf8.count + original.collection.utf8.count + original.name.utf8.count
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        name = try cursor.text(bytes, RecordName.nameSizes, "name")
        original = try RecordName(&cursor, bytes)
        size = try cursor.integer(bytes, UInt64.self)
        created = Int64(bitPattern: try cursor.integer(bytes, UInt64.self))
        modified = Int64(bitPattern: try cursor.integer(bytes, UInt64.self))
        wasSealed = try cursor.flag(bytes, "flags")
    }

    func write(_ writer: inout Writer) {
        writer.text(name, atMost: RecordName.nameSizes.upperBound)
        original.write(&writer)
        writer.integer(size)
        writer.integer(UInt64(bitPattern: created))
        writer.integer(UInt64(bitPattern: modified))
        writer.flag(wasSealed)
    }
}

/// Where an item of the inbox is stored when its owner accepts it; what is nil stays as its writer wanted it.
package struct Acceptance: Sendable, Hashable {
    /// What it is called in the inbox.
    package let item: String
    package let name: String?
    package let collection: String?
    /// Whether it may take the place of a record.
    package let isReplacing: Bool

    package init(item: String, name: String?, collection: String?, isReplacing: Bool) {
        self.item = item
        self.name = name
        self.collection = collection
        self.isReplacing = isReplacing
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        item = try cursor.text(bytes, RecordName.nameSizes, "name")
        name = try cursor.optionalText(bytes, RecordName.nameSizes, "name")
        collection = try cursor.optionalText(bytes, RecordName.collectionSizes, "collection")
        isReplacing = try cursor.flag(bytes, "flags")
    }

    func write(_ writer: inout Writer) {
        writer.text(item, atMost: RecordName.nameSizes.upperBound)
        writer.optionalText(name, atMost: RecordName.nameSizes.upperBound)
        writer.optionalText(collection, atMost: RecordName.collectionSizes.upperBound)
        writer.flag(isReplacing)
    }
}

/// One entry of the security log, as the log itself writes it.
package struct LoggedEntry: Sendable, Hashable {
    /// Its place in the log.
    package let index: UInt64
    package let entry: LogEntry

    package init(index: UInt64, entry: LogEntry) {
        self.index = index
        self.entry = entry
    }

    /// Bytes in a message.
    package static let encodedSize = 8 + LogFormat.plaintextSize

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        index = try cursor.integer(bytes, UInt64.self)
        var plain: [UInt8] = []
        for _ in 0..<LogFormat.plaintextSize { plain.append(try cursor.integer(bytes, UInt8.self)) }
        do throws(FormatError) { entry = try LogEntry(parsing: plain) } catch { throw .invalid(field: "log entry") }
    }

    func write(_ writer: inout Writer) {
        writer.integer(index)
        for byte in entry.encoded() { writer.integer(byte) }
    }
}

/// Something in the security log that is not as it was written.
package struct LogFinding: Sendable, Hashable {
    /// The stable word of its kind.
    package let kind: String
    /// The index of the first entry concerned.
    package let position: UInt64
    /// In words.
    package let text: String

    static let kindSizes = 1...32
    static let textSizes = 0...1024

    package init(kind: String, position: UInt64, text: String) {
        self.kind = kind
        self.position = position
        self.text = text
    }

    /// Bytes in a message, at most.
    package var encodedSize: Int { 12 + kind.utf8.count + text.utf8.count }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        kind = try cursor.text(bytes, LogFinding.kindSizes, "kind")
        position = try cursor.integer(bytes, UInt64.self)
        text = try cursor.text(bytes, LogFinding.textSizes, "text")
    }

    func write(_ writer: inout Writer) {
        writer.text(kind, atMost: LogFinding.kindSizes.upperBound)
        writer.integer(position)
        writer.text(text, atMost: LogFinding.textSizes.upperBound)
    }
}
