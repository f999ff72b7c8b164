package import VaultFormat

/// About records and their values.
package enum RecordRequest: RequestArea {
    /// Send a value piece by piece.
    case get(RecordName)
    /// Store a value that comes in ``TransferRequest/data(_:)`` messages, once the agent is ready for it.
    case put(RecordName, replacing: Bool)
    /// Send what is known of the records of one collection, or of all.
    case list(collection: String?)
    /// Remove a record.
    case remove(RecordName)
    /// Give a record another name or collection.
    case move(RecordName, to: RecordName)
    /// Store a copy of a record under another name or in another collection.
    case copy(RecordName, to: RecordName)
    /// Send what is known of the records that have all words of a query, of one collection or of all.
    case find(String, collection: String?)
    /// Send one value: of what a text names in an item, or the main value where none does.
    /// - isCode: Whether that is to be a one-time code: its text, of which the client computes the present one.
    case value(RecordName, label: String?, isCode: Bool)

    /// Bytes of a query.
    package static let querySizes = 0...1024
    /// Bytes of a field's label.
    package static let labelSizes = 1...ItemLimits.label

    package enum Kind: UInt8, CaseIterable {
        case get = 5, put = 6, list = 7, remove = 8, move = 23, copy = 24, find = 25, value = 32
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .get: self = .get(try RecordName(&cursor, body))
        case .put:
            let replacing = try cursor.flag(body, "flags")
            self = .put(try RecordName(&cursor, body), replacing: replacing)
        case .list: self = .list(collection: try cursor.optionalText(body, RecordName.collectionSizes, "collection"))
        case .remove: self = .remove(try RecordName(&cursor, body))
        case .move: self = .move(try RecordName(&cursor, body), to: try RecordName(&cursor, body))
        case .copy: self = .copy(try RecordName(&cursor, body), to: try RecordName(&cursor, body))
        case .find:
            let query = try cursor.text(body, RecordRequest.querySizes, "query")
            self = .find(
                query, collection: try cursor.optionalText(body, RecordName.collectionSizes, "collection"))
        case .value:
            let isCode = try cursor.flag(body, "flags")
            let path = try RecordName(&cursor, body)
            let label = try cursor.optionalText(body, RecordRequest.labelSizes, "label")
            self = .value(path, label: label, isCode: isCode)
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .get(let path):
            path.write(&writer)
            return .get
        case .put(let path, let replacing):
            writer.flag(replacing)
            path.write(&writer)
            return .put
        case .list(let collection):
            writer.optionalText(collection, atMost: RecordName.collectionSizes.upperBound)
            return .list
        case .remove(let path):
            path.write(&writer)
            return .remove
        case .move(let path, let target):
            path.write(&writer)
            target.write(&writer)
            return .move
        case .copy(let path, let target):
            path.write(&writer)
            target.write(&writer)
            return .copy
        case .find(let query, let collection):
            writer.text(query, atMost: RecordRequest.querySizes.upperBound)
            writer.optionalText(collection, atMost: RecordName.collectionSizes.upperBound)
            return .find
        case .value(let path, let label, let isCode):
            writer.flag(isCode)
            path.write(&writer)
            writer.optionalText(label, atMost: RecordRequest.labelSizes.upperBound)
            return .value
        }
    }

    var request: Request { .records(self) }
}

/// The pieces of a value or an item that is being stored.
package enum TransferRequest: RequestArea {
    /// A piece.
    case data(Range<Int>)
    /// It is complete.
    case end

    package enum Kind: UInt8, CaseIterable {
        case data = 11, end = 12
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .data: self = .data(try cursor.rest(1...Frame.longestPiece, "data"))
        case .end: self = .end
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .data: .data
        case .end: .end
        }
    }

    var request: Request { .transfer(self) }
}
