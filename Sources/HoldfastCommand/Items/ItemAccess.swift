internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import Items

/// The vault that a command works on: through the agent while that is open, over one connection; otherwise in this
/// process, which opens it once. If the agent locks between two calls, the next one asks for the passcode, so that
/// nothing is lost.
final class ItemAccess {
    let arguments: Arguments
    private let evenIfDamaged: Bool
    private let listed: [Vault.RecordInfo]?
    private let purpose: UnlockPurpose
    private var line: AgentLine?
    private var own: (store: ItemStore, vault: Vault)?

    /// - Parameters:
    ///   - evenIfDamaged: As `Unlocking.open`; no agent is started for such a command.
    ///   - listed: What was listed, where that was done before.
    ///   - purpose: What the user is told that a locked vault is needed for.
    init(
        _ arguments: Arguments, evenIfDamaged: Bool = false, listed: [Vault.RecordInfo]? = nil,
        for purpose: UnlockPurpose = .entries
    ) {
        self.arguments = arguments
        self.evenIfDamaged = evenIfDamaged
        self.listed = listed
        self.purpose = purpose
    }

    /// How far a command is with the agent: from some point on it cannot do without it any more.
    struct Session {
        /// Part of the value has been taken or written: another way would take or write it twice.
        var hasBegun = false
        /// The request changes the vault: whether it was done is not known when the agent goes away.
        var changes: Bool
    }

    /// Works through the agent where it is there and unlocked, or where the user unlocks it now (``Remembering``).
    /// - Returns: Nil if this process has opened the vault or has to: there is no agent, it is locked or unusable, or
    ///   the command line says how to open the vault.
    func use<R: ~Copyable>(
        changes: Bool = false, _ body: (borrowing AgentClient, inout Session) throws -> R
    ) throws(CommandError) -> R? {
        guard own == nil, !Unlocking.namesSecret(arguments), !arguments[Options.noAgent] else { return nil }
        var session = Session(changes: changes)
        do {
            if try connect() { return try use(&session, body) }
        } catch {
            let error = CommandError(error)
            guard !session.hasBegun else { throw error }
            switch error.code {
            case .locked: break
            case .agentUnavailable where !session.changes, .agentProtocol where !session.changes:
                Output.note("\(error.what); opening the vault without the agent")
                return nil
            default: throw error
            }
        }
        guard !evenIfDamaged else { return nil }
        switch try Remembering.unlock(arguments, over: line, for: purpose) {
        case .agent(let line):
            self.line = line
            return try vaultCall {
                try line.client.introduce()
                return try use(&session, body)
            }
        case .vault(let vault): own = (ItemStore(vault), vault)
        case nil: break
        }
        return nil
    }

    /// The connection is used again unless something is left in it: a failure that is not the agent's answer.
    private func use<R: ~Copyable>(
        _ session: inout Session, _ body: (borrowing AgentClient, inout Session) throws -> R
    ) throws -> R {
        guard let line else { throw VaultError(.agentUnavailable, "the agent has ended") }
        do { return try body(line.client, &session) } catch {
            if CommandError(error).code != .locked { self.line = nil }
            throw error
        }
    }

    /// - Returns: False where no agent serves the home.
    private func connect() throws -> Bool {
        // It may have ended while the user typed.
        if let line, line.client.isConnected { return true }
        line = nil
        switch try AgentAccess.connect(arguments) {
        case .none: return false
        case .some(let client):
            try client.introduce()
            line = AgentLine(client)
            return true
        }
    }

    /// Works through the agent, or in the vault that this process opens.
    /// - Parameter changes: Whether something is changed: then nothing is tried again when the agent goes away.
    func run<R: ~Copyable>(
        changes: Bool = false, _ remote: (borrowing AgentClient) throws(VaultError) -> R,
        own local: (ItemStore, Vault) throws(VaultError) -> R
    ) throws(CommandError) -> R {
        let result: R? = try use(changes: changes) { agent, _ in try remote(agent) }
        switch consume result {
        case .some(let result): return result
        case .none: break
        }
        let (items, vault) = try open()
        return try vaultCall { try local(items, vault) }
    }

    /// The home of the agent that this went through; nil where this process has opened the vault itself.
    func agentHome() throws(CommandError) -> String? { own == nil ? try HomeFolder.absolutePath(arguments) : nil }

    /// Opens the vault in this process.
    /// - Parameter isForWhole: As `Unlocking.open`.
    func open(isForWhole: Bool = false) throws(CommandError) -> (store: ItemStore, vault: Vault) {
        if let own { return own }
        let vault = try Unlocking.open(arguments, evenIfDamaged: evenIfDamaged, isForWhole: isForWhole)
        let opened = (store: ItemStore(vault), vault: vault)
        own = opened
        return opened
    }

    /// Locks the vault that this process has opened; a later call opens it again.
    func end() {
        own?.vault.lock(because: .ended)
        own = nil
    }
}

// The items of the vault.
extension ItemAccess {
    /// Everything but the trash.
    func infos() throws(CommandError) -> [Vault.RecordInfo] {
        if let listed { return listed }
        return try run { agent throws(VaultError) in
            try agent.list(nil)
        } own: { (_, vault) throws(VaultError) in
            try vault.records()
        }
    }

