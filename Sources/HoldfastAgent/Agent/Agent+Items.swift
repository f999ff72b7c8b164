internal import AgentMessages
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

// Items, tags and the trash for clients.
extension Agent {
    func handle(_ request: ItemRequest, _ connection: Connection) {
        switch request {
        case .item(let path):
            begin(connection) { [items] _, gate in
                let item = try items.item(path.name, in: path.collection)
                try gate.pass(item, path)
                if item.isOfValue { try items.checkAbove(path.entry, gate.pass(_:at:)) }
                return (try Work.packets(of: item), .rest)
            }
        case .putItem(let path, let sequence):
            begin(connection) { _ in ([try Packet(.ready)], .takeItem(ComingItem(path, replacing: sequence))) }
        case .discard(let path, let seconds):
            begin(connection) { [items] _ in
                let isInTrash = try items.discard(path.name, in: path.collection, for: .seconds(Int64(seconds)))
                return ([try Packet(.finished(isInTrash ? 1 : 0))], .rest)
            }
        case .trash: begin(connection) { [items] _ in (try Work.packets(of: items.trashed()), .rest) }
        case .restore(let key, let target):
            begin(connection) { [items] _, gate in
                let trashed = try Work.find(key, items)
                try items.restore(trashed, as: target.map(\.entry), isChecked: true, admitting: gate.pass(_:at:))
                return ([try Packet(.done)], .rest)
            }
        case .emptyTrash(let key):
            begin(connection) { [items] _ in
                let all = try key.map { [try Work.find($0, items)] } ?? items.trashed()
                try items.emptyTrash(all)
                return ([try Packet(.finished(UInt64(all.count)))], .rest)
            }
        case .tags: begin(connection) { [items] _ in (try Work.packets(of: items.tags()), .rest) }
        case .folder(let call): handle(call, connection)
        }
    }

    /// Has all entries of a folder changed, after the user was asked for each that wants it.
    private func handle(_ call: FolderCall, _ connection: Connection) {
        begin(connection, isOfSeveral: true) { [items] _, gate in
            let count = try items.change(
                FolderAction(call.action), seen: call.digest, admitting: gate.pass(_:at:))
            return ([try Packet(.finished(UInt64(count)))], .rest)
        }
    }

    /// The next part of an item that is being stored.
    func store(_ request: Request, _ body: Body, _ item: ComingItem, _ connection: Connection) {
        switch request {
        case .transfer(.data(let range)):
            begin(connection) { _ in
                try body.bytes.withBytes { bytes throws(VaultError) in try item.append(bytes.extracting(range)) }
                return ([try Packet(.ready)], .takeItem(item))
            }
        case .transfer(.end):
            begin(connection) { [items] _ in ([try Packet(.finished(try item.store(in: items)))], .rest) }
        default: fail(connection, VaultError(.agentProtocol, "an entry is being stored"))
        }
    }
}

/// An item that a client is storing, as far as it has come.
final class ComingItem: @unchecked Sendable {  // handed from one thread to another, used by one at a time
    private let path: RecordName
    private let sequence: UInt64?
    private var bytes = SecretBuffer(limit: ItemLimits.size)

    init(_ path: RecordName, replacing sequence: UInt64?) {
        self.path = path
        self.sequence = sequence
    }

    /// - Throws: `tooLarge` beyond what an item can be.
    func append(_ piece: RawSpan) throws(VaultError) {
        do throws(SecretMemoryError) { try bytes.append(piece) } catch {
            if case .invalidSize = error { throw VaultError(.tooLarge, "an entry with fields has at most 1 MiB") }
            throw VaultError(error)
        }
    }

    /// - Returns: Bytes that were stored.
    /// - Throws: `damaged` for what is no item; `invalidItem` for a new tag that is a misspelled guard; as
    ///   `ItemStore.add` and `ItemStore.replace`.
    func store(in items: ItemStore) throws(VaultError) -> UInt64 {
        let item = try bytes.withBytes { bytes throws(VaultError) in try Item(parsing: bytes, sequence: sequence) }
        if sequence != nil {
            // Tags that are there already stay; where another write came between, nothing is stored.
            try item.checkGuards { () throws(VaultError) in try items.item(path.name, in: path.collection).tags }
            try items.replace(path.name, in: path.collection, with: item)
        } else {
            try item.checkGuards()
            try items.add(item, asNew: path.entry)
        }
        return UInt64(item.size)
    }
}
