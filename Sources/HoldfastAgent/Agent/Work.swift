internal import AgentMessages
internal import ProgramAccess
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What threads do for clients. Nothing here knows of sockets or of the lock.
enum Work {
    /// Runs a request under the header that is on the disk, unless that is no newer one of the same keys.
    /// - Parameter unused: Milliseconds for which the vault was not used before; rules that are new may not leave it
    ///   open so long.
    static func run(
        _ vault: Vault, unused: UInt64, _ body: () throws -> ([Packet], Completion.Next)
    ) -> Completion.Outcome {
        do throws(VaultError) {
            let isFollowed = try vault.followHeader { AgentLock.Limits.allow($0.lockTiming, unused: unused) }
            guard isFollowed else { return .headerChanged(nil) }
        } catch {
            return error.code == .locked ? .failed(error) : .headerChanged(error)
        }
        do {
            let (packets, next) = try body()
            return .done(packets, next)
        } catch let closed as LeaseCheck.Needed {
            return .stopped(closed)
        } catch { return .failed(VaultError(any: error)) }
    }

    /// Work behind a gate: what stopped there is told as such, whatever the error came to on its way.
    static func behind<Result>(_ gate: LeaseCheck, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw gate.closed ?? error }
    }

    /// The next piece of a value, and what ends it behind the last one.
    static func give(_ reader: ValueReader, _ done: UInt64) throws -> ([Packet], Completion.Next) {
        try reader.next { piece, isLast in
            let total = done + UInt64(piece.byteCount)
            var packets: [Packet] = []
            if piece.byteCount > 0 {
                let head = Reply.piece(0..<piece.byteCount).head(payload: piece.byteCount)
                packets.append(try Packet(head, payload: piece))
            }
            guard isLast else { return (packets, .give(reader, total)) }
            packets.append(try Packet(.finished(total)))
            return (packets, .rest)
        }
    }

    /// The value that a reference names, which fits into one message.
    static func value(
        _ items: ItemStore, _ path: RecordName, _ label: String?, isCode: Bool, _ gate: LeaseCheck
    ) throws -> [Packet] {
        let reference: SecretReference
        do throws(ReferenceError) {
            reference = try SecretReference(
                collection: path.collection, item: path.name, field: label, isCode: isCode)
        } catch { throw VaultError(.invalidName, error.words) }
        return try answer(items.value(of: reference, gate.pass(_:at:)))
    }

    static func credential(
        _ store: CredentialStore, _ action: ProgramRequest.CredentialAction, _ body: Body, _ attributes: Range<Int>,
        _ gate: LeaseCheck
    ) throws -> [Packet] {
        try body.bytes.withBytes { bytes in
            let attributes = bytes.extracting(attributes)
            func check(_ item: borrowing Item, _ name: String, _ collection: String) throws(VaultError) {
                guard let path = RecordName(collection: collection, name: name) else { throw .noSuchRecord }
                try gate.pass(item, path)
            }
            switch action {
            case .get: return try answer(store.get(attributes, check))
            case .store: try store.store(attributes)
            case .erase: try store.erase(attributes, check)
            }
            return [try Packet(.finished(0))]
        }
    }

    /// A value of one message.
    private static func answer(_ value: borrowing SecretBytes) throws -> [Packet] {
        try value.withBytes { value in
            guard value.byteCount > 0 else { return [try Packet(.finished(0))] }
            let head = Reply.piece(0..<value.byteCount).head(payload: value.byteCount)
            return [try Packet(head, payload: value), try Packet(.finished(UInt64(value.byteCount)))]
        }
    }

    static func entries(_ vault: Vault, in collection: String?) throws -> [RecordEntry] {
        try vault.records(in: collection).map { record in
            guard let path = RecordName(collection: record.collection, name: record.name) else {
                throw VaultError(.damaged, "damaged: a record's name is too long")
            }
            return RecordEntry(
                path: path, size: record.size, created: record.created, modified: record.modified,
                isFile: record.isFile, isOpen: record.origin == .open,
                isItem: record.isItem)
        }
    }

    static func found(_ items: ItemStore, _ query: String, in collection: String?) throws -> [RecordEntry] {
        try items.search(ItemQuery(query, in: collection)).map { match in
            guard let path = RecordName(collection: match.collection, name: match.name) else {
                throw VaultError(.damaged, "damaged: a record's name is too long")
            }
            return RecordEntry(
                path: path, size: match.size, created: match.created, modified: match.modified, isFile: match.isFile,
                isOpen: false, isItem: match.kind != nil, kind: match.kind?.rawValue ?? 0, user: match.user)
        }
    }

    /// An item in pieces, behind what is known of it.
    static func packets(of item: borrowing Item) throws -> [Packet] {
        let head = ItemHead(sequence: item.sequence ?? 0, isOfValue: item.isOfValue, size: UInt32(item.size))
        var packets = [try Packet(.item(head))]
        try item.withBytes { bytes throws(VaultError) in
            for start in stride(from: 0, to: bytes.byteCount, by: Frame.longestPiece) {
                let piece = bytes.extracting(start..<min(start + Frame.longestPiece, bytes.byteCount))
                packets.append(
                    try Packet(Reply.piece(0..<piece.byteCount).head(payload: piece.byteCount), payload: piece))
            }
        }
        return packets + [try Packet(.finished(UInt64(item.size)))]
    }

    static func packets(of trash: [ItemStore.Trashed]) throws -> [Packet] {
        let entries = try trash.map { trashed in
            guard let key = TrashKey(collection: trashed.collection, id: trashed.id.bytes) else {
                throw VaultError(.damaged, "damaged: a collection's name is too long")
            }
            return TrashEntry(key: key, name: trashed.name, moved: trashed.moved, expires: trashed.expires)
        }
        return try parts(entries) { $0.encodedSize }.map { try Packet(.trash(Array($0))) }
            + [try Packet(.finished(UInt64(entries.count)))]
    }

    static func packets(of texts: [String]) throws -> [Packet] {
        try parts(texts) { 2 + $0.utf8.count }.map { try Packet(.texts(Array($0))) }
            + [try Packet(.finished(UInt64(texts.count)))]
    }

    static func packets(of leases: [LeaseEntry]) throws -> [Packet] {
        try parts(leases) { $0.encodedSize }.map { try Packet(.leases(Array($0))) }
            + [try Packet(.finished(UInt64(leases.count)))]
    }

    static func find(_ key: TrashKey, _ items: ItemStore) throws -> ItemStore.Trashed {
        let found = try items.trashed().first { trashed in
            trashed.id.bytes == key.id && trashed.collection.utf8.elementsEqual(key.collection.utf8)
        }
        guard let found else { throw VaultError(.recordNotFound, "there is no such entry in the trash") }
        return found
    }

    /// Elements in the order in which they are, as many at a time as one message may have.
    static func parts<Element>(_ all: [Element], _ size: (Element) -> Int) -> [ArraySlice<Element>] {
        var parts: [ArraySlice<Element>] = []
        var (start, bytes) = (0, 0)
        for index in all.indices {
            let next = size(all[index])
            if bytes + next > Frame.longestBody {
                parts.append(all[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += next
        }
        if start < all.count { parts.append(all[start...]) }
        return parts
    }

    /// As many of the entries as one message may have, from one of them on.
    static func batch(_ entries: [RecordEntry], from start: Int) -> ArraySlice<RecordEntry> {
        var size = 0
        var end = start
        while end < entries.count {
            size += entries[end].encodedSize
            guard size <= Frame.longestBody else { break }
            end += 1
        }
        return entries[start..<end]
    }
}

extension VaultError {
    static let noSuchRecord = VaultError(.invalidName, "no entry has this name")
}
