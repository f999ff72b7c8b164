package import Holdfast
internal import Observation

/// The fields of one item on the screen. What is listed has no secret in it; a value is read when the user asks for it,
/// kept in locked memory for as long as it is shown, and gone when the lock falls.
@MainActor @Observable
package final class ItemFieldsModel {
    /// A field as a list shows it, without its value.
    package struct Field: Sendable, Hashable, Identifiable {
        /// Its place in the item.
        package let id: Int
        /// What it is called.
        package let label: String
        /// What it holds.
        package let kind: FieldKind
        /// The name that the content of a file field has as a file; nil for any other.
        package let fileName: String?
        /// Whether it is a one-time code by a counter: each of its codes is used up when it is shown
        /// (``ItemFieldsModel/revealNextCode(of:)``).
        package let countsUp: Bool
        /// Whether it is hidden until it is asked for.
        package var isSecret: Bool { kind == .secret || kind == .oneTimeCode }
        /// Whether its value is shown without being asked for.
        var isOpen: Bool { !isSecret && kind != .file }

        init(_ field: Item.Field, in item: borrowing Item) {
            (id, label, kind) = (field.index, field.label, field.kind)
            fileName = item.withFile(of: field) { name, _ in name }
            countsUp = kind == .oneTimeCode && item.withValue(of: field) { Field.countsUp($0) }
        }

        private static func countsUp(_ text: RawSpan) -> Bool {
            guard let text = try? SecretBytes(copying: text), let code = try? OneTimeCode(parsing: text),
                case .counter = code.moment
            else { return false }
            return true
        }
    }

    /// Where it is.
    package let place: VaultItem.ID
    /// Whether it is an item; a plain value, and a file of its own, has no fields to show.
    package private(set) var isItem = false
    /// The fields, in the item's order.
    package private(set) var fields: [Field] = []
    /// What it is; a plain value is ``VaultFormat/ItemKind/value``.
    package private(set) var kind = ItemKind.value
    /// Whether it is shown first.
    package private(set) var isFavourite = false
    /// What fields held before they were changed or removed, the latest first.
    package private(set) var earlier: [Item.Earlier] = []
    /// The earlier values that are shown now, by their place.
    package private(set) var revealedEarlier: Set<Int> = []
    /// The tags, sorted.
    package private(set) var tags: [String] = []
    /// Whether it has notes.
    package private(set) var hasNotes = false
    /// The fields whose secrets are shown now.
    package private(set) var revealed: Set<Int> = []
    /// The one-time codes by time that are shown for as long as the item is (``showCodes()``).
    package private(set) var live: Set<Int> = []
    /// Whether the notes are shown now.
    package private(set) var showsNotes = false
    /// What is being changed; nil while nothing is.
    package internal(set) var editing: ItemEdit?
    /// What kept it, or a value of it, from being read.
    package private(set) var problem: VaultProblem?

    @ObservationIgnored let vault: VaultModel
    @ObservationIgnored private let hidesAfter: UInt32
    @ObservationIgnored private var values: [Int: ShownValue] = [:]
    @ObservationIgnored private var earlierValues: [Int: ShownValue] = [:]
    @ObservationIgnored private var notes: ShownValue?
    /// Whether codes by time are shown without being asked for.
    @ObservationIgnored private var showsCodes = false
    /// The number of the write that the item was read from last.
    @ObservationIgnored private(set) var version: UInt64?
    /// How often everything was dropped: what was read meanwhile is not shown.
    @ObservationIgnored private var drops = 0
    @ObservationIgnored private let hiding = OneTask()

    init(_ place: VaultItem.ID, _ vault: VaultModel, hidesAfter: UInt32) {
        self.place = place
        self.vault = vault
        self.hidesAfter = hidesAfter
        vault.lock.onLock { [weak self] in self?.drop() }
    }

    /// Reads what the item is made of. Only the values that are shown to everybody stay in memory: of texts, addresses
    /// and dates.
    package func load() async {
        problem = nil
        let mine = drops
        do throws(VaultError) {
            let found = try await ItemFieldsModel.outline(vault.store, place, withCodes: showsCodes)
            guard isCurrent(mine) else { return }
            hide()
            (values, live, version) = (found.open, found.live, found.version)
            (isItem, hasNotes, tags) = (found.isItem, found.hasNotes, found.tags)
            (kind, isFavourite, earlier) = (found.kind, found.isFavourite, found.earlier)
            fields = found.fields
        } catch {
            guard drops == mine else { return }
            // What is being typed stays while the vault is open: its item may come back.
            let (typed, read) = (editing, version)
            if !vault.lock.isLocked { editing = nil }
            drop()
            if !vault.lock.isLocked { (editing, version) = (typed, read) }
            if error.code != .tooLarge, error.code != .unconfirmed { problem = VaultProblem(error) }
        }
    }

    /// Has codes by time shown until the item is left or the vault locked: they are what it is opened for. Then reads
    /// the item.
    package func showCodes() async {
        showsCodes = true
        await load()
    }

    /// Forgets everything about the item.
    package func drop() {
        drops += 1
        hide()
        editing?.drop()
        (editing, version) = (nil, nil)
        (values, live, showsCodes) = ([:], [], false)
        (isItem, hasNotes, isFavourite, kind) = (false, false, false, .value)
        (fields, tags, earlier) = ([], [], [])
    }

    /// Reads a secret field's value, to be shown for a while.
    package func reveal(_ field: Field) async {
        guard field.isSecret, !field.countsUp, !live.contains(field.id), fields.contains(field),
            let value = await read(.field(field))
        else { return }
        values[field.id] = value
        revealed.insert(field.id)
        hideLater()
    }

    /// Shows the digits of a code that was used up, for a while.
    func show(_ digits: ShownValue, of field: Field) {
        guard fields.contains(field) else { return }
        values[field.id] = digits
        revealed.insert(field.id)
        hideLater()
    }

    /// Reads the notes, to be shown for a while.
    package func revealNotes() async {
        guard hasNotes, let value = await read(.notes) else { return }
        notes = value
        showsNotes = true
        hideLater()
    }

    /// Reads an earlier value, to be shown for a while.
    package func reveal(_ past: Item.Earlier) async {
        guard earlier.contains(past), let value = await read(.earlier(past)) else { return }
        earlierValues[past.index] = value
        revealedEarlier.insert(past.index)
        hideLater()
    }

    /// Hides one value and wipes it.
    package func hide(_ field: Field) {
        guard revealed.contains(field.id) else { return }
        values[field.id] = nil
        revealed.remove(field.id)
    }

    /// Hides every secret, and the notes, and wipes them.
    package func hide() {
        for id in revealed { values[id] = nil }
        revealed = []
        earlierValues = [:]
        revealedEarlier = []
        notes = nil
        showsNotes = false
        hiding.replace(with: nil)
    }

    private func hideLater() {
        hiding.replace(after: .seconds(hidesAfter)) { [weak self] in self?.hide() }
    }

    /// Lends a value that is shown now. Of a one-time code it is the code of now.
    /// - Returns: Nil when it is not shown.
    package func withValue<R>(of field: Field, _ body: (RawSpan) -> R) -> R? {
        guard fields.contains(field), let value = values[field.id] else { return nil }
        return value.lend(field.kind, body)
    }

    /// Reads a value and lends it for the clipboard or an editor, without showing it.
    /// - Returns: As `withValue(of:_:)`; nil also when it cannot be read, and ``problem`` says why.
    package func withCopy<R>(of field: Field, _ body: (RawSpan) -> R) async -> R? {
        // The digits that are shown: reading would use up the next ones.
        if field.countsUp { return withValue(of: field, body) }
        guard fields.contains(field), let value = await read(.field(field)) else { return nil }
        return value.lend(field.kind, body)
    }

    /// Lends an earlier value that is shown now; of a one-time code it is the text that describes it.
    package func withValue<R>(of past: Item.Earlier, _ body: (RawSpan) -> R) -> R? {
        guard earlier.contains(past) else { return nil }
        return earlierValues[past.index]?.lend(.secret, body)
    }

    /// Reads an earlier value and lends it for the clipboard, without showing it.
    /// - Returns: Nil when it cannot be read, and ``problem`` says why.
    package func withCopy<R>(of past: Item.Earlier, _ body: (RawSpan) -> R) async -> R? {
        guard earlier.contains(past), let value = await read(.earlier(past)) else { return nil }
        return value.lend(.secret, body)
    }

    /// Seconds for which the one-time code that is shown is good; nil for another field, and for a counter.
    package func secondsLeft(of field: Field) -> Int? {
        field.kind == .oneTimeCode ? values[field.id]?.secondsLeft : nil
    }

    /// How much of its step is left to the one-time code that is shown, from 1 to 0; nil as ``secondsLeft(of:)``.
    package func shareLeft(of field: Field) -> Double? {
        field.kind == .oneTimeCode ? values[field.id]?.shareLeft : nil
    }

    /// Lends the digits that follow those of a one-time code by time while it is shown; nil of another field.
    package func withNextCode<R>(of field: Field, _ body: (RawSpan) -> R) -> R? {
        guard field.kind == .oneTimeCode, fields.contains(field) else { return nil }
        return values[field.id]?.lendNext(body)
    }

    /// Reads the notes and lends them for an editor, without showing them.
    /// - Returns: Nil when they cannot be read, and ``problem`` says why.
    package func withNotesCopy<R>(_ body: (RawSpan) -> R) async -> R? {
        guard hasNotes, let value = await read(.notes) else { return nil }
        return value.lend(.text, body)
    }

    /// Lends the notes while they are shown.
    package func withNotes<R>(_ body: (RawSpan) -> R) -> R? { notes?.lend(.text, body) }

    /// Reads the content of a file field and lends it, for a look at it without a copy on the disk.
    /// - Returns: Nil for another field, and when it cannot be read; ``problem`` says why.
    package func withContent<R>(of field: Field, _ body: (RawSpan) -> R) async -> R? {
        guard field.fileName != nil, fields.contains(field), let value = await read(.content(field)) else { return nil }
        return value.lend(.text, body)
    }

    /// Writes a file field's content to a file on the disk, where it is not protected any more; a file of that name is
    /// replaced. ``VaultModel/transfer`` tells how far it is, and ``VaultModel/cancelTransfer()`` stops it.
    /// - Returns: Why not; nil when it was written. `busy` while another file is on its way.
    package func save(_ field: Field, to path: String) async -> VaultProblem? {
        guard let name = field.fileName else { return .notFound }
        let (place, store) = (place, vault.store)
        return await vault.transferring(.saving, name, nil) { _, flag, progress in
            let item = try store.item(place.name, in: place.collection)
            try flag.check()
            guard let found = item.found(field) else { throw VaultError.changedItem }
            _ = try item.withFile(of: found) { _, content in
                try FileTransfer.save(content, to: path, flag, progress)
            }
        }
    }

    /// Whether the item is still on the screen as it was when something of it was asked for.
    private func isCurrent(_ drops: Int) -> Bool { drops == self.drops && !vault.lock.isLocked }

    private func read(_ part: ItemPart) async -> ShownValue? {
        problem = nil
        let mine = drops
        do throws(VaultError) {
            let value = try await ItemFieldsModel.value(vault.store, place, part)
            // Locked or left while it was read: it is not shown, and what came is wiped here.
            return isCurrent(mine) ? value : nil
        } catch {
            if isCurrent(mine) { problem = VaultProblem(error) }
            return nil
        }
    }

    /// Reads the values that are changed on the screen, of one write.
    func readForEditing(_ fields: [Field]) async -> ItemEdit? {
        problem = nil
        let mine = drops
        do throws(VaultError) {
            let read = try await ItemFieldsModel.editable(vault.store, place, fields)
            return isCurrent(mine) ? ItemEdit(fields, read.values, read.version) : nil
        } catch {
            if isCurrent(mine) { problem = VaultProblem(error) }
            return nil
        }
    }

    @concurrent
    private nonisolated static func editable(
        _ store: ItemStore, _ place: VaultItem.ID, _ fields: [Field]
    ) async throws(VaultError) -> (values: [ItemEdit.Part: ShownValue], version: UInt64?) {
        let item = try store.item(place.name, in: place.collection)
        var values: [ItemEdit.Part: ShownValue] = [:]
        for field in fields {
            guard let found = item.found(field) else { throw VaultError.changedItem }
            // The key of a code is never shown again, and a file is replaced as a whole.
            guard field.kind != .oneTimeCode, field.kind != .file else { continue }
            values[.field(field)] = try item.withValue(of: found) { value throws(VaultError) in try ShownValue(value) }
        }
        values[.notes] = try item.withNotes { notes throws(VaultError) in try ShownValue(notes) }
        return (values, item.sequence)
    }

    @concurrent
    private nonisolated static func outline(
        _ store: ItemStore, _ place: VaultItem.ID, withCodes: Bool
    ) async throws(VaultError) -> ItemOutline {
        try ItemOutline(store.item(place.name, in: place.collection), withCodes: withCodes)
    }

    @concurrent
    private nonisolated static func value(
        _ store: ItemStore, _ place: VaultItem.ID, _ part: ItemPart
    ) async throws(VaultError) -> ShownValue {
        let item = try store.item(place.name, in: place.collection)
        switch part {
        case .field(let field):
            guard let found = item.found(field) else { throw VaultError.changedItem }
            return try item.withValue(of: found) { value throws(VaultError) in
                try ShownValue(value, isCode: found.kind == .oneTimeCode)
            }
        case .content(let field):
            guard let found = item.found(field) else { throw VaultError.changedItem }
            let content = try item.withFile(of: found) { _, content throws(VaultError) in try ShownValue(content) }
            guard let content else { throw VaultError.changedItem }
            return content
        case .earlier(let past):
            guard item.history.contains(past) else { throw VaultError.changedItem }
            return try item.withValue(of: past) { value throws(VaultError) in try ShownValue(value) }
        case .notes:
            let notes = try item.withNotes { notes throws(VaultError) in try ShownValue(notes) }
            guard let notes else { throw VaultError.changedItem }
            return notes
        }
    }
}
