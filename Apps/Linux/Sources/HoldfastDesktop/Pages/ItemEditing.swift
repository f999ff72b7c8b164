import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The values of an item while they are changed where they stand: entries in place of rows, stored all at once.
final class ItemEditing {
    /// Called when it begins and when it is over.
    var onChange: (_ isEditing: Bool) -> Void = { _ in }
    private unowned let parts: ReadyWindow
    private let model: ItemFieldsModel
    private let place: Widget, list: ListBox, problem: Label, save: Button
    private var edit: ItemEdit?
    private var entries: [Entry] = []
    private var removed: Set<ItemFieldsModel.Field> = []

    /// What a value is typed into.
    private enum Entry {
        case line(ItemEdit.Part, Editable)
        case secret(ItemEdit.Part, SecretEntry)
        case lines(ItemEdit.Part, TextView)

        var part: ItemEdit.Part {
            switch self {
            case .line(let part, _), .secret(let part, _), .lines(let part, _): part
            }
        }

        func typed() throws(SecretMemoryError) -> SecretBytes {
            switch self {
            case .line(_, let entry): try entry.copySecret()
            case .secret(_, let entry): try entry.entry.copySecret()
            case .lines(_, let text): try text.copySecret()
            }
        }

        func clear() {
            switch self {
            case .line(_, let entry): entry.clear()
            case .secret(_, let entry): entry.clear()
            case .lines(_, let text): text.clear()
            }
        }

        func focus() {
            switch self {
            case .line(_, let entry): entry.focus()
            case .secret(_, let entry): entry.entry.focus()
            case .lines(_, let text): text.focus()
            }
        }
    }

    init(_ model: ItemFieldsModel, _ ui: Builder, _ parts: ReadyWindow) {
        self.model = model
        self.parts = parts
        place = ui.widget("detail-editing")
        list = ui.widget("detail-entries")
        problem = ui.widget("detail-edit-problem")
        save = ui.widget("detail-edit-save")
        save.onClick { [unowned self] in store() }
        ui.widget("detail-edit-cancel", as: Button.self).onClick { [unowned self] in cancel() }
    }

    var isEditing: Bool { edit != nil }

    /// - Parameter first: What gets the keyboard first; nil for the first value.
    func begin(at first: ItemEdit.Part? = nil) {
        guard edit == nil else { return }
        Task { [weak self, model] in
            // Where the values could not be read, the page says why.
            guard let edit = await model.beginEditing() else { return }
            guard let self, !parts.models.lock.isLocked else { return model.endEditing() }
            self.edit = edit
            build(edit)
            problem.isVisible = false
            save.isSensitive = true
            place.isVisible = true
            onChange(true)
            (entries.first { $0.part == first } ?? entries.first)?.focus()
        }
    }

    /// Whether something was typed that is not stored.
    var hasChanges: Bool {
        guard let edit else { return false }
        return !removed.isEmpty
            || entries.contains { entry in
                guard let typed = try? entry.typed() else { return true }
                return typed.withBytes { edit.differs(entry.part, from: $0) }
            }
    }

    /// Goes back to the values as they are stored; asks where something was typed.
    func cancel() { leave { [weak self] in self?.end() } }

    /// Does something that ends the editing, if its user agrees to lose what was typed.
    func leave(_ go: @escaping () -> Void) {
        guard hasChanges else { return go() }
        parts.sheets.askConfirmation(
            tr("Discard the Changes?"), tr("What you typed is not stored."), confirm: tr("Discard"), go)
    }

    /// Nothing that was typed stays.
    func end() {
        for entry in entries { entry.clear() }
        (entries, removed) = ([], [])
        list.removeAll()
        place.isVisible = false
        guard edit != nil else { return }
        edit = nil
        model.endEditing()
        onChange(false)
    }

    private func build(_ edit: ItemEdit) {
        for field in edit.fields { add(field, edit) }
        let (row, text) = TextView.row(tr("Notes"))
        _ = edit.withValue(of: .notes) { text.setSecret($0) }
        list.append(row)
        entries.append(.lines(.notes, text))
    }

    private func add(_ field: ItemFieldsModel.Field, _ edit: ItemEdit) {
        let (name, part) = (ItemText.label(field.label), ItemEdit.Part.field(field))
        let remove = Button(icon: "user-trash-symbolic", label: tr("Remove %s", name))
        let rows: [Widget]
        // What an entry would not hold unchanged is replaced as a whole, or not at all.
        let lines = edit.withValue(of: part) { TextLines.count($0) } ?? 1
        switch (field.kind, lines) {
        case (.file, _), (_, nil):
            let row = Row(title: name, subtitle: field.fileName ?? tr("This is not text."))
            row.setClass("field", true)
            row.addSuffix(remove)
            rows = [row]
        case (_, let lines?) where lines > 1:
            let (row, text) = TextView.row(name, beside: remove)
            _ = edit.withValue(of: part) { text.setSecret($0) }
            entries.append(.lines(part, text))
            rows = [row]
        case (.secret, _):
            let secret = SecretEntry(name)
            _ = edit.withValue(of: part) { secret.entry.setSecret($0) }
            secret.entry.addSuffix(remove)
            secret.entry.onEntryActivate { [weak self] in self?.store() }
            entries.append(.secret(part, secret))
            rows = [secret.entry, secret.strength]
        default:
            let isCode = field.kind == .oneTimeCode
            let entry = Editable.row(isCode ? tr("New Key of %s", name) : name, isSecret: isCode)
            _ = edit.withValue(of: part) { entry.setSecret($0) }
            entry.addSuffix(remove)
            entry.onEntryActivate { [weak self] in self?.store() }
            entries.append(.line(part, entry))
            rows = [entry]
        }
        for row in rows { list.append(row) }
        remove.onClick { [weak self] in
            self?.removed.insert(field)
            for row in rows { row.isVisible = false }
        }
    }

    private func store() {
        guard let edit, save.isSensitive else { return }
        problem.isVisible = false
        edit.reset()
        do throws(ItemDraft.Refusal) {
            for entry in entries {
                if case .field(let field) = entry.part, removed.contains(field) { continue }
                let typed: SecretBytes
                do throws(SecretMemoryError) { typed = try entry.typed() } catch { throw .other(.outOfMemory) }
                guard typed.withBytes({ edit.differs(entry.part, from: $0) }) else { continue }
                try edit.set(entry.part, typed)
            }
        } catch { return show(error) }
        for field in removed { edit.remove(field) }
        guard hasChanges else { return end() }
        // Until it is answered: what is pressed twice is stored once.
        save.isSensitive = false
        Task { [weak self, model] in
            let refusal = await model.save(edit)
            guard let self, !parts.models.lock.isLocked, self.edit === edit else { return }
            save.isSensitive = true
            if let refusal { return show(refusal) }
            end()
            parts.toast(tr("Stored"))
        }
    }

    private func show(_ refusal: ItemDraft.Refusal) {
        problem.text =
            refusal == .other(.busy)
            ? tr(
                "Another program changed this item meanwhile, and nothing was stored. Save again to store your changes; what they replace is kept among the earlier values."
            ) : ItemText.of(refusal)
        problem.isVisible = true
    }
}
