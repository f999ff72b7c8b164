import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// One item: shown for a while, copied, changed, saved, deleted.
final class DetailPage {
    let root: Widget
    private unowned let parts: ReadyWindow
    private let model: VaultItemModel
    private let value: Label, reveal: Button, copy: Button
    private let close_: () -> Void
    private let back: Button
    private let star: Button
    private var fields: ItemFields?

    /// Whether the page covers what it was opened from, and leads back there; beside a list it does not.
    var showsBack = true { didSet { back.isVisible = showsBack } }

    private static let dots = "••••••••"

    init(_ item: VaultItem, _ parts: ReadyWindow, close: @escaping () -> Void) {
        self.parts = parts
        close_ = close
        model = parts.models.vault.detail(of: item, preferences: parts.models.preferences)
        let ui = Builder(PackageResources.detail_ui)
        root = ui.widget("detail")
        value = ui.widget("detail-value")
        reveal = ui.widget("detail-reveal")
        copy = ui.widget("detail-copy")
        back = ui.widget("detail-back")
        star = ui.widget("detail-star")
        ui.widget("detail-name", as: Label.self).text = item.name
        ui.widget("detail-collection", as: Row.self).subtitle = item.collection
        let (size, modified) = (ui.widget("detail-size", as: Row.self), ui.widget("detail-modified", as: Row.self))
        func showDetails(_ item: VaultItem) {
            size.subtitle = Format.size(item.size)
            modified.subtitle = Format.time(milliseconds: item.modified)
        }
        showDetails(item)
        ui.widget("detail-created", as: Row.self).subtitle = Format.time(milliseconds: item.created)
        root.setClass("touch", Widget.isTouched)
        root.onTouch { [weak root] in root?.setClass("touch", true) }
        reveal.isVisible = model.canBeShown
        copy.isVisible = model.canBeShown
        let edit: Button = ui.widget("detail-edit")
        edit.isVisible = model.canBeShown
        back.onClick { [unowned self] in leave(close) }
        reveal.onClick { [unowned self] in toggle() }
        copy.onClick { [unowned self] in copyValue() }
        edit.onClick { [unowned self] in change() }
        ui.widget("detail-save", as: Button.self).onClick { [unowned self] in save() }
        let delete: Button = ui.widget("detail-delete")
        // Only what is gone for good is asked about.
        delete.label = item.isFile || item.isUnconfirmed ? tr("Delete…") : tr("Delete")
        delete.onClick { [unowned self] in self.delete() }
        let model = model
        bind(self, { model.content }) { [unowned self] in show($0) }
        let (plain, info) = (ui.widget("detail-plain", as: Widget.self), ui.widget("detail-info", as: Widget.self))
        let changes = ["detail-add-field", "detail-attach", "detail-add-notes"].map {
            ui.widget("\($0)-child", as: Widget.self)
        }
        let saves: Widget = ui.widget("detail-save-child"), edits: Widget = ui.widget("detail-edit-child")
        edits.isVisible = model.canBeShown
        for widget in changes { widget.isVisible = false }
        let begin: Button = ui.widget("detail-begin")
        let fields = ItemFields(item.id, ui, parts) { [unowned self] isItem in
            begin.isVisible = isItem
            // An item has no one value: what is done with it is done with its fields.
            plain.isVisible = !isItem
            edits.isVisible = !isItem && self.model.canBeShown
            saves.isVisible = !isItem
            info.isVisible = true
            star.isVisible = !item.isFile && !item.isUnconfirmed
        }
        self.fields = fields
        ui.widget("detail-rename", as: Button.self).onClick { [unowned self] in rename() }
        ui.widget("detail-add-field", as: Button.self).onClick { fields.addField() }
        ui.widget("detail-attach", as: Button.self).onClick { fields.attach() }
        begin.onClick { fields.editing.begin() }
        ui.widget("detail-add-notes", as: Button.self).onClick { fields.editing.begin(at: .notes) }
        let (buttons, actions) = (
            ui.widget("detail-edit-buttons", as: Widget.self), ui.widget("detail-actions", as: Widget.self)
        )
        let removed: Widget = ui.widget("detail-history-group")
        fields.editing.onChange = { [unowned self, unowned fields] isEditing in
            fields.showList()
            buttons.isVisible = isEditing
            for widget in [begin, star, info, actions] { widget.isVisible = !isEditing }
            removed.isVisible = !isEditing && fields.hasRemoved
            if !isEditing, let now = parts.models.vault.items.first(where: { $0.id == item.id }) { showDetails(now) }
        }
        star.onClick { [unowned fields] in
            let isFavourite = fields.model.isFavourite
            fields.report(isFavourite ? tr("No longer a favourite") : tr("Shown first")) { [model = fields.model] in
                await model.setFavourite(!isFavourite)
            }
        }
        bind(self, { fields.model.isFavourite }) { [unowned self] in
            star.setIcon(
                $0 ? "starred-symbolic" : "non-starred-symbolic",
                label: $0 ? tr("Remove from the favourites") : tr("Add to the favourites"))
        }
        bind(self, { Offers(fields.model) }) { offers in
            plain.isVisible = !offers.isItem
            for (index, widget) in changes.enumerated() {
                widget.isVisible = offers.isItem && (index < 2 || !offers.hasNotes)
            }
        }
        bind(self, { model.problem }) { [unowned parts] in if let problem = $0 { parts.toast(ProblemText.of(problem)) }
        }
    }

