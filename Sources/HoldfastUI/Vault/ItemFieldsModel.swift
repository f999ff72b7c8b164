public import Holdfast
public import Observation
internal import SystemCalls

/// The fields of one item on the screen: each shown for a while when its owner asks for it, in locked memory, and all gone when the
/// lock falls.
@MainActor @Observable
public final class ItemFieldsModel {
    /// A field as a list shows it, without its value.
    public struct Field: Sendable, Hashable, Identifiable {
        /// Its place in the item.
        public let id: Int
        /// What it is called.
        public let label: String
        /// What it holds.
        public let kind: FieldKind
        /// Whether it is hidden until it is asked for.
        public var isSecret: Bool { kind == .secret || kind == .oneTimeCode }

        init(_ field: Item.Field) { (id, label, kind) = (field.index, field.label, field.kind) }
    }

    /// Where it is.
    public let place: VaultItem.ID
    /// Whether it is an item; a plain value, and a file of its own, has no fields to show.
    public private(set) var isItem = false
    /// The fields, in the item's order.
    public private(set) var fields: [Field] = []
    /// The tags, sorted.
    public private(set) var tags: [String] = []
    /// Whether it has notes.
    public private(set) var hasNotes = false
    /// The fields whose secrets are shown now.
    public private(set) var revealed: Set<Int> = []
    /// Whether the notes are shown now.
    public private(set) var showsNotes = false
    /// What kept it from being read.
    public private(set) var problem: VaultProblem?

    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private let hidesAfter: UInt32
    @ObservationIgnored private var item: Item?
    @ObservationIgnored private let hiding = OneTask()

    init(_ place: VaultItem.ID, _ lock: LockModel, hidesAfter: UInt32) {
        self.place = place
        self.lock = lock
        self.hidesAfter = hidesAfter
        lock.onLock { [weak self] in self?.drop() }
    }

    /// Reads the item; its values stay in locked memory until ``drop()``.
    public func load() async {
        problem = nil
        do throws(VaultError) {
            let found = try await ItemFieldsModel.read(lock.app.vault, place)
            // Locked while it was read: nothing is shown, and what came is wiped here.
            guard !lock.isLocked else { return }
            isItem = !found.isOfValue
            fields = isItem ? found.fields.map(Field.init) : []
            tags = found.tags
            hasNotes = isItem && found.withNotes { $0.byteCount > 0 } ?? false
            item = isItem ? consume found : nil
        } catch {
            drop()
            if error.code != .tooLarge, error.code != .unconfirmed { problem = VaultProblem(error) }
        }
    }

    /// Forgets everything about the item.
    public func drop() {
        item = nil
        (isItem, hasNotes) = (false, false)
        (fields, tags) = ([], [])
        hide()
    }

    /// Shows a field's value, for a while.
    public func reveal(_ field: Field) {
        guard fields.contains(field) else { return }
        revealed.insert(field.id)
        hideLater()
    }

    /// Shows the notes, for a while.
    public func revealNotes() {
        guard hasNotes else { return }
        showsNotes = true
        hideLater()
    }

    /// Hides one value.
    public func hide(_ field: Field) { revealed.remove(field.id) }

    /// Hides every value.
    public func hide() {
        revealed = []
        showsNotes = false
        hiding.replace(with: nil)
    }

    private func hideLater() {
        hiding.replace(
            with: Task { [weak self, hidesAfter] in
                try? await Task.sleep(for: .seconds(hidesAfter))
                guard !Task.isCancelled else { return }
                self?.hide()
            })
    }

    /// Lends a field's value: what its owner asked to be shown or copied. Of a one-time code it is the code of now; of a file its
    /// content.
    /// - Returns: Nil when the item is not there any more, and for a one-time code by a counter, which counts when it is used.
    public func withValue<R>(of field: Field, _ body: (RawSpan) -> R) -> R? {
        switch item {
        case .none: return nil
        case .some(let item):
            guard let found = item.fields.first(where: { Field($0) == field }) else { return nil }
            switch field.kind {
            case .oneTimeCode:
                guard let code = code(of: found, in: item), case .time = code.moment,
                    let digits = try? code.code(at: ItemFieldsModel.now)
                else { return nil }
                return digits.withBytes { body($0) }
            case .file: return item.withFile(of: found) { _, content in body(content) }
            default: return item.withValue(of: found) { body($0) }
            }
        }
    }

    /// Seconds for which the one-time code of now is good; nil for another field, and for a counter.
    public func secondsLeft(of field: Field) -> Int? {
        switch item {
        case .none: return nil
        case .some(let item):
            guard field.kind == .oneTimeCode, let found = item.fields.first(where: { Field($0) == field }),
                let code = code(of: found, in: item)
            else { return nil }
            return code.remaining(at: ItemFieldsModel.now)
        }
    }

    /// The name that a file field's content has as a file.
    public func fileName(of field: Field) -> String? {
        switch item {
        case .none: return nil
        case .some(let item):
            guard field.kind == .file, let found = item.fields.first(where: { Field($0) == field }) else { return nil }
            return item.withFile(of: found) { name, _ in name }
        }
    }

    /// Writes a file field's content to a file on the disk, where it is not protected any more; a file of that name is replaced.
    /// - Returns: Why not; nil when it was written.
    public func save(_ field: Field, to path: String) -> VaultProblem? {
        let result: VaultProblem?? = withValue(of: field) { content in
            do {
                try FileTransfer.write(to: path) { write in try write(content) }
                return nil
            } catch { return VaultProblem(any: error) }
        }
        return result ?? .notFound
    }

    /// Lends the notes.
    public func withNotes<R>(_ body: (RawSpan) -> R) -> R? {
        switch item {
        case .none: nil
        case .some(let item): item.withNotes { body($0) }
        }
    }

    /// Gives a field another value; the earlier one is kept in the item's history. Then the item is read again.
    /// - Returns: Why not; nil when it was stored. `busy` when another program has changed the field since.
    public func set(_ field: Field, to value: consuming SecretBytes) async -> VaultProblem? {
        let problem: VaultProblem?
        do throws(VaultError) {
            try await ItemFieldsModel.change(lock.app.vault, place, field, value)
            problem = nil
        } catch { problem = VaultProblem(error) }
        if !lock.isLocked { await load() }
        return problem
    }

    private static var now: UInt64 { UInt64(max(0, WallClock.milliseconds / 1000)) }

    private func code(of field: Item.Field, in item: borrowing Item) -> OneTimeCode? {
        try? item.withValue(of: field) { text in try OneTimeCode(parsing: SecretBytes(copying: text)) }
    }

    @concurrent
    private nonisolated static func read(_ vault: Vault, _ place: VaultItem.ID) async throws(VaultError) -> Item {
        try ItemStore(vault).item(place.name, in: place.collection)
    }

    @concurrent
    private nonisolated static func change(
        _ vault: Vault, _ place: VaultItem.ID, _ field: Field, _ value: borrowing SecretBytes
    ) async throws(VaultError) {
        let store = ItemStore(vault)
        var item = try store.item(place.name, in: place.collection)
        guard let found = item.fields.first(where: { Field($0) == field }) else {
            throw VaultError(.busy, "another program changed this item")
        }
        try item.set(found, value)
        try store.replace(place.name, in: place.collection, with: item)
    }
}
