internal import AgentMessages
package import Items
internal import VaultFormat
package import VaultStorage

extension FolderAction {
    /// As a message says it.
    /// - Throws: `invalidName` for parts that no folder has.
    init(_ action: FolderCall.Action) throws(VaultError) {
        switch action {
        case .move(let source, let target): self = .move(try EntryFolder(source), to: try EntryFolder(target))
        case .copy(let source, let target): self = .copy(try EntryFolder(source), to: try EntryFolder(target))
        case .discard(let source, let seconds): self = .discard(try EntryFolder(source), .seconds(Int64(seconds)))
        case .remove(let source): self = .remove(try EntryFolder(source))
        case .adopt: self = .adopt
        }
    }

    /// For a message.
    /// - Throws: `invalidName` for parts that no folder has.
    func message() throws(VaultError) -> FolderCall.Action {
        switch self {
        case .move(let source, let target): .move(try source.path(), to: try target.path())
        case .copy(let source, let target): .copy(try source.path(), to: try target.path())
        case .discard(let source, let lifetime):
            .discard(try source.path(), seconds: UInt32(clamping: lifetime.components.seconds))
        case .remove(let source): .remove(try source.path())
        case .adopt: .adopt
        }
    }
}

extension EntryFolder {
    fileprivate init(_ path: FolderPath) throws(VaultError) {
        guard let folder = EntryFolder(first: path.first, rest: path.rest) else { throw .noSuchRecord }
        self = folder
    }

    fileprivate func path() throws(VaultError) -> FolderPath {
        guard let path = FolderPath(first: first, rest: rest) else { throw .noSuchRecord }
        return path
    }
}

extension RecordPath {
    var entry: EntryPath { EntryPath(collection: collection, name: name) }
}

extension AgentClient {
    /// Has all entries of a folder changed, or all records of before; all or nothing.
    /// - Parameter digest: Of the plan that the user has seen.
    /// - Returns: How many entries it was done with.
    /// - Throws: As `ItemStore.change(_:seen:admitting:)`.
    package borrowing func change(_ action: FolderAction, seen digest: [UInt8]) throws(VaultError) -> Int {
        guard let call = FolderCall(try action.message(), digest: digest) else { throw .noSuchRecord }
        return try waiting { agent throws(VaultError) in
            try agent.send(.folder(call))
            guard case .finished(let count) = try agent.receiveReply() else { throw VaultError.unexpected }
            return Int(clamping: count)
        }
    }
}
