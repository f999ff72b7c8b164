/// What a client asks of the agent, by area. Parsed from bytes that anybody may have written; nothing in it is a
/// secret: a secret is the last field of its message and is named by where it lies.
package enum Request: Sendable, Hashable {
    case connection(ConnectionRequest)
    case lock(LockRequest)
    case owner(OwnerRequest)
    case records(RecordRequest)
    case transfer(TransferRequest)
    case items(ItemRequest)
    case programs(ProgramRequest)
    case leases(LeasingRequest)
    case change(ChangeRequest)
    case identity(IdentityCall)
    case maintenance(MaintenanceRequest)
    case sync(SyncRequest)

    /// Reads the body of a request, all of it and nothing else.
    /// - Throws: ``MessageError`` with what is wrong.
    package init(_ frame: Frame, body: RawSpan) throws(MessageError) {
        try frame.expectRequest()
        guard body.byteCount == frame.bodySize else { throw .truncated }
        var cursor = Cursor(body)
        for area in Request.areas {
            guard let request = try area.read(frame.kind, &cursor, body) else { continue }
            try cursor.expectEnd()
            self = request
            return
        }
        throw .unknownKind(frame.kind)
    }

    private var area: any RequestArea {
        switch self {
        case .connection(let request): request
        case .lock(let request): request
        case .owner(let request): request
        case .records(let request): request
        case .transfer(let request): request
        case .items(let request): request
        case .programs(let request): request
        case .leases(let request): request
        case .change(let request): request
        case .identity(let request): request
        case .maintenance(let request): request
        case .sync(let request): request
        }
    }

    private static let areas: [any RequestArea.Type] = [
        ConnectionRequest.self, LockRequest.self, OwnerRequest.self, RecordRequest.self, TransferRequest.self,
        ItemRequest.self, ProgramRequest.self, LeasingRequest.self, ChangeRequest.self, IdentityCall.self,
        MaintenanceRequest.self, SyncRequest.self,
    ]

    /// The numbers of all messages.
    package static let numbers: [UInt8] = areas.flatMap { $0.numbers }

    /// The message without the bytes of its secret or data, which follow: `payload` says how many.
    package func head(payload: Int = 0) -> [UInt8] {
        var writer = Writer()
        let number = area.written(&writer)
        return Frame.bytes(kind: number, bodySize: writer.bytes.count + payload) + writer.bytes
    }
}

/// The requests of one area. Each has a number and fields; a secret or other payload is the last of them.
protocol RequestArea: Sendable, Hashable {
    /// Numbers of the messages; they do not change.
    associatedtype Kind: RawRepresentable<UInt8>, CaseIterable

    /// Reads the fields of a message.
    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError)

    /// Writes the fields but not the payload.
    /// - Returns: Which message it is.
    func write(_ writer: inout Writer) -> Kind

    /// As one of all areas'.
    var request: Request { get }
}

extension RequestArea {
    fileprivate static var numbers: [UInt8] { Kind.allCases.map(\.rawValue) }

    /// Nil for a number of another area.
    fileprivate static func read(
        _ number: UInt8, _ cursor: inout Cursor, _ body: RawSpan
    ) throws(MessageError) -> Request? {
        guard let kind = Kind(rawValue: number) else { return nil }
        return try Self(kind, &cursor, body).request
    }

    fileprivate func written(_ writer: inout Writer) -> UInt8 { write(&writer).rawValue }
}
