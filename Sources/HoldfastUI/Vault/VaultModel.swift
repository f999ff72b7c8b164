package import Holdfast
internal import Observation

/// The vault's collections and items, searched and changed. Everything in it is dropped when the lock falls.
@MainActor @Observable
package final class VaultModel {
    /// What is shown: of one section, as far as the search finds it, in ``order``.
    package private(set) var items: [VaultItem] = []
    /// The collections there are, sorted.
    package private(set) var collections: [VaultCollection] = []
    /// Items that were written while the vault was locked; their owner accepts or rejects them.
    package private(set) var inbox: [Vault.InboxItem] = []
    /// The parts of the vault that there are, in the order of a sidebar.
    package internal(set) var sections: [VaultSection.Entry] = []
    /// The part that is shown.
    package var section = VaultSection.all { didSet { filter() } }
    /// The collection that is shown; nil for all, and for a part that does not exist.
    package var collection: String? {
        get { if case .collection(let name) = section { name } else { nil } }
        set { section = newValue.map(VaultSection.collection) ?? .all }
    }
    /// Words that are looked for in names, tags and open fields, upper and lower case alike; `#work` is a tag.
    package var search = "" { didSet { filter() } }
    /// Whether the index is still being asked for ``search``; ``items`` are those whose names contain it until then.
    package private(set) var isSearching = false
    /// How ``items`` are sorted.
    package var order = VaultOrder.name { didSet { if order != oldValue { sort() } } }
    /// What was thrown away and can be put back, the latest first; read by ``loadTrash()``.
    package internal(set) var trash: [ItemStore.Trashed] = []
    /// What kept the items from being read.
    package private(set) var problem: VaultProblem?
    /// Whether they were read since the vault was opened.
    package private(set) var isLoaded = false
    /// The file that is on its way.
    package private(set) var transfer: Transfer?

    @ObservationIgnored let vault: Vault
    /// One for as long as the app runs: it keeps the index that a search builds.
    @ObservationIgnored let store: ItemStore
    @ObservationIgnored var all: [VaultItem] = []
    /// What is known of items beside their names, from the last reading.
    @ObservationIgnored private var labels: [VaultItem.ID: ItemLabels] = [:]
    /// When items were opened last.
    @ObservationIgnored var uses = RecentUses()
    @ObservationIgnored var knowsUses = false
    @ObservationIgnored let storingUses = OneTask()
    @ObservationIgnored private var loads = 0
    @ObservationIgnored private var searches = 0
    @ObservationIgnored private let searching = OneTask()
    @ObservationIgnored private var cancelling: CancelFlag?
    @ObservationIgnored let lock: LockModel

    /// The items of the vault behind this lock.
    package init(_ lock: LockModel) {
        self.lock = lock
        vault = lock.app.vault
        store = ItemStore(lock.app.vault)
    }

    /// Reads the items.
    package func load() async {
        loads += 1
        let mine = loads
        let result = await VaultModel.contents(of: vault, withUses: !knowsUses)
        // Dropped or read again meanwhile: what came is not to be shown.
        guard mine == loads, !lock.isLocked else { return }
        switch result {
        case .success(let contents):
            all = contents.items
            // Read once for each time that it is open.
            if let stored = contents.uses { (uses, knowsUses) = (stored, true) }
            collections = contents.collections
            inbox = contents.inbox
            problem = nil
            label()
        case .failure(let error): problem = note(error)
        }
        isLoaded = true
        sort()
        guard problem == nil else { return }
        // Kinds and tags are inside of the items, and reading them all takes longer than listing names: names are shown
        // first.
        let found = await VaultModel.labels(of: store)
        guard mine == loads, !lock.isLocked, case .success(let labels) = found, labels != self.labels else { return }
        self.labels = labels
        label()
        sort()
    }

    /// Sorts all items anew, and shows them so.
    func sort() {
        all = order.sorted(all, uses.times)
        filter()
    }

    private func label() {
        for index in all.indices { all[index].label(labels[all[index].id]) }
        sections = VaultSection.entries(of: all, collections)
        if !sections.contains(where: { $0.section == section }) { section = .all }
    }

    /// Forgets everything decrypted and stops what is on its way.
    package func drop() {
        loads += 1
        cancelTransfer()
        searching.replace(with: nil)
        isLoaded = false
        all = []
        items = []
        storingUses.replace(with: nil)
        (uses, knowsUses) = (RecentUses(), false)
        labels = [:]
        sections = []
        section = .all
        collections = []
        inbox = []
        trash = []
        search = ""
        problem = nil
    }

    /// Stores a value.
    /// - Returns: Why not; nil when it was stored.
    package func put(
        _ value: consuming SecretBytes, at id: VaultItem.ID, replacing: Bool = false
    ) async -> VaultProblem? {
        await change(VaultModel.put(vault, value, id, replacing))
    }

    /// Throws an item away: to the trash, where ``restore(_:)`` finds it for 30 days. Files, and what was written while
    /// the vault was locked, are removed for good.
    /// - Returns: Why not; nil when it was removed.
    package func delete(_ id: VaultItem.ID) async -> VaultProblem? { await change(VaultModel.delete(vault, store, id)) }

    /// Accepts an inbox item as the user's own record.
    package func accept(_ item: Vault.InboxItem) async -> VaultProblem? {
        await change(VaultModel.decide(vault, item, isAccepted: true))
    }

    /// Throws an item of the inbox away.
    package func reject(_ item: Vault.InboxItem) async -> VaultProblem? {
        await change(VaultModel.decide(vault, item, isAccepted: false))
    }

    /// Stores a file of the disk.
    /// - Returns: Why not; nil when it was stored.
    package func addFile(at path: String, as id: VaultItem.ID, replacing: Bool = false) async -> VaultProblem? {
        await transferring(.adding, id.name, nil) { vault, flag, progress in
            try FileTransfer.add(path, to: vault, as: id, replacing: replacing, flag, progress)
        }
    }

    /// Writes an item to a file on the disk, where it is not protected any more; a file of that name is replaced.
    /// - Returns: Why not; nil when it was written.
    package func saveFile(_ item: VaultItem, to path: String) async -> VaultProblem? {
        await transferring(.saving, item.name, item.size) { vault, flag, progress in
            try FileTransfer.save(item.id, of: vault, to: path, flag, progress)
        }
    }

    /// Stops the file that is on its way; nothing is left of it.
    package func cancelTransfer() { cancelling?.set() }

    /// The fields of an item, to be read with ``ItemFieldsModel/load()``.
    package func fields(of id: VaultItem.ID, preferences: PreferencesModel) -> ItemFieldsModel {
        ItemFieldsModel(id, self, hidesAfter: preferences.values.revealSeconds)
    }

    /// A screen for one item.
    package func detail(of item: VaultItem, preferences: PreferencesModel) -> VaultItemModel {
        VaultItemModel(item, lock, hidesAfter: preferences.values.revealSeconds)
    }
}

