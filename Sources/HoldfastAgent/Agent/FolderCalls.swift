internal import AgentMessages
package import Items
internal import VaultFormat
package import VaultStorage

extension FolderAction {
    init(_ action: FolderCall.Action) {
        switch action {
        case .move(let source, let target): self = .move(source, to: target)
        case .copy(let source, let target): self = .copy(source, to: target)
        case .discard(let source, let seconds): self = .discard(source, .seconds(Int64(seconds)))
        case .remove(let source): self = .remove(source)
        case .adopt: self = .adopt
        }
    }

    /// For a message.
    var message: FolderCall.Action {
        switch self {
        case .move(let source, let target): .move(source, to: target)
        case .copy(let source, let target): .copy(source, to: target)
        case .discard(let source, let lifetime):
            .discard(source, seconds: UInt32(clamping: lifetime.components.seconds))
        case .remove(let source): .remove(source)
        case .adopt: .adopt
        }
    }
}

extension AgentClient {
    /// Has all entries of a folder changed, or all records from earlier versions; all or nothing.
    /// - Parameter digest: Of the plan that the user has seen.
    /// - Returns: How many entries it was done with.
    /// - Throws: As `ItemStore.change(_:seen:admitting:)`.
    package borrowing func change(_ action: FolderAction, seen digest: [UInt8]) throws(VaultError) -> Int {
        guard let call = FolderCall(action.message, digest: digest) else { throw .noSuchRecord }
        return try waiting { agent throws(VaultError) in
            try agent.send(.items(.folder(call)))
            guard case .finished(let count) = try agent.receiveReply() else { throw VaultError.unexpected }
            return Int(clamping: count)
        }
    }
}
