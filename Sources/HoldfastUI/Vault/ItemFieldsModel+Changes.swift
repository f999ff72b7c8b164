package import Holdfast
internal import SystemCalls

/// What is done with a stored item, in one transaction.
enum ItemChange: Sendable {
    case favourite(Bool)
    case tags([String])
    case notes(ShownValue)
    case add(FieldKind, String, ShownValue)
    case set(ItemFieldsModel.Field, ShownValue)
    case remove(ItemFieldsModel.Field)
    case attach(path: String)
    case restore(Item.Earlier)
    case forgetHistory
}

extension ItemFieldsModel {
    /// Shows it first, or no more.
    /// - Returns: Why not; nil when it was stored, as with all changes here.
    package func setFavourite(_ isFavourite: Bool) async -> VaultProblem? { await change(.favourite(isFavourite)) }

    /// Gives it these tags and no others, as they were typed, between commas.
    package func setTags(_ typed: String) async -> VaultProblem? { await change(.tags(ItemDraft.tags(typed))) }

    /// Gives it other notes; empty ones are none.
    package func setNotes(_ notes: borrowing SecretBytes) async -> VaultProblem? {
        await change(notes, .text) { .notes($0) }
    }

    /// Adds a field behind the others.
    /// - Returns: ``ItemDraft/Refusal`` where the item cannot hold it.
    package func add(
        _ kind: FieldKind, _ label: String, _ value: borrowing SecretBytes
    ) async -> ItemDraft.Refusal? {
        let stored: ShownValue
        do throws(ItemDraft.Refusal) {
            stored = try ItemFieldsModel.carried(ItemDraft.stored(value, kind))
        } catch { return error }
        switch await change(.add(kind, label, stored)) {
        case nil: return nil
        case .invalidName?: return kind == .date ? .date : .label
        case let problem?: return .other(problem)
        }
    }

    /// Gives a field another value; the earlier one is kept in the item's history. Then the item is read again.
    /// - Returns: Why not; nil when it was stored. `busy` when another program has changed the field since.
    package func set(_ field: Field, to value: borrowing SecretBytes) async -> VaultProblem? {
        await change(value, .text) { .set(field, $0) }
    }

    /// Shows the next code of a counter for a while. The counter is stored first, so that no number is used twice.
    /// - Returns: Why not; nil when it is shown. `busy` when another program has changed the field since.
    package func revealNextCode(of field: Field) async -> VaultProblem? {
        guard field.countsUp, fields.contains(field) else { return .notFound }
        let digits = DigitsBox()
        let problem = await vault.change(ItemFieldsModel.advance(field, of: place, in: vault.store, digits))
        guard !vault.lock.isLocked else { return problem }
        await load()
        if problem == nil, let found = digits.take() { show(found, of: field) }
        return problem
    }

    @concurrent
    private nonisolated static func advance(
        _ field: Field, of place: VaultItem.ID, in store: ItemStore, _ digits: DigitsBox
    ) async -> Result<Void, any Error> {
        do {
            try store.change(place.name, in: place.collection) { item in
                guard let found = item.found(field) else { throw VaultError.changedItem }
                let code = try item.withValue(of: found) { try OneTimeCode(parsing: SecretBytes(copying: $0)) }
                guard let next = try code.advanced() else { throw VaultError.changedItem }
                let text = try next.text()
                digits.keep(
                    try code.code(at: 0).withBytes { bytes throws(VaultError) in try ShownValue(digits: bytes) })
                try text.withBytes { bytes throws(VaultError) in
                    try item.set(found, bytes: bytes, keepsEarlier: false)
                }
            }
            return .success(())
        } catch { return .failure(error) }
    }

    /// Removes a field; what it held becomes an earlier value.
    package func remove(_ field: Field) async -> VaultProblem? { await change(.remove(field)) }

    /// Stores a file of the disk in the item, in place of one of that name; 1 MiB in all.
    package func attach(_ path: String) async -> VaultProblem? { await change(.attach(path: path)) }

