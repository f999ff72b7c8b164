import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The list of items, and those of it that are chosen to do something with at once.
final class ItemList {
    private unowned let parts: ReadyWindow
    private let model: VaultModel
    private let list: ListView<ItemRow>, place: Widget
    private let select: ToggleButton, bar: Widget, count: Label
    private var items: [VaultItem] = []
    private var chosen: Set<VaultItem.ID> = []
    /// The item whose page is beside the list.
    var open: VaultItem.ID? { didSet { if open != oldValue { list.refresh() } } }

    init(_ ui: Builder, _ parts: ReadyWindow, onOpen: @escaping (VaultItem) -> Void) {
        self.parts = parts
        model = parts.models.vault
        list = ui.widget("items")
        place = ui.widget("items-place")
        select = ui.widget("select")
        bar = ui.widget("selection-bar")
        count = ui.widget("selection-count")
        list.begin { [unowned self] row in
            row.root.onControlClick { [unowned self, unowned row] in
                if let item = items[safe: row.index] { toggle(item.id) }
            }
        } _: { [unowned self] row, index in
            if let item = items[safe: index] { row.show(item, look(of: item)) }
        } _: { [unowned self] index in
            guard let item = items[safe: index] else { return }
            if isSelecting { toggle(item.id) } else { onOpen(item) }
        }
        select.onChange { [unowned self] _ in
            chosen = []
            showChosen()
            onSelecting()
        }
        ui.widget("selection-move", as: Button.self).onClick { [unowned self] in move() }
        ui.widget("selection-tag", as: Button.self).onClick { [unowned self] in tag() }
        ui.widget("selection-trash", as: Button.self).onClick { [unowned self] in trash(inOrder) }
        ui.widget("selection-export", as: Button.self).onClick { [unowned self] in parts.export(inOrder) }
    }

    var isVisible = true {
        didSet {
            place.isVisible = isVisible
            select.isVisible = isVisible
        }
    }

    /// Does something that ends what is being changed in one of these, if the user agrees.
    var leaving: ([VaultItem.ID], @escaping () -> Void) -> Void = { $1() }
    /// Called with items that are not where they were.
    var onGone: ([VaultItem.ID]) -> Void = { _ in }
    /// Called when choosing several begins or ends.
    var onSelecting: () -> Void = {}

    /// Gives the keyboard to a row.
    func focus() { gtk_widget_child_focus(list.widget, GTK_DIR_TAB_FORWARD) }

    /// Whether several are being chosen.
    var isSelecting: Bool {
        get { select.isOn }
        set { select.isOn = newValue }
    }

    /// - Parameter isNew: Whether it is another list, and not the same one with changes.
    func show(_ list: [VaultItem], isNew: Bool) {
        items = list
        chosen.formIntersection(list.map(\.id))
        self.list.show(list.count)
        if isNew { self.list.scrollUp() }
        if list.isEmpty { isSelecting = false }
        showChosen()
    }

    private func look(of item: VaultItem) -> ItemRow.Look {
        ItemRow.Look(isChosen: isSelecting ? chosen.contains(item.id) : nil, isOpen: item.id == open)
    }

    private func toggle(_ id: VaultItem.ID) {
        if !isSelecting { isSelecting = true }
        if chosen.remove(id) == nil { chosen.insert(id) }
        showChosen()
    }

    private func showChosen() {
        list.refresh()
        bar.isVisible = isSelecting
        count.text = trn("%d selected", "%d selected", chosen.count)
        bar.isSensitive = !chosen.isEmpty
    }

    /// Those that are chosen, as the list has them.
    private var inOrder: [VaultItem.ID] { items.map(\.id).filter(chosen.contains) }

    /// Throws items away, with a way back. What would be gone for good is asked about first.
    func trash(_ ids: [VaultItem.ID], _ done: @escaping () -> Void = {}) {
        leaving(ids) { [unowned self] in askAndTrash(ids, done) }
    }