extension VaultModel {
    /// Names are compared at once; what the index finds in tags and fields follows, since its first search reads every
    /// item.
    private func filter() {
        searches += 1
        let wanted = search.lowercased()
        show(all.filter { section.contains($0) && (wanted.isEmpty || $0.isFound(by: wanted)) })
        isSearching = isLoaded && !wanted.allSatisfy(\.isWhitespace)
        guard isSearching else { return }
        let (mine, query) = (searches, ItemQuery(search, in: collection))
        searching.replace(
            with: Task { [weak self, store] in
                let result = await VaultModel.matches(store, query)
                self?.finish(mine, result)
            })
    }

    private func finish(_ search: Int, _ result: Result<[VaultItem.ID], VaultError>) {
        // Another text was typed, or everything dropped, meanwhile.
        guard search == searches, !lock.isLocked else { return }
        isSearching = false
        guard case .success(let found) = result else { return }
        let known = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        show(found.compactMap { known[$0] }.filter(section.contains))
    }

    private func show(_ found: [VaultItem]) { if found != items { items = found } }

    @concurrent
    private nonisolated static func matches(
        _ store: ItemStore, _ query: ItemQuery
    ) async -> Result<[VaultItem.ID], VaultError> {
        Result { () throws(VaultError) in
            try store.search(query).map { VaultItem.ID(collection: $0.collection, name: $0.name) }
        }
    }