    /// Gives the field an earlier value back; what it holds now becomes an earlier one. A field that is gone comes
    /// back.
    package func restore(_ past: Item.Earlier) async -> VaultProblem? { await change(.restore(past)) }

    /// Forgets all earlier values.
    package func forgetHistory() async -> VaultProblem? { await change(.forgetHistory) }

    private func change(
        _ value: borrowing SecretBytes, _ kind: FieldKind, _ make: (ShownValue) -> ItemChange
    ) async -> VaultProblem? {
        let carried: ShownValue
        do throws(ItemDraft.Refusal) { carried = try ItemFieldsModel.carried(ItemDraft.stored(value, kind)) } catch {
            return .outOfMemory
        }
        return await change(make(carried))
    }

    private static func carried(_ value: borrowing SecretBytes) throws(ItemDraft.Refusal) -> ShownValue {
        do throws(VaultError) {
            return try value.withBytes { bytes throws(VaultError) in try ShownValue(bytes) }
        } catch { throw .other(VaultProblem(error)) }
    }

    private func change(_ change: ItemChange) async -> VaultProblem? {
        let problem = await vault.change(ItemFieldsModel.apply(change, to: place, in: vault.store))
        if !vault.lock.isLocked { await load() }
        return problem
    }

    @concurrent
    private nonisolated static func apply(
        _ change: ItemChange, to place: VaultItem.ID, in store: ItemStore
    ) async -> Result<Void, any Error> {
        do {
            // A file is read before anybody else has to wait for the vault.
            let file = try attached(change)
            try store.change(place.name, in: place.collection) { item in try item.apply(change, file) }
            return .success(())
        } catch { return .failure(error) }
    }

    private nonisolated static func attached(_ change: ItemChange) throws -> AttachedFile? {
        guard case .attach(let path) = change else { return nil }
        return try AttachedFile(path)
    }
}

/// The digits that a change computed, on their way to the screen.
private final class DigitsBox: @unchecked Sendable {  // written in the change, read after it
    private var value: ShownValue?
    func keep(_ digits: ShownValue) { value = digits }
    func take() -> ShownValue? {
        defer { value = nil }
        return value
    }
}

/// A file that goes into an item, in locked memory.
final class AttachedFile: Sendable {
    let name: String
    private let content: SecretBytes

    init(_ path: String) throws {
        name = path.split(separator: "/").last.map(String.init) ?? path
        content = try FileTransfer.content(of: path, limit: ItemLimits.size)
    }

    func add(to item: inout Item) throws {
        for field in item.fields.reversed() where item.withFile(of: field, { old, _ in old == name }) ?? false {
            try item.remove(field)
        }
        try content.withBytes { content in try item.addFile("file", name: name, content: content) }
    }
}

extension Item {
    mutating func apply(_ change: ItemChange, _ file: AttachedFile?) throws {
        switch change {
        case .favourite(let isFavourite): self.isFavourite = isFavourite
        case .tags(let wanted):
            for tag in tags where !wanted.contains(tag) { try removeTag(tag) }
            for tag in wanted { try addTag(tag) }
        case .notes(let notes): try setNotes(try notes.copy())
        case .add(let kind, let label, let value):
            try value.withBytes { bytes throws(VaultError) in try add(kind, label, bytes: bytes) }
        case .set(let field, let value): try set(try require(field), try value.copy())
        case .remove(let field): try remove(try require(field))
        case .attach: try file?.add(to: &self)
        case .restore(let past):
            guard history.contains(past) else { throw VaultError.changedItem }
            let value = try withValue(of: past) { value throws(VaultError) in try ShownValue(value) }
            guard let field = fields.first(where: { $0.kind == past.kind && $0.label == past.label }) else {
                return try value.withBytes { bytes throws(VaultError) in try add(past.kind, past.label, bytes: bytes) }
            }
            try set(field, try value.copy())
        case .forgetHistory: try forgetHistory()
        }
    }

    private func require(_ field: ItemFieldsModel.Field) throws(VaultError) -> Field {
        guard let found = found(field) else { throw .changedItem }
        return found
    }
}