    private func askAndTrash(_ ids: [VaultItem.ID], _ done: @escaping () -> Void) {
        let known = model.items(ids)
        let lost = known.filter { $0.isFile || $0.isUnconfirmed }
        guard !lost.isEmpty else { return moveToTrash(ids, done) }
        parts.sheets.askConfirmation(
            known.count == 1
                ? tr("Delete %s?", known[0].title) : trn("Delete %d Item?", "Delete %d Items?", known.count),
            lost.count == known.count
                ? tr("This cannot be undone.")
                : trn("%d file cannot be brought back.", "%d files cannot be brought back.", lost.count),
            confirm: tr("Delete")
        ) { [unowned self] in moveToTrash(ids, done) }
    }

    private func moveToTrash(_ ids: [VaultItem.ID], _ done: @escaping () -> Void) {
        let kept = model.items(ids).filter { !$0.isFile && !$0.isUnconfirmed }.map(\.id)
        Task { [weak self, model] in
            let batch = await model.delete(ids)
            let back = kept.filter(batch.done.contains)
            if !batch.done.isEmpty { done() }
            self?.onGone(batch.done)
            let said =
                batch.done.count == 1
                ? (back.isEmpty ? tr("Deleted") : tr("Moved to the trash"))
                : trn("%d item deleted", "%d items deleted", batch.done.count)
            self?.finish(batch, said, back.isEmpty ? .nothing : .restore(back))
        }
    }

    private func move() {
        let question = FieldsForm.Question(
            title: tr("Move to a Folder"), text: tr("Folders are names between slashes, such as work/servers."),
            confirm: tr("Move"), fields: [.folder], given: [.folder: model.collection ?? ""])
        let ids = inOrder
        leaving(ids) { [unowned self] in
            parts.sheets.askFields(question) { [unowned self] answer in move(ids, answer[.folder]) }
        }
    }

    private func move(_ ids: [VaultItem.ID], _ folder: String) {
        Task { [weak self, model] in
            let batch = await model.move(ids, toFolder: folder)
            self?.onGone(batch.moves.map(\.old))
            let said = trn("%d item moved", "%d items moved", batch.done.count)
            self?.finish(batch, said, batch.moves.isEmpty ? .nothing : .moveBack(batch.moves))
        }
    }

    private func tag() {
        parts.sheets.askFields(
            FieldsForm.Question(
                title: tr("Add Tags"), text: tr("The tags that they have stay."), confirm: tr("Add"), fields: [.tags])
        ) { [unowned self] answer in tag(inOrder, ItemDraft.tags(answer[.tags])) }
    }

    private func tag(_ ids: [VaultItem.ID], _ tags: [String]) {
        // Only what they did not have goes again.
        let added = Dictionary(grouping: model.items(ids)) { item in tags.filter { !item.tags.contains($0) } }
        Task { [weak self, model] in
            let batch = await model.tag(ids, adding: tags)
            let done = added.mapValues { $0.map(\.id).filter(batch.done.contains) }
            self?.finish(batch, trn("%d item tagged", "%d items tagged", batch.done.count), .untag(done))
        }
    }

    /// What takes something back.
    private enum Undo {
        case nothing
        case restore([VaultItem.ID])
        case moveBack([Batch.Move])
        case untag([[String]: [VaultItem.ID]])
    }

    private func undo(_ undo: Undo) async {
        switch undo {
        case .nothing: break
        case .restore(let ids): report(await model.undelete(ids))
        case .moveBack(let moves): report(await model.undo(moves))
        case .untag(let added): for (tags, ids) in added { report(await model.tag(ids, adding: [], removing: tags)) }
        }
    }

    private func report(_ batch: Batch) {
        guard let problem = batch.problem, !parts.models.lock.isLocked else { return }
        parts.toast(
            problem == .invalidName
                ? tr("This is no name for a folder: parts are not empty, and have no spaces at their ends.")
                : ProblemText.of(problem))
    }

    private func finish(_ batch: Batch, _ done: String, _ undo: Undo) {
        guard !parts.models.lock.isLocked else { return }
        guard !batch.done.isEmpty else { return report(batch) }
        isSelecting = false
        var said = done
        if let problem = batch.problem {
            said += ". " + trn("%d was left", "%d were left", batch.failed) + ": " + ProblemText.of(problem)
        }
        if case .nothing = undo { return parts.toast(said) }
        parts.toast(said) { [weak self] in await self?.undo(undo) }
    }
}