    /// An error that says that the vault is shut reaches the lock screen too.
    func note(_ error: VaultError) -> VaultProblem {
        switch error.code {
        case .locked: lock.post(.timeout)  // makes the lock look
        case .keysChanged, .wiped: lock.lock()
        default: break
        }
        return VaultProblem(error)
    }

    func change(_ result: Result<Void, some Error>) async -> VaultProblem? {
        var problem: VaultProblem?
        if case .failure(let error) = result { problem = (error as? VaultError).map(note) ?? VaultProblem(any: error) }
        if !lock.isLocked { await load() }
        return problem
    }

    func transferring(
        _ direction: Transfer.Direction, _ name: String, _ total: UInt64?,
        _ work: @escaping @Sendable (Vault, CancelFlag, @escaping @Sendable (UInt64, UInt64?) -> Void) throws -> Void
    ) async -> VaultProblem? {
        guard transfer == nil else { return .busy }
        transfer = Transfer(direction: direction, name: name, done: 0, total: total)
        let flag = CancelFlag()
        cancelling = flag
        let problem = await showingSteps { [weak self] step in
            if self?.transfer != nil { self?.transfer = step }
        } of: { [vault] progress in
            await FileTransfer.run(vault, flag, work) { done, size in
                progress.yield(Transfer(direction: direction, name: name, done: done, total: size ?? total))
            }
        }
        transfer = nil
        cancelling = nil
        if !lock.isLocked { await load() }
        return problem
    }

    /// Collections with a meaning of their own: neither listed with the owner's nor written to by name.
    private nonisolated static let reserved = [PreferencesModel.collection, Vault.inboxCollection]

    nonisolated static func checkCollection(_ id: VaultItem.ID) throws(VaultError) {
        guard !reserved.contains(id.collection) else {
            throw VaultError(.reservedCollection, "this collection is Holdfast's own")
        }
    }

    private struct Contents: Sendable {
        let items: [VaultItem]
        let collections: [VaultCollection]
        let inbox: [Vault.InboxItem]
        let uses: RecentUses?
    }

    @concurrent
    private nonisolated static func contents(
        of vault: Vault, withUses: Bool
    ) async -> Result<Contents, VaultError> {
        let uses = withUses ? await uses(in: vault) : nil
        return Result { () throws(VaultError) in
            let inbox = try vault.inbox()
            let items = try vault.records().filter { !VaultModel.reserved.contains($0.collection) }.map(VaultItem.init)
            var counts: [String: Int] = [:]
            for item in items { counts[item.collection, default: 0] += 1 }
            let collections = counts.map(VaultCollection.init).sorted { $0.name < $1.name }
            return Contents(items: items, collections: collections, inbox: inbox, uses: uses)
        }
    }

    @concurrent
    private nonisolated static func put(
        _ vault: Vault, _ value: borrowing SecretBytes, _ id: VaultItem.ID, _ replacing: Bool
    ) async -> Result<Void, VaultError> {
        do throws(VaultError) {
            try checkCollection(id)
            try vault.put(value, for: id.name, in: id.collection, replacing: replacing)
            return .success(())
        } catch { return .failure(error) }
    }

    @concurrent
    private nonisolated static func delete(
        _ vault: Vault, _ store: ItemStore, _ id: VaultItem.ID
    ) async -> Result<Void, VaultError> {
        Result { () throws(VaultError) in try discard(id, vault, store) }
    }

    nonisolated static func discard(_ id: VaultItem.ID, _ vault: Vault, _ store: ItemStore) throws(VaultError) {
        do throws(VaultError) { try store.trash(id.name, in: id.collection) } catch {
            guard error.code == .tooLarge || error.code == .unconfirmed else { throw error }
            try vault.delete(id.name, in: id.collection)
        }
    }

    @concurrent
    private nonisolated static func decide(
        _ vault: Vault, _ item: Vault.InboxItem, isAccepted: Bool
    ) async -> Result<Void, VaultError> {
        Result { () throws(VaultError) in
            if isAccepted { try vault.confirm(item.name) } else { try vault.reject(item.name) }
        }
    }
}
