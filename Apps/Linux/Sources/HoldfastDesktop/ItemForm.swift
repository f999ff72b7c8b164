import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// What a new item can be.
final class KindsForm: SheetForm {
    let root: Widget, cancel: Button, first: Widget
    /// A template; nil for a plain value.
    var onChoose: (ItemTemplate?) -> Void = { _ in }

    init(_ ui: Builder) {
        root = ui.widget("kinds")
        cancel = ui.widget("kinds-cancel")
        let list = ui.widget("kinds-list", as: Widget.self)
        var buttons: [Button] = []
        for template in ItemTemplate.all + [nil] {
            let kind = template?.kind ?? .value
            let button = Button.choice(icon: ItemText.icon(kind), ItemText.name(kind))
            gtk_box_append(list.pointer(), button.widget)
            buttons.append(button)
        }
        first = buttons[0]
        for (button, template) in zip(buttons, ItemTemplate.all + [nil]) {
            button.onClick { [unowned self] in onChoose(template) }
        }
    }

    /// Nothing is typed in it.
    func clear() {}
}

/// A new item with its fields, the name and tags of one that is there, or one more field for it.
final class ItemForm: SheetForm {
    /// What is asked for.
    enum Purpose: Equatable {
        case new(ItemTemplate)
        case details
        case field
    }

    let root: Widget, cancel: Button
    var onConfirm: () -> Void = {}
    private(set) var purpose = Purpose.details
    private let title: Label, name: Editable, collection: Editable, fieldKind: ComboRow, label: Editable
    private let fields: ListBox, linesPlace: Widget, linesLabel: Label, lines: TextView
    private let marks: Widget, tags: Editable, favouriteRow: Widget, favourite: Toggle
    private let problem: Label, confirm: Button
    private var secrets: [SecretEntry] = []
    private var entries: [(field: ItemTemplate.Field, entry: Editable)] = []
    private var value: Editable?

    /// Kinds of a field that can be added, in the order of the choice.
    private static let kinds: [FieldKind] = [.secret, .text, .url, .oneTimeCode, .date]

    init(_ ui: Builder) {
        root = ui.widget("item")
        cancel = ui.widget("item-cancel")
        title = ui.widget("item-title")
        name = ui.widget("item-name")
        collection = ui.widget("item-collection")
        fieldKind = ui.widget("item-field-kind")
        label = ui.widget("item-label")
        fields = ui.widget("item-fields")
        linesPlace = ui.widget("item-lines")
        linesLabel = ui.widget("item-lines-label")
        lines = ui.widget("item-text")
        marks = ui.widget("item-marks")
        tags = ui.widget("item-tags")
        favouriteRow = ui.widget("item-favourite-row")
        favourite = ui.widget("item-favourite")
        problem = ui.widget("item-problem")
        confirm = ui.widget("item-confirm")
        fieldKind.setChoices(ItemForm.kinds.map { ItemText.name($0) })
        fieldKind.onChange { [unowned self] _ in if purpose == .field { buildValue() } }
        confirm.onClick { [unowned self] in finish() }
        for entry in [name, collection, label, tags] { entry.onEntryActivate { [unowned self] in finish() } }
    }

    /// What gets the keyboard first.
    var first: Widget { purpose == .field ? label : name }

    func prepare(_ purpose: Purpose, name: String, collection: String, tags: String = "") {
        clear()
        self.purpose = purpose
        canBeTagged = true
        self.name.text = name
        self.collection.text = collection
        self.tags.text = tags
        let isField = purpose == .field
        for row in [self.name, self.collection] { row.isVisible = !isField }
        for row in [fieldKind, label] { row.isVisible = isField }
        marks.isVisible = !isField
        favouriteRow.isVisible = purpose != .details
        linesPlace.isVisible = false
        fields.isVisible = purpose != .details
        switch purpose {
        case .new(let template): build(template)
        case .details: title.text = tr("Name and Tags")
        case .field:
            title.text = tr("Another Field")
            fieldKind.selected = 0
            buildValue()
        }
    }