    /// An item, or a plain value as one.
    func item(_ path: RecordName) throws(CommandError) -> Item {
        try run { agent throws(VaultError) in
            try agent.item(path)
        } own: { (items, _) throws(VaultError) in
            try items.item(path.name, in: path.collection)
        }
    }

    /// Stores a new item.
    func add(_ item: borrowing Item, as record: NamedRecord) throws(CommandError) {
        try ItemNames.explaining(record) { () throws(CommandError) in
            try run(changes: true) { agent throws(VaultError) in
                try agent.put(item, as: record.path, replacing: nil)
            } own: { (items, _) throws(VaultError) in
                try items.add(item, asNew: record.path.entry)
            }
        }
    }

    /// Stores a changed item in place of the one it was read from.
    /// - Throws: `busy` if it was changed since.
    func replace(_ record: NamedRecord, with item: borrowing Item) throws(CommandError) {
        let path = record.path
        try ItemNames.explaining(record) { () throws(CommandError) in
            try run(changes: true) { agent throws(VaultError) in
                try agent.put(item, as: path, replacing: item.sequence ?? 0)
            } own: { (items, _) throws(VaultError) in
                try items.replace(path.name, in: path.collection, with: item)
            }
        }
    }

    /// Changes and stores an item as it was found; reads it again where another program was faster. An item that asks
    /// each time is asked for once this way.
    func change(
        _ found: borrowing FoundItem, _ change: (inout Item) throws(CommandError) -> Void
    ) throws(CommandError) {
        for number in 0..<ItemAccess.tries {
            var item = number == 0 ? try found.duplicate() : try item(found.path)
            try change(&item)
            do throws(CommandError) { return try replace(found.record, with: item) } catch {
                guard error.code == .busy else { throw error }
            }
        }
        throw .failure(
            .busy, "other programs keep changing this entry; nothing was changed")
    }

    private static var tries: Int { 16 }

    /// - Returns: Whether it is in the trash; if not, it was removed for good.
    func discard(_ path: RecordName, days: Int) throws(CommandError) -> Bool {
        try run(changes: true) { agent throws(VaultError) in
            try agent.discard(path, seconds: UInt32(clamping: days * 86_400))
        } own: { (items, _) throws(VaultError) in
            try items.discard(path.name, in: path.collection, for: .seconds(Int64(days) * 86_400))
        }
    }

    /// Does something with all entries of a folder, or with all records from earlier versions.
    /// - Parameter plan: What the user has seen of it.
    func change(_ action: FolderAction, seen plan: FolderPlan) throws(CommandError) {
        _ = try run(changes: true) { agent throws(VaultError) in
            try agent.change(action, seen: plan.digest)
        } own: { (items, _) throws(VaultError) in
            try items.change(action, seen: plan.digest)
        }
    }

    /// What is in the trash, the latest first.
    func trash() throws(CommandError) -> [TrashEntry] {
        try run { agent throws(VaultError) in
            try agent.trash()
        } own: { (items, _) throws(VaultError) in
            try items.trashed().compactMap { trashed in
                TrashKey(collection: trashed.collection, id: trashed.id.bytes).map {
                    TrashEntry(key: $0, name: trashed.name, moved: trashed.moved, expires: trashed.expires)
                }
            }
        }
    }

    /// Puts something back from the trash.
    func restore(_ entry: TrashEntry, as target: RecordName?) throws(CommandError) {
        guard let path = target ?? entry.entry.record else { throw ItemNames.noSuchPath }
        try ItemNames.explaining(NamedRecord(path)) { () throws(CommandError) in
            try run(changes: true) { agent throws(VaultError) in
                try agent.restore(entry.key, as: target)
            } own: { (items, _) throws(VaultError) in
                try items.restore(ItemAccess.find(entry, items), as: target?.entry, isChecked: true)
            }
        }
    }

    /// Removes one thing in the trash, or all of it, for good.
    /// - Returns: How many.
    func emptyTrash(_ entry: TrashEntry?) throws(CommandError) -> UInt64 {
        try run(changes: true) { agent throws(VaultError) in
            try agent.emptyTrash(entry?.key)
        } own: { (items, _) throws(VaultError) in
            let all = if let entry { [try ItemAccess.find(entry, items)] } else { try items.trashed() }
            try items.emptyTrash(all)
            return UInt64(all.count)
        }
    }

    private static func find(_ entry: TrashEntry, _ items: ItemStore) throws(VaultError) -> ItemStore.Trashed {
        let found = try items.trashed().first { trashed in
            trashed.id.bytes == entry.key.id && trashed.collection.utf8.elementsEqual(entry.key.collection.utf8)
        }
        guard let found else { throw VaultError(.recordNotFound, "there is no such entry in the trash") }
        return found
    }

    /// The tags in use, sorted.
    func tags() throws(CommandError) -> [String] {
        try run { agent throws(VaultError) in
            try agent.tags()
        } own: { (items, _) throws(VaultError) in
            try items.tags()
        }
    }
}
