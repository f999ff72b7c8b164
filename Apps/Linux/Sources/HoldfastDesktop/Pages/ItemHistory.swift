import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// What the fields of an item held before, each behind a button of its field, and what removed fields held, below the
/// others: shown for a while, copied, put back, forgotten.
final class ItemHistory {
    private unowned let parts: ReadyWindow
    private let model: ItemFieldsModel
    private let removed: Widget, removedList: ListBox, forget: Widget
    private var rows: [Int: (row: Row, reveal: Button)] = [:]
    private var buttons: [MenuButton] = []
    /// Whether a field that is gone is remembered.
    private(set) var hasRemoved = false

    private static let dots = "••••••••"

    init(_ model: ItemFieldsModel, _ ui: Builder, _ parts: ReadyWindow) {
        self.model = model
        self.parts = parts
        removed = ui.widget("detail-history-group")
        removedList = ui.widget("detail-history")
        forget = ui.widget("detail-forget-row")
        ui.widget("detail-forget", as: Button.self).onClick { [unowned self] in askToForget() }
        bind(self, { model.revealedEarlier }) { [unowned self] _ in show() }
    }

    func close() {
        for button in buttons { button.close() }
        for (row, _) in rows.values { row.subtitle = "" }
        (rows, buttons) = ([:], [])
        removedList.removeAll()
    }

    /// Everything is made again: first what ``button(of:)`` is asked for, then the rest.
    func finish() {
        let rest = model.earlier.filter { past in !model.fields.contains { ItemHistory.belongs(past, to: $0) } }
        for past in rest { removedList.append(makeRow(past, ItemText.label(past.label))) }
        hasRemoved = !rest.isEmpty
        removed.isVisible = hasRemoved
        forget.isVisible = !model.earlier.isEmpty
        show()
    }

    /// What opens the earlier values of a field; nil where it has none.
    func button(of field: ItemFieldsModel.Field) -> MenuButton? {
        let own = model.earlier.filter { ItemHistory.belongs($0, to: field) }
        guard !own.isEmpty else { return nil }
        let name = tr("Earlier Values of %s", ItemText.label(field.label))
        let list = ListBox.card(name)
        for past in own { list.append(makeRow(past, nil)) }
        let content = Column(spacing: 6, margin: 6)
        content.width(280)
        content.append(list)
        let button = MenuButton(icon: "document-open-recent-symbolic", label: name, content: content)
        buttons.append(button)
        return button
    }

    private static func belongs(_ past: Item.Earlier, to field: ItemFieldsModel.Field) -> Bool {
        past.kind == field.kind && past.label == field.label
    }

    /// - Parameter name: Of the field, where the row does not say it by its place.
    private func makeRow(_ past: Item.Earlier, _ name: String?) -> Row {
        let until = tr("until %s", Format.time(milliseconds: past.replaced))
        let row = Row(title: name.map { "\($0) · \(until)" } ?? until)
        row.setClass("field", true)
        row.setClass("secret", true)
        let label = ItemText.label(past.label)
        let reveal = Button(icon: "view-reveal-symbolic", label: "")
        reveal.onClick { [model] in
            if model.revealedEarlier.contains(past.index) { model.hide() } else { Task { await model.reveal(past) } }
        }
        let copy = Button(icon: "edit-copy-symbolic", label: tr("Copy earlier %s", label))
        copy.onClick { [weak self] in self?.copy(past) }
        let restore = Button(icon: "edit-undo-symbolic", label: tr("Put back earlier %s", label))
        restore.onClick { [weak self] in self?.restore(past) }
        for button in past.kind == .file ? [restore] : [reveal, copy, restore] { row.addSuffix(button) }
        rows[past.index] = (row, reveal)
        return row
    }

    private func show() {
        for past in model.earlier {
            guard let (row, reveal) = rows[past.index] else { continue }
            let isShown = model.revealedEarlier.contains(past.index)
            if !isShown || model.withValue(of: past, { row.show($0) }) == nil { row.subtitle = ItemHistory.dots }
            let label = ItemText.label(past.label)
            reveal.setIcon(
                isShown ? "view-conceal-symbolic" : "view-reveal-symbolic",
                label: isShown ? tr("Hide earlier %s", label) : tr("Show earlier %s", label))
        }
    }

    private func copy(_ past: Item.Earlier) {
        let seconds = parts.models.preferences.values.clipboardSeconds
        Task { [unowned parts, model] in
            let isDone = await model.withCopy(of: past) { (try? parts.clipboard.copySecret($0, for: seconds)) != nil }
            guard let isDone else { return }
            parts.toast(
                isDone
                    ? trn("Copied for %d second", "Copied for %d seconds", Int(seconds)) : ProblemText.of(.outOfMemory))
        }
    }

    private func restore(_ past: Item.Earlier) {
        for button in buttons { button.close() }
        Task { [unowned parts, model] in
            let problem = await model.restore(past)
            if !parts.models.lock.isLocked { parts.toast(problem.map(ProblemText.of) ?? tr("It is back")) }
        }
    }

    private func askToForget() {
        parts.sheets.askConfirmation(
            tr("Forget All Earlier Values?"), tr("This cannot be undone."), confirm: tr("Forget")
        ) { [unowned parts, model] in
            Task {
                let problem = await model.forgetHistory()
                parts.toast(problem.map(ProblemText.of) ?? tr("Forgotten"))
            }
        }
    }
}