    private func build(_ template: ItemTemplate) {
        title.text = tr("New Item: %s", ItemText.name(template.kind))
        for field in template.fields { entries.append((field, add(ItemText.label(field.label), field.kind))) }
        fields.isVisible = !template.fields.isEmpty
        linesPlace.isVisible = true
        let text = template.lines.map { ItemText.label($0.label) } ?? tr("Notes")
        linesLabel.text = text
        lines.accessibleLabel(text)
    }

    private func buildValue() {
        value?.clear()
        removeFields()
        value = add(tr("Value"), ItemForm.kinds[fieldKind.selected])
    }

    private func add(_ title: String, _ kind: FieldKind) -> Editable {
        let secret = kind == .secret ? SecretEntry(title) : nil
        let entry = secret?.entry ?? Editable.row(title, isSecret: kind == .oneTimeCode)
        entry.onEntryActivate { [unowned self] in finish() }
        fields.append(entry)
        if let secret {
            fields.append(secret.strength)
            secrets.append(secret)
        }
        return entry
    }

    private func removeFields() {
        for secret in secrets { secret.clear() }
        secrets = []
        fields.removeAll()
    }

    /// Whether what is renamed can have tags: a file of its own cannot.
    var canBeTagged = true { didSet { marks.isVisible = canBeTagged && purpose != .field } }

    /// Where the item is to be.
    var id: VaultItem.ID { VaultItem.ID(folder: collection.text, title: name.text) }

    /// Whether something was typed that would be lost.
    var isTyped: Bool {
        !name.isEmpty && purpose != .details || entries.contains { !$0.1.isEmpty } || value?.isEmpty == false
    }

    /// The tags as they were typed.
    var typedTags: String { tags.text }

    /// A new item of what was entered; the entries keep it, for another try.
    func draft() throws(ItemDraft.Refusal) -> ItemDraft {
        guard case .new(let template) = purpose else { throw .other(.notFound) }
        let draft = try ItemDraft(template.kind)
        for (field, entry) in entries {
            let value = try ItemForm.secret(of: entry)
            try draft.add(field.kind, field.label, value)
        }
        let text = try textSecret()
        if let field = template.lines { try draft.add(field.kind, field.label, text) } else { try draft.setNotes(text) }
        try draft.setTags(tags.text)
        draft.setFavourite(favourite.isOn)
        return draft
    }

    /// The field that is to be added.
    func field() throws(ItemDraft.Refusal) -> (kind: FieldKind, label: String, value: SecretCarrier) {
        guard let value, !label.isEmpty else { throw .label }
        let secret = try ItemForm.secret(of: value)
        return (ItemForm.kinds[fieldKind.selected], label.text, SecretCarrier(secret))
    }

    private static func secret(of entry: Editable) throws(ItemDraft.Refusal) -> SecretBytes {
        do throws(SecretMemoryError) { return try entry.copySecret() } catch { throw .other(.outOfMemory) }
    }

    private func textSecret() throws(ItemDraft.Refusal) -> SecretBytes {
        do throws(SecretMemoryError) { return try lines.copySecret() } catch { throw .other(.outOfMemory) }
    }

    func show(_ text: String) {
        problem.text = text
        problem.isVisible = true
        confirm.isSensitive = true
    }

    /// Nothing that was typed stays.
    func clear() {
        for entry in [name, collection, label, tags] { entry.clear() }
        for (_, entry) in entries { entry.clear() }
        value?.clear()
        value = nil
        entries = []
        removeFields()
        lines.clear()
        favourite.isOn = false
        problem.isVisible = false
        confirm.isSensitive = true
        onConfirm = {}
    }

    private func finish() {
        guard confirm.isSensitive else { return }
        guard purpose == .field || !name.isEmpty else { return show(ProblemText.of(.invalidName)) }
        problem.isVisible = false
        // Until it is answered: what is pressed twice is stored once.
        confirm.isSensitive = false
        onConfirm()
    }
}
