package import AgentMessages
package import Items
internal import SecretMemory
package import VaultFormat
package import VaultStorage

// Items, tags and the trash.
extension AgentClient {
    /// An item, or a plain value as one.
    /// - Throws: As `ItemStore.item`.
    package borrowing func item(_ path: RecordName) throws(VaultError) -> Item {
        try waiting { agent throws(VaultError) in try agent.readItem(path) }
    }

    private borrowing func readItem(_ path: RecordName) throws(VaultError) -> Item {
        try send(.items(.item(path)))
        guard case .item(let head) = try receiveReply(), head.size <= UInt32(ItemLimits.size) else { throw .unexpected }
        var bytes = SecretBuffer(limit: Int(head.size))
        var isFinished = false
        while !isFinished {
            do {
                try receive { reply, body in
                    switch reply {
                    case .piece(let range): try bytes.append(body.extracting(range))
                    case .finished(let count):
                        guard count == UInt64(bytes.count), bytes.count == Int(head.size) else {
                            throw VaultError.unexpected
                        }
                        isFinished = true
                    default: throw VaultError.unexpected
                    }
                }
            } catch let error as SecretMemoryError {
                if case .invalidSize = error { throw .unexpected }
                throw VaultError(error)
            } catch { throw VaultError(any: error) }
        }
        return try bytes.withBytes { bytes throws(VaultError) in
            try Item(parsing: bytes, sequence: head.sequence, isOfValue: head.isOfValue)
        }
    }

    /// Stores an item: a new one, or in place of the one that it was read from.
    /// - Parameter replacing: The write it was read from; nil for a new one.
    /// - Throws: As `ItemStore.add` and `ItemStore.replace`.
    package borrowing func put(
        _ item: borrowing Item, as path: RecordName, replacing: UInt64?
    ) throws(VaultError) {
        try send(.items(.putItem(path, replacing: replacing)))
        try item.withBytes { bytes throws(VaultError) in
            var start = 0
            while true {
                guard case .ready = try receiveReply() else { throw VaultError.unexpected }
                guard start < bytes.byteCount else { return }
                let end = min(start + Frame.longestPiece, bytes.byteCount)
                try send(.transfer(.data(0..<end - start)), payload: bytes.extracting(start..<end))
                start = end
            }
        }
        try send(.transfer(.end))
        guard case .finished = try receiveReply() else { throw .unexpected }
    }

    /// - Returns: Whether it is in the trash.
    /// - Throws: As `ItemStore.discard`.
    package borrowing func discard(_ path: RecordName, seconds: UInt32) throws(VaultError) -> Bool {
        try send(.items(.discard(path, seconds: seconds)))
        guard case .finished(let count) = try receiveReply(), count <= 1 else { throw .unexpected }
        return count == 1
    }

    /// What is in the trash, the latest first.
    package borrowing func trash() throws(VaultError) -> [TrashEntry] {
        try send(.items(.trash))
        var all: [TrashEntry] = []
        while true {
            switch try receiveReply() {
            case .trash(let entries): all += entries
            case .finished(let count):
                guard count == UInt64(all.count) else { throw .unexpected }
                return all
            default: throw .unexpected
            }
        }
    }

    /// - Throws: As `ItemStore.restore`.
    package borrowing func restore(_ key: TrashKey, as path: RecordName?) throws(VaultError) {
        try waiting { agent throws(VaultError) in try agent.expectDone(.items(.restore(key, path))) }
    }

    /// - Parameter key: All of it when nil.
    /// - Returns: How many were removed.
    /// - Throws: As `ItemStore.emptyTrash`.
    package borrowing func emptyTrash(_ key: TrashKey?) throws(VaultError) -> UInt64 {
        try send(.items(.emptyTrash(key)))
        guard case .finished(let count) = try receiveReply() else { throw .unexpected }
        return count
    }

    /// The tags in use.
    package borrowing func tags() throws(VaultError) -> [String] {
        try send(.items(.tags))
        var all: [String] = []
        while true {
            switch try receiveReply() {
            case .texts(let texts): all += texts
            case .finished(let count):
                guard count == UInt64(all.count) else { throw .unexpected }
                return all
            default: throw .unexpected
            }
        }
    }

    /// Takes a tag that lets git have logins from all entries.
    /// - Returns: How many had it.
    /// - Throws: As `ItemStore.untag`; `invalidItem` for any other tag.
    package borrowing func disallow(tag: String) throws(VaultError) -> Int {
        try send(.programs(.disallow(tag: tag)))
        guard case .finished(let count) = try receiveReply() else { throw .unexpected }
        return Int(clamping: count)
    }
}