    /// What can be added to an item.
    private struct Offers: Equatable {
        let isItem: Bool, hasNotes: Bool

        init(_ model: ItemFieldsModel) { (isItem, hasNotes) = (model.isItem, model.hasNotes) }
    }

    /// What is copied by a key of its own.
    enum Copied { case password, username, code }

    /// Copies it, as soon as the item was read.
    func copy(_ what: Copied) { fields?.whenLoaded { [weak self] in self?.copyNow(what) } }

    private func copyNow(_ what: Copied) {
        guard let fields, fields.model.isItem else {
            if what == .password, model.canBeShown { copyValue() }
            return
        }
        let isDone =
            switch what {
            case .password: fields.copyFirst { $0.kind == .secret }
            case .username: fields.copyFirst { $0.label == "username" }
            case .code: fields.copyFirst { $0.kind == .oneTimeCode }
            }
        if !isDone { parts.toast(tr("This item has none.")) }
    }

    /// A file was dropped on it: an item takes it, a plain value does not.
    func attach(_ path: String) -> Bool {
        guard let fields, fields.model.isItem, !fields.editing.isEditing else { return false }
        fields.attach(path)
        return true
    }

    func focus() {
        if showsBack { back.focus() } else if model.canBeShown { reveal.focus() } else { star.focus() }
    }

    /// Leaves the page, or where something was typed that is not stored, asks first.
    func leave(_ go: @escaping () -> Void) { if let fields { fields.editing.leave(go) } else { go() } }

    /// One step back: from the entries to the values, and from there to where the page was opened.
    func goBack(_ go: @escaping () -> Void) {
        if let fields, fields.editing.isEditing { fields.editing.cancel() } else { go() }
    }

    /// Nothing of the value stays on the screen.
    func close() {
        model.hide()
        fields?.close()
        value.text = ""
    }

    private func show(_ content: VaultItemModel.Content) {
        value.isSelectable = false
        switch content {
        case .hidden: value.text = model.canBeShown ? DetailPage.dots : tr("This is a file. Save it to open it.")
        case .text:
            _ = model.withText { value.show($0) }
            value.isSelectable = true
        case .binary: value.text = tr("This is not text. Save it as a file to open it.")
        }
        let isHidden = content == .hidden
        reveal.setIcon(
            isHidden ? "view-reveal-symbolic" : "view-conceal-symbolic",
            label: isHidden ? tr("Show the value") : tr("Hide the value"))
    }

    private func toggle() {
        if model.content == .hidden { Task { [model] in await model.reveal() } } else { model.hide() }
    }

    private func copyValue() {
        let seconds = parts.models.preferences.values.clipboardSeconds
        Task {
            let isDone = await model.withCopy { bytes in
                (try? parts.clipboard.copySecret(bytes, for: seconds)) != nil
            }
            if isDone == true {
                parts.toast(trn("Copied for %d second", "Copied for %d seconds", Int(seconds)))
            } else if model.problem == nil {
                parts.toast(ProblemText.of(.outOfMemory))
            }
        }
    }

    private func change() {
        let form = parts.sheets.edit
        form.prepare(.value, name: model.item.name, collection: model.item.collection)
        let id = model.item.id
        form.onConfirm = { [unowned self] _ in
            guard let value = form.takeValue() else { return form.show(.outOfMemory) }
            let carried = SecretCarrier(value)
            Task {
                if let problem = await parts.models.vault.put(carried.take(), at: id, replacing: true) {
                    return form.show(problem)
                }
                parts.sheets.dismiss()
                parts.toast(tr("Stored"))
                close_()
            }
        }
        Task {
            // Only what fits into the form unchanged is put there; anything else is replaced as a whole.
            _ = await model.withCopy { bytes in
                let lines = TextLines.count(bytes)
                if let lines { form.fill(bytes, hasSeveralLines: lines > 1) }
            }
            if !parts.models.lock.isLocked { parts.sheets.showEdit() }
        }
    }

    private func rename() {
        guard let fields else { return }
        let (form, id) = (parts.sheets.item, model.item.id)
        form.prepare(
            .details, name: id.name, collection: id.collection, tags: fields.model.tags.joined(separator: ", "))
        let canBeTagged = !model.item.isFile && !model.item.isUnconfirmed
        form.canBeTagged = canBeTagged
        form.onConfirm = { [unowned parts, close_] in
            let (new, tags) = (form.id, form.typedTags)
            Task {
                if canBeTagged, ItemDraft.tags(tags) != fields.model.tags,
                    let problem = await fields.model.setTags(tags)
                {
                    return form.show(problem == .invalidName ? ItemText.of(.label) : ProblemText.of(problem))
                }
                if let problem = await parts.models.vault.rename(id, to: new) {
                    return form.show(ProblemText.of(problem))
                }
                parts.sheets.dismiss()
                parts.toast(tr("Stored"))
                // The page is of the old name.
                if new != id { close_() }
            }
        }
        parts.sheets.showItem()
    }

    private func save() {
        let item = model.item
        parts.chooseFile(tr("Save as File"), saveAs: item.name) { [unowned parts] path in
            Task {
                let problem = await parts.models.vault.saveFile(item, to: path)
                if problem == .cancelled { return parts.toast(tr("Stopped. Nothing was written.")) }
                parts.toast(problem.map(ProblemText.of) ?? tr("Written. The file on the disk is not protected."))
            }
        }
    }

    private func delete() { parts.trash([model.item.id], close_) }
}
