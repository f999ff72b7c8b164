import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// What the fields of an item held before: shown for a while, copied, put back, forgotten.
final class ItemHistory {
    private unowned let parts: ReadyWindow
    private let model: ItemFieldsModel
    private let group: Widget, list: ListBox
    private var rows: [Int: (row: Row, reveal: Button)] = [:]

    private static let dots = "••••••••"

    init(_ model: ItemFieldsModel, _ ui: Builder, _ parts: ReadyWindow) {
        self.model = model
        self.parts = parts
        group = ui.widget("detail-history-group")
        list = ui.widget("detail-history")
        ui.widget("detail-forget", as: Button.self).onClick { [unowned self] in forget() }
        bind(self, { model.earlier }) { [unowned self] _ in build() }
        bind(self, { model.revealedEarlier }) { [unowned self] _ in show() }
    }

    func close() {
        rows = [:]
        list.removeAll()
    }

    private func build() {
        close()
        for past in model.earlier {
            let row = Row(title: ItemText.label(past.label))
            let reveal = Button(icon: "view-reveal-symbolic", label: "")
            reveal.onClick { [model] in
                if model.revealedEarlier.contains(past.index) {
                    model.hide()
                } else {
                    Task { await model.reveal(past) }
                }
            }
            let label = ItemText.label(past.label)
            let copy = Button(icon: "edit-copy-symbolic", label: tr("Copy earlier %s", label))
            copy.onClick { [unowned self] in self.copy(past) }
            let restore = Button(icon: "edit-undo-symbolic", label: tr("Put back earlier %s", label))
            restore.onClick { [unowned self] in self.restore(past) }
            if past.kind != .file {
                row.addSuffix(reveal)
                row.addSuffix(copy)
            }
            row.addSuffix(restore)
            list.append(row)
            rows[past.index] = (row, reveal)
        }
        group.isVisible = !model.earlier.isEmpty
        show()
    }

    private func show() {
        for past in model.earlier {
            guard let (row, reveal) = rows[past.index] else { continue }
            let until = " · " + tr("until %s", Format.time(milliseconds: past.replaced))
            let isShown = model.revealedEarlier.contains(past.index)
            if !isShown || model.withValue(of: past, { row.show($0, ending: until) }) == nil {
                row.subtitle = ItemHistory.dots + until
            }
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
        Task { [unowned parts, model] in
            let problem = await model.restore(past)
            if !parts.models.lock.isLocked { parts.toast(problem.map(ProblemText.of) ?? tr("It is back")) }
        }
    }

    private func forget() {
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
